/* SPDX-License-Identifier: MIT */
/*
 * Slots, ranks and merging. The byte form is in histogram-bytes.c.
 */
#include "stats/histogram.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "stats/histogram-slot.h"

int histogram_init(struct histogram *h, unsigned int bits, uint64_t *slots)
{
	if (bits < HISTOGRAM_BITS_MIN || bits > HISTOGRAM_BITS_MAX)
		return -EINVAL;
	memset(slots, 0, HISTOGRAM_SLOTS(bits) * sizeof(*slots));
	*h = (struct histogram){ .bits = bits, .min = UINT64_MAX, .slots = slots };
	return 0;
}

int histogram_record_many(struct histogram *h, uint64_t ns, uint64_t times)
{
	if (times > UINT64_MAX - h->count)
		return -EOVERFLOW;
	if (times == 0)
		return 0;
	h->slots[histogram_slot(h->bits, ns)] += times;
	h->count += times;
	h->sum += (unsigned __int128)ns * times;
	h->min = ns < h->min ? ns : h->min;
	h->max = ns > h->max ? ns : h->max;
	return 0;
}

int histogram_record(struct histogram *h, uint64_t ns)
{
	return histogram_record_many(h, ns, 1);
}

int histogram_merge(struct histogram *h, const struct histogram *other)
{
	if (h->bits != other->bits)
		return -EINVAL;
	if (other->count > UINT64_MAX - h->count)
		return -EOVERFLOW;
	for (size_t i = 0; i < HISTOGRAM_SLOTS(h->bits); i++)
		h->slots[i] += other->slots[i];
	h->count += other->count;
	h->sum += other->sum;
	h->min = other->min < h->min ? other->min : h->min;
	h->max = other->max > h->max ? other->max : h->max;
	return 0;
}

/* The rank of a percentile, from 1 to @count. */
static uint64_t rank_of(double percent, uint64_t count)
{
	double rank = percent * (double)count / 100;

	/* 99.9 % of 1000 is 999, although 99.9 has no exact double. */
	rank = ceil(rank - rank * 4 * DBL_EPSILON);
	if (rank < 1)
		return 1;
	return rank < (double)count ? (uint64_t)rank : count;
}

int histogram_percentile(const struct histogram *h, double percent, uint64_t *ret_ns)
{
	uint64_t rank, seen = 0;
	size_t i = 0;

	if (!(percent >= 0 && percent <= 100))
		return -EINVAL;
	if (h->count == 0)
		return -ENODATA;
	rank = rank_of(percent, h->count);
	while (seen + h->slots[i] < rank)
		seen += h->slots[i++];
	*ret_ns = histogram_slot_high(h->bits, i);
	/* Of more values than a double counts, the last rank may be missed. */
	if (*ret_ns > h->max || percent == 100)
		*ret_ns = h->max;
	if (percent == 0)
		*ret_ns = h->min;
	return 0;
}

int histogram_mean(const struct histogram *h, double *ret_ns)
{
	if (h->count == 0)
		return -ENODATA;
	*ret_ns = (double)h->sum / (double)h->count;
	return 0;
}

bool histogram_next(const struct histogram *h, size_t *at, struct histogram_bar *ret)
{
	size_t i = *at;
	uint64_t low, high;

	while (i < HISTOGRAM_SLOTS(h->bits) && h->slots[i] == 0)
		i++;
	*at = i;
	if (i >= HISTOGRAM_SLOTS(h->bits))
		return false;
	low = histogram_slot_low(h->bits, i);
	high = histogram_slot_high(h->bits, i);
	*ret = (struct histogram_bar){ .low = low > h->min ? low : h->min,
				       .high = high < h->max ? high : h->max,
				       .count = h->slots[i] };
	*at = i + 1;
	return true;
}
