/* SPDX-License-Identifier: MIT */
/*
 * The histogram against a sorted list of what was recorded, and its bytes against all that they
 * could be.
 */
#include "unit.h"

#include "samples.h"
#include "stats/histogram-slot.h"
#include "stats/histogram.h"

#define VALUES 3000

static uint64_t slots[2][HISTOGRAM_SLOTS(HISTOGRAM_BITS_MAX)];
static uint64_t list[VALUES];
static uint8_t bytes[HISTOGRAM_ENCODED_MAX(HISTOGRAM_BITS_MAX)];

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Zeros, small and large ones, all powers, latencies. */
static uint64_t draw(struct random *r)
{
	switch (random_below(r, 5)) {
	case 0:
		return random_below(r, 4);
	case 1:
		return random_next(r) >> random_below(r, 64);
	case 2:
		return UINT64_MAX - random_below(r, 2);
	default:
		return (uint64_t)(5000 * exp(sample_normal(r)));
	}
}

/* The slots of all precisions cover all values, one after another, each as narrow as was said. */
static void test_slots(void **state)
{
	(void)state;
	for (unsigned int bits = HISTOGRAM_BITS_MIN; bits <= HISTOGRAM_BITS_MAX; bits++) {
		uint64_t next = 0;

		for (size_t i = 0; i < HISTOGRAM_SLOTS(bits); i++) {
			uint64_t low = histogram_slot_low(bits, i);
			uint64_t high = histogram_slot_high(bits, i);

			assert_true(low == next && high >= low);
			assert_true(histogram_slot(bits, low) == i &&
				    histogram_slot(bits, high) == i);
			assert_true(high - low <= low >> bits);
			next = high + 1;
		}
		assert_true(next == 0);
	}
}

static uint64_t rank_in_list(size_t n, double percent)
{
	/* In thousandths, so that no rounding is in the model. */
	uint64_t thousandths = (uint64_t)(percent * 1000 + 0.5);
	uint64_t rank = (n * thousandths + 99999) / 100000;

	return list[rank > 0 ? rank - 1 : 0];
}

static void check_against_list(const struct histogram *h, size_t n)
{
	uint64_t value, last = 0;
	unsigned __int128 sum = 0;
	double mean;

	qsort(list, n, sizeof(*list), compare);
	for (size_t i = 0; i < n; i++)
		sum += list[i];
	assert_true(h->count == n && h->min == list[0] && h->max == list[n - 1] && h->sum == sum);
	for (double percent = 0; percent <= 100; percent += 0.125) {
		uint64_t exact = rank_in_list(n, percent);

		assert_int_equal(histogram_percentile(h, percent, &value), 0);
		assert_true(value >= last && value >= exact && value <= h->max);
		assert_true(value - exact <= exact >> h->bits);
		last = value;
	}
	assert_int_equal(histogram_percentile(h, 0, &value), 0);
	assert_true(value == h->min);
	assert_int_equal(histogram_percentile(h, 100, &value), 0);
	assert_true(value == h->max);
	assert_int_equal(histogram_mean(h, &mean), 0);
	assert_true(fabs(mean - (double)sum / (double)n) <= 1e-15 * mean);
}

static void check_bars(const struct histogram *h)
{
	struct histogram_bar bar;
	uint64_t count = 0, last = 0;
	size_t at = 0;

	while (histogram_next(h, &at, &bar)) {
		assert_true(bar.low <= bar.high && bar.low >= h->min && bar.high <= h->max);
		assert_true(count == 0 || bar.low > last);
		count += bar.count;
		last = bar.high;
	}
	assert_true(count == h->count);
	assert_false(histogram_next(h, &at, &bar));
}

static void test_model(void **state)
{
	struct random r = { 1 };
	struct histogram h;

	(void)state;
	for (int round = 0; round < 300; round++) {
		unsigned int bits = 1 + (unsigned int)random_below(&r, HISTOGRAM_BITS_MAX);
		size_t n = 1 + random_below(&r, round < 100 ? 5 : VALUES);

		assert_int_equal(histogram_init(&h, bits, slots[0]), 0);
		for (size_t i = 0; i < n; i++) {
			list[i] = draw(&r);
			assert_int_equal(histogram_record(&h, list[i]), 0);
		}
		check_against_list(&h, n);
		check_bars(&h);
	}
}

/* What two have seen, merged, is to the last bit what one would have that saw all. */
static void test_merge(void **state)
{
	static uint64_t third[HISTOGRAM_SLOTS(HISTOGRAM_BITS_MAX)];
	struct random r = { 2 };
	struct histogram one, other, all;

	(void)state;
	for (int round = 0; round < 300; round++) {
		unsigned int bits = 1 + (unsigned int)random_below(&r, HISTOGRAM_BITS_MAX);
		size_t n = random_below(&r, round < 100 ? 4 : VALUES);

		(void)histogram_init(&one, bits, slots[0]);
		(void)histogram_init(&other, bits, slots[1]);
		(void)histogram_init(&all, bits, third);
		for (size_t i = 0; i < n; i++) {
			uint64_t value = draw(&r);

			(void)histogram_record(random_below(&r, 3) ? &one : &other, value);
			(void)histogram_record(&all, value);
		}
		assert_int_equal(histogram_merge(&one, &other), 0);
		assert_true(one.count == all.count && one.sum == all.sum && one.min == all.min &&
			    one.max == all.max);
		assert_memory_equal(one.slots, all.slots, HISTOGRAM_SLOTS(bits) * sizeof(uint64_t));
	}
}

static void test_limits(void **state)
{
	struct histogram h, other;
	uint64_t value = 7;
	double mean = 7;

	(void)state;
	assert_int_equal(histogram_init(&h, 0, slots[0]), -EINVAL);
	assert_int_equal(histogram_init(&h, HISTOGRAM_BITS_MAX + 1, slots[0]), -EINVAL);
	assert_int_equal(histogram_init(&h, 7, slots[0]), 0);
	assert_int_equal(histogram_percentile(&h, 50, &value), -ENODATA);
	assert_int_equal(histogram_mean(&h, &mean), -ENODATA);
	assert_int_equal(histogram_record_many(&h, 9, 0), 0);
	assert_true(h.count == 0 && h.min == UINT64_MAX && h.max == 0);
	assert_int_equal(histogram_record_many(&h, UINT64_MAX, UINT64_MAX), 0);
	assert_int_equal(histogram_percentile(&h, -1, &value), -EINVAL);
	assert_int_equal(histogram_percentile(&h, 100.0001, &value), -EINVAL);
	assert_int_equal(histogram_percentile(&h, NAN, &value), -EINVAL);
	assert_true(value == 7 && mean == 7);
	assert_int_equal(histogram_record(&h, 0), -EOVERFLOW);
	assert_true(h.sum == (unsigned __int128)UINT64_MAX * UINT64_MAX && h.min == UINT64_MAX);
	assert_int_equal(histogram_percentile(&h, 50, &value), 0);
	assert_true(value == UINT64_MAX);
	assert_int_equal(histogram_init(&other, 7, slots[1]), 0);
	assert_int_equal(histogram_merge(&h, &other), 0);
	assert_int_equal(histogram_record(&other, 5), 0);
	assert_int_equal(histogram_merge(&h, &other), -EOVERFLOW);
	assert_true(h.min == UINT64_MAX && h.count == UINT64_MAX && h.slots[5] == 0);
	assert_int_equal(histogram_init(&other, 6, slots[1]), 0);
	assert_int_equal(histogram_merge(&h, &other), -EINVAL);
}

/* 999 values of 1 and one of 100: 99.9 % are at most 1, whatever 99.9 is as a double. */
static void test_ranks(void **state)
{
	struct histogram h;
	uint64_t value;

	(void)state;
	(void)histogram_init(&h, 7, slots[0]);
	(void)histogram_record_many(&h, 1, 999);
	(void)histogram_record(&h, 100);
	assert_int_equal(histogram_percentile(&h, 99.9, &value), 0);
	assert_true(value == 1);
	assert_int_equal(histogram_percentile(&h, 99.91, &value), 0);
	assert_true(value == 100);
	/* Beyond 2^53 too the last one is the maximum. */
	(void)histogram_record_many(&h, 1, UINT64_C(1) << 60);
	assert_int_equal(histogram_percentile(&h, 100, &value), 0);
	assert_true(value == 100);
}

static void assert_decodes(const struct histogram *h, size_t size)
{
	struct histogram back;

	assert_int_equal(histogram_decode(&back, slots[1], ELEMENTSOF(slots[1]), bytes, size), 0);
	assert_true(back.bits == h->bits && back.count == h->count && back.sum == h->sum &&
		    back.min == h->min && back.max == h->max);
	assert_memory_equal(back.slots, h->slots, HISTOGRAM_SLOTS(h->bits) * sizeof(uint64_t));
}

static void test_bytes(void **state)
{
	struct random r = { 3 };
	struct histogram h, back;
	size_t size, again;

	(void)state;
	for (int round = 0; round < 300; round++) {
		unsigned int bits = 1 + (unsigned int)random_below(&r, HISTOGRAM_BITS_MAX), fewer;
		size_t n = random_below(&r, round < 100 ? 4 : VALUES);

		(void)histogram_init(&h, bits, slots[0]);
		for (size_t i = 0; i < n; i++)
			list[i] = draw(&r), (void)histogram_record(&h, list[i]);
		assert_int_equal(histogram_encode(&h, bits, bytes, sizeof(bytes), &size), 0);
		assert_true(size <= HISTOGRAM_ENCODED_MAX(bits));
		assert_decodes(&h, size);
		assert_int_equal(histogram_encode(&h, bits, bytes, size - 1, &again), -ENOSPC);
		assert_int_equal(histogram_encode(&h, bits, NULL, 0, &again), -ENOSPC);
		assert_int_equal(histogram_encode(&h, bits + 1, bytes, sizeof(bytes), &again),
				 -EINVAL);
		/* With fewer bits it is what would have been recorded with fewer bits. */
		fewer = 1 + (unsigned int)random_below(&r, bits);
		assert_int_equal(histogram_encode(&h, fewer, bytes, sizeof(bytes), &size), 0);
		(void)histogram_init(&h, fewer, slots[0]);
		for (size_t i = 0; i < n; i++)
			(void)histogram_record(&h, list[i]);
		assert_decodes(&h, size);
		assert_int_equal(
			histogram_decode(&back, slots[1], HISTOGRAM_SLOTS(fewer) - 1, bytes, size),
			-ENOSPC);
	}
}

/* As many bytes as there can be: as large counts as fit, in as many slots. */
static void test_bytes_bounded(void **state)
{
	struct histogram h;
	size_t size;

	(void)state;
	for (unsigned int bits = HISTOGRAM_BITS_MIN; bits <= HISTOGRAM_BITS_MAX; bits++) {
		size_t n = HISTOGRAM_SLOTS(bits);
		uint64_t large = UINT64_C(1) << 56, small = UINT64_C(1) << 49;

		(void)histogram_init(&h, bits, slots[0]);
		for (size_t i = n; i-- > 0;) {
			uint64_t left = UINT64_MAX - h.count;
			uint64_t times = left / large > 100 ? large
					 : left > small     ? small
					 : left > 0         ? 1
							    : 0;

			(void)histogram_record_many(&h, histogram_slot_high(bits, i), times);
		}
		assert_int_equal(histogram_encode(&h, bits, bytes, sizeof(bytes), &size), 0);
		assert_true(size <= HISTOGRAM_ENCODED_MAX(bits));
		assert_decodes(&h, size);
	}
	/* An entry of the store's side file. */
	assert_true(HISTOGRAM_ENCODED_MAX(HISTOGRAM_BITS) <= 64 << 10);
}

static int decode(const void *from, size_t size)
{
	struct histogram h = { .bits = 77 };
	int r = histogram_decode(&h, slots[1], ELEMENTSOF(slots[1]), from, size);

	assert_true(r == 0 || r == -EBADMSG);
	assert_true(r == 0 || h.bits == 77);
	if (r == 0) {
		static uint8_t again[HISTOGRAM_ENCODED_MAX(HISTOGRAM_BITS_MAX)];
		size_t n;

		/* What is accepted is what would be written. */
		check_bars(&h);
		assert_int_equal(histogram_encode(&h, h.bits, again, sizeof(again), &n), 0);
		assert_int_equal(n, size);
		assert_memory_equal(again, from, size);
	}
	return r;
}

/* Version, bits, count, min, max, sum, counts. */
static void test_bad_bytes(void **state)
{
	static const struct {
		uint8_t bytes[16];
		size_t size;
		bool good;
	} cases[] = {
		{ { 1, 7, 3, 5, 9, 20, 0, 5, 1, 1, 0, 2, 1 }, 13, true }, /* 5 6 9 */
		{ { 1, 7, 3, 5, 9, 20, 0, 5, 1, 1, 0, 2, 1 }, 12, false },
		{ { 1, 7, 3, 5, 9, 20, 0, 5, 1, 1, 0, 2, 1, 0 }, 14, false },
		{ { 1, 7, 3, 5, 8, 19, 0, 5, 1, 1, 0, 1, 1 }, 13, true }, /* 5 6 8 */
		{ { 2, 7, 3, 5, 8, 19, 0, 5, 1, 1, 0, 1, 1 }, 13, false },
		{ { 1, 0, 3, 5, 8, 19, 0, 5, 1, 1, 0, 1, 1 }, 13, false },
		{ { 1, 11, 3, 5, 8, 19, 0, 5, 1, 1, 0, 1, 1 }, 13, false },
		{ { 1, 7, 4, 5, 8, 19, 0, 5, 1, 1, 0, 1, 1 }, 13, false }, /* too few */
		{ { 1, 7, 2, 5, 8, 19, 0, 5, 1, 1, 0, 1, 1 }, 13, false }, /* too many */
		{ { 1, 7, 3, 4, 8, 19, 0, 5, 1, 1, 0, 1, 1 }, 13, false }, /* minimum elsewhere */
		{ { 1, 7, 3, 6, 8, 19, 0, 5, 1, 1, 0, 1, 1 }, 13, false },
		{ { 1, 7, 3, 5, 9, 19, 0, 5, 1, 1, 0, 1, 1 }, 13, false }, /* maximum elsewhere */
		{ { 1, 7, 3, 5, 7, 19, 0, 5, 1, 1, 0, 1, 1 }, 13, false },
		{ { 1, 7, 3, 5, 8, 18, 0, 5, 1, 1, 0, 1, 1 }, 13, false }, /* not their sum */
		{ { 1, 7, 3, 5, 8, 20, 0, 5, 1, 1, 0, 1, 1 }, 13, false },
		{ { 1, 7, 0x83, 0, 5, 8, 19, 0, 5, 1, 1, 0, 1, 1 },
		  14,
		  false }, /* 3 in two bytes */
		{ { 1, 7, 3, 5, 8, 19, 0, 2, 0, 3, 1, 1, 0, 1, 1 }, 15, false }, /* gaps in a row */
		{ { 1, 7, 3, 5, 8, 19, 0, 0, 1, 1, 0, 1, 1 }, 13, false }, /* a gap of nothing */
		{ { 1, 7, 1, 0, 0, 0, 1 }, 7, true },                      /* a single 0 */
	};

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(cases); i++)
		if ((decode(cases[i].bytes, cases[i].size) == 0) != cases[i].good)
			fail_msg("case %zu", i);
	for (size_t size = 0; size < 13; size++)
		assert_int_equal(decode(cases[3].bytes, size), -EBADMSG);
}

/* Bytes changed at random: refused, or a histogram all the same. */
static void test_any_bytes(void **state)
{
	struct random r = { 4 };
	size_t size, accepted = 0;
	struct histogram h;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		size_t n = random_below(&r, 20);

		(void)histogram_init(&h, 1 + (unsigned int)random_below(&r, 3), slots[0]);
		for (size_t i = 0; i < n; i++)
			(void)histogram_record(&h, draw(&r) >> random_below(&r, 64));
		(void)histogram_encode(&h, h.bits, bytes, sizeof(bytes), &size);
		for (uint64_t i = random_below(&r, 3); i > 0; i--)
			bytes[random_below(&r, size)] = (uint8_t)random_next(&r);
		accepted += decode(bytes, size - random_below(&r, 2)) == 0;
	}
	assert_in_range(accepted, 3000, 10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slots),         cmocka_unit_test(test_model),
		cmocka_unit_test(test_merge),         cmocka_unit_test(test_limits),
		cmocka_unit_test(test_ranks),         cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_bytes_bounded), cmocka_unit_test(test_bad_bytes),
		cmocka_unit_test(test_any_bytes),
	};

	return cmocka_run_group_tests_name("histogram", tests, NULL, NULL);
}
