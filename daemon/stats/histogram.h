/* SPDX-License-Identifier: MIT */
/*
 * Counts of nanoseconds with a stated relative precision over all of uint64_t, in fixed memory.
 *
 * Log-linear, in the manner of HdrHistogram (Gil Tene, 2012): each power of two is cut into 2^bits
 * slots of equal width; values below 2^bits have a slot each, 0 too. So a value is known to within
 * 2^-bits of itself: bits 7 is 2 digits (0.8 %) in 58 KiB, bits 10 is 3 digits (0.1 %) in 440 KiB.
 * Count, sum, minimum and maximum are exact. Not for two threads at a time: each fills its own, and
 * they are merged.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HISTOGRAM_BITS_MIN 1
#define HISTOGRAM_BITS_MAX 10
#define HISTOGRAM_BITS     7 /* 2 digits: what the store keeps */

/* How many slots. */
#define HISTOGRAM_SLOTS(bits) ((size_t)(65 - (bits)) << (bits))

/*
 * No encoding is longer. A count below 2^56 takes at most 8 bytes, fewer than 256 counts are larger
 * and take 10; a gap takes fewer bytes than the counts that are not there; 64 are for the head.
 * With 7 bits that is less than 64 KiB, an entry of the store's side file.
 */
#define HISTOGRAM_ENCODED_MAX(bits) (8 * HISTOGRAM_SLOTS(bits) + 2 * 256 + 64)

struct histogram {
	unsigned int bits;
	uint64_t count;
	uint64_t min, max;     /* ns; UINT64_MAX and 0 while there is nothing in it */
	unsigned __int128 sum; /* ns; count x max fits it */
	uint64_t *slots;       /* HISTOGRAM_SLOTS(bits), the caller's */
};

/* Empty, in @slots, which has HISTOGRAM_SLOTS(@bits) and outlives it. -EINVAL for other @bits. */
int histogram_init(struct histogram *h, unsigned int bits, uint64_t *slots);

/* O(1). After 2^64 - 1 values (584 years at one a nanosecond) nothing more is taken: -EOVERFLOW. */
int histogram_record(struct histogram *h, uint64_t ns);
int histogram_record_many(struct histogram *h, uint64_t ns, uint64_t times);

/*
 * Adds what is in @other: the same as if all had been recorded in one. -EINVAL where the bits
 * differ, -EOVERFLOW as above; then nothing is added.
 */
int histogram_merge(struct histogram *h, const struct histogram *other);

/*
 * The smallest value that at least @percent of all values are not above, by nearest rank, rounded
 * up to the end of its slot: too high by less than 2^-bits of itself, never too low, and never
 * outside min..max. 0 gives the minimum and 100 the maximum, exactly; it never falls as @percent
 * rises. -ENODATA where there is nothing in it, -EINVAL for @percent outside 0..100.
 */
int histogram_percentile(const struct histogram *h, double percent, uint64_t *ret_ns);

/* The mean in ns, from the exact sum; -ENODATA where there is nothing in it. */
int histogram_mean(const struct histogram *h, double *ret_ns);

/* A slot that is not empty: values @low..@high, both included and within min..max. */
struct histogram_bar {
	uint64_t low, high; /* ns */
	uint64_t count;
};

/* The next one from slot *@at on (0 to begin with), which is moved behind it; false at the end. */
bool histogram_next(const struct histogram *h, size_t *at, struct histogram_bar *ret);

/*
 * Writes it to @bytes, which has @size, at @bits of precision, which are its own or fewer: -EINVAL
 * for more, -ENOSPC where @size is too small (never from HISTOGRAM_ENCODED_MAX(@bits) on).
 *
 * u8 version 1, u8 bits, then varints (7 bits a byte, least first, the high bit on all but the
 * last): count, min, max, sum; then slot by slot the counts, a 0 and a number standing for so many
 * empty slots in a row. It ends with the last count. There is one encoding for each content.
 */
int histogram_encode(const struct histogram *h, unsigned int bits, void *bytes, size_t size,
		     size_t *ret_size);

/*
 * What bytes say, into @slots, of which there are @n_slots. Bytes may be anything: what
 * histogram_encode() does not write is -EBADMSG. -ENOSPC where the slots are too few. On failure
 * *@ret is as it was, and the slots are not.
 */
int histogram_decode(struct histogram *ret, uint64_t *slots, size_t n_slots, const void *bytes,
		     size_t size);
