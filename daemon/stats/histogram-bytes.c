/* SPDX-License-Identifier: MIT */
/*
 * A histogram as bytes, and back from bytes that may be anything.
 */
#include <errno.h>
#include <string.h>

#include "stats/histogram-slot.h"
#include "stats/histogram.h"

#define VERSION 1

/* Where to write next; @at may run beyond @size, where nothing is written. */
struct writer {
	uint8_t *bytes;
	size_t at, size;
};

static void put_byte(struct writer *w, uint8_t byte)
{
	if (w->at < w->size)
		w->bytes[w->at] = byte;
	w->at++;
}

static void put(struct writer *w, unsigned __int128 number)
{
	for (; number > 0x7f; number >>= 7)
		put_byte(w, (uint8_t)(number | 0x80));
	put_byte(w, (uint8_t)number);
}

static void put_slots(struct writer *w, const struct histogram *h, unsigned int bits)
{
	size_t at = 0, next = 0;
	struct histogram_bar bar;
	bool more = histogram_next(h, &at, &bar);

	while (more) {
		/* Where precision is given away, several of its slots are one of theirs. */
		size_t slot = histogram_slot(bits, bar.low);
		uint64_t count = 0;

		for (; more && histogram_slot(bits, bar.low) == slot;
		     more = histogram_next(h, &at, &bar))
			count += bar.count;
		if (slot > next) {
			put(w, 0);
			put(w, slot - next);
		}
		put(w, count);
		next = slot + 1;
	}
}

int histogram_encode(const struct histogram *h, unsigned int bits, void *bytes, size_t size,
		     size_t *ret_size)
{
	struct writer w = { .bytes = bytes, .size = size };

	if (bits < HISTOGRAM_BITS_MIN || bits > h->bits)
		return -EINVAL;
	put_byte(&w, VERSION);
	put_byte(&w, (uint8_t)bits);
	put(&w, h->count);
	put(&w, h->min);
	put(&w, h->max);
	put(&w, h->sum);
	put_slots(&w, h, bits);
	if (w.at > size)
		return -ENOSPC;
	*ret_size = w.at;
	return 0;
}

struct reader {
	const uint8_t *at, *end;
};

/* A number of at most @width bits, written as short as it can be. */
static bool get(struct reader *r, unsigned int width, unsigned __int128 *ret)
{
	unsigned __int128 number = 0;

	for (unsigned int shift = 0; r->at < r->end; shift += 7) {
		uint8_t byte = *r->at++;
		unsigned int part = byte & 0x7f;

		if (shift >= width || (width - shift < 7 && part >> (width - shift) != 0))
			return false;
		number |= (unsigned __int128)part << shift;
		if (byte & 0x80)
			continue;
		if (part == 0 && shift > 0)
			return false;
		*ret = number;
		return true;
	}
	return false;
}

static bool get_u64(struct reader *r, uint64_t *ret)
{
	unsigned __int128 number;

	if (!get(r, 64, &number))
		return false;
	*ret = (uint64_t)number;
	return true;
}

/* The counts, of which there are exactly @h->count together, and nothing behind the last. */
static bool get_slots(struct reader *r, struct histogram *h)
{
	uint64_t left = h->count;
	bool after_gap = false;
	size_t slot = 0;

	while (left > 0) {
		uint64_t number;

		if (!get_u64(r, &number))
			return false;
		if (number > 0) {
			if (slot >= HISTOGRAM_SLOTS(h->bits) || number > left)
				return false;
			h->slots[slot++] = number;
			left -= number;
			after_gap = false;
			continue;
		}
		if (after_gap || !get_u64(r, &number) || number == 0 ||
		    number > HISTOGRAM_SLOTS(h->bits) - slot)
			return false;
		slot += (size_t)number;
		after_gap = true;
	}
	return r->at == r->end;
}

/* Whether values that lie in the slots can have this minimum, maximum and sum. */
static bool fits(const struct histogram *h)
{
	unsigned __int128 least = 0, most = 0;
	struct histogram_bar bar = { 0 }, first = { 0 };
	size_t at = 0;

	if (h->count == 0)
		return h->min == UINT64_MAX && h->max == 0 && h->sum == 0;
	while (histogram_next(h, &at, &bar)) {
		if (bar.low > bar.high)
			return false;
		if (first.count == 0)
			first = bar;
		least += (unsigned __int128)bar.low * bar.count;
		most += (unsigned __int128)bar.high * bar.count;
	}
	/* The others are cut to minimum and maximum: these two must lie in the outermost slots. */
	if (h->min > h->max ||
	    histogram_slot(h->bits, h->min) != histogram_slot(h->bits, first.low) ||
	    histogram_slot(h->bits, h->max) != histogram_slot(h->bits, bar.high))
		return false;
	/* One value is the minimum and one is the maximum. */
	least += h->max - bar.low;
	most -= first.high - h->min;
	return least <= h->sum && h->sum <= most;
}

int histogram_decode(struct histogram *ret, uint64_t *slots, size_t n_slots, const void *bytes,
		     size_t size)
{
	struct reader r = { bytes, (const uint8_t *)bytes + size };
	struct histogram h = { .slots = slots };

	if (size < 2 || r.at[0] != VERSION || r.at[1] < HISTOGRAM_BITS_MIN ||
	    r.at[1] > HISTOGRAM_BITS_MAX)
		return -EBADMSG;
	h.bits = r.at[1];
	r.at += 2;
	if (HISTOGRAM_SLOTS(h.bits) > n_slots)
		return -ENOSPC;
	memset(slots, 0, HISTOGRAM_SLOTS(h.bits) * sizeof(*slots));
	if (!get_u64(&r, &h.count) || !get_u64(&r, &h.min) || !get_u64(&r, &h.max) ||
	    !get(&r, 128, &h.sum) || !get_slots(&r, &h) || !fits(&h))
		return -EBADMSG;
	*ret = h;
	return 0;
}
