/* SPDX-License-Identifier: MIT */
/*
 * A histogram's bytes, as the store's side file may hold them.
 */
#include "fuzz.h"

#include "stats/histogram.h"

static uint64_t slots[2][HISTOGRAM_SLOTS(HISTOGRAM_BITS_MAX)];
static uint8_t again[HISTOGRAM_ENCODED_MAX(HISTOGRAM_BITS_MAX)];

/* What was accepted holds together, whatever is asked of it. */
static void look(const struct histogram *h)
{
	uint64_t value, last = 0, count = 0;
	struct histogram_bar bar;
	size_t at = 0;
	double mean;

	while (histogram_next(h, &at, &bar)) {
		fuzz_check(bar.low <= bar.high && bar.low >= h->min && bar.high <= h->max);
		count += bar.count;
	}
	fuzz_check(count == h->count);
	if (count == 0)
		return;
	for (double percent = 0; percent <= 100; percent += 6.25) {
		fuzz_check(histogram_percentile(h, percent, &value) == 0);
		fuzz_check(value >= last && value >= h->min && value <= h->max);
		last = value;
	}
	fuzz_check(histogram_mean(h, &mean) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct histogram h, coarse;
	size_t n;

	if (histogram_decode(&h, slots[0], HISTOGRAM_SLOTS(HISTOGRAM_BITS_MAX), data, size) < 0)
		return 0;
	look(&h);
	fuzz_check(histogram_encode(&h, h.bits, again, sizeof(again), &n) == 0);
	fuzz_check(n == size && memcmp(again, data, n) == 0);
	fuzz_check(histogram_encode(&h, 1, again, sizeof(again), &n) == 0);
	fuzz_check(histogram_decode(&coarse, slots[1], HISTOGRAM_SLOTS(1), again, n) == 0);
	fuzz_check(coarse.count == h.count && coarse.sum == h.sum);
	look(&coarse);
	return 0;
}
