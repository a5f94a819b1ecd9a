/* SPDX-License-Identifier: MIT */
/*
 * The interval against shifts tried one by one, and what more blocks may do to it.
 */
#include "unit.h"

#include <math.h>
#include <stdbool.h>

#include "stats/betting.h"
#include "stats/interval.h"
#include "util/random.h"

#define BLOCKS 80

static double sorted[BLOCKS];
static struct rank_node nodes[2 * BLOCKS];

static void assert_near(double a, double b, double tolerance)
{
	if (!(a == b || fabs(a - b) <= tolerance))
		fail_msg("%.17g is not %.17g", a, b);
}

/* The sum of 12 uniform numbers, nearly normal with sd 1; now and then a thousand times that. */
static double noise(struct random *r, bool wild)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += (double)(random_next(r) >> 11) * 0x1p-53;
	return wild && random_below(r, 8) == 0 ? 1000 * sum : sum;
}

/* Whether the blocks, in their order, contradict shift @m. */
static bool contradicted(const double *d, size_t n, double alpha, enum interval_kind kind, double m)
{
	static struct rank_node own[BLOCKS];
	struct betting b;
	double most = -INFINITY, now = 0;

	betting_init(&b, own, BLOCKS);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(betting_add(&b, d[i] - m), 0);
		now = betting_log_e(&b, BETTING_PRIMARY, BETTING_BOTH);
		most = fmax(most, now);
	}
	return (kind == INTERVAL_NOW ? now : most) >= -log(alpha);
}

static void check(const double *d, size_t n, double alpha, enum interval_kind kind,
		  const struct interval *in)
{
	double from = fmax(in->low, -5000), to = fmin(in->high, 5000), width = to - from;
	bool near_low = isinf(in->low), near_high = isinf(in->high);

	assert_true(in->low <= in->point && in->point <= in->high);
	assert_false(in->empty);
	/* Nothing of the set is outside: close by, far away, at and around every block. */
	for (int i = 1; i < 60; i++) {
		double away = width * pow(1.5, i - 30);

		assert_true(isinf(in->low) || contradicted(d, n, alpha, kind, in->low - away));
		assert_true(isinf(in->high) || contradicted(d, n, alpha, kind, in->high + away));
		/* And it begins right there. */
		near_low = near_low || !contradicted(d, n, alpha, kind, in->low + i * 2e-5);
		near_high = near_high || !contradicted(d, n, alpha, kind, in->high - i * 2e-5);
	}
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j <= i; j++) {
			double m = d[i] / 2 + d[j] / 2;

			if (m < in->low || m > in->high)
				assert_true(contradicted(d, n, alpha, kind, m));
		}
	assert_true(near_low);
	assert_true(near_high);
}

static void test_holds_the_exact_set(void **state)
{
	struct random random = { 23 };

	(void)state;
	for (int round = 0; round < 24; round++) {
		enum interval_kind kind = round % 2 ? INTERVAL_NOW : INTERVAL_SEQUENCE;
		struct interval in = INTERVAL_ALL;
		size_t n = 3 + (size_t)random_below(&random, 38);
		double d[BLOCKS];

		for (size_t i = 0; i < n; i++) {
			d[i] = noise(&random, round % 3 == 1) + (round % 5) - 1;
			if (round % 4 >= 2)
				d[i] = round / 4 % 2 ? rint(d[i] * 4) / 4 : d[i];
		}
		interval_find(d, n, 0.05, kind, &in, sorted, nodes);
		check(d, n, 0.05, kind, &in);
	}
}

/* A pair of ends is infinite until there are enough blocks: seven signs alone would do for KT. */
static void test_no_bounds_at_first(void **state)
{
	struct random random = { 29 };
	double d[BLOCKS];
	size_t first = 0;

	(void)state;
	for (size_t n = 1; n <= 20; n++) {
		struct interval in = INTERVAL_ALL;

		d[n - 1] = noise(&random, false);
		interval_find(d, n, 0.05, INTERVAL_SEQUENCE, &in, sorted, nodes);
		assert_int_equal(isinf(in.low) != 0, isinf(in.high) != 0);
		assert_true(isfinite(in.point));
		if (!first && isfinite(in.low))
			first = n;
	}
	assert_in_range(first, 7, 9);
}

static void test_more_blocks_never_widen_it(void **state)
{
	struct random random = { 31 };

	(void)state;
	for (int round = 0; round < 6; round++) {
		struct interval before = INTERVAL_ALL;
		double d[BLOCKS];

		for (size_t n = 1; n <= 60; n++) {
			struct interval in = before, anew = INTERVAL_ALL;

			d[n - 1] = 5 + noise(&random, round % 2);
			if (round >= 4)
				d[n - 1] = rint(d[n - 1]);
			interval_find(d, n, 0.05, INTERVAL_SEQUENCE, &in, sorted, nodes);
			assert_true(in.low >= before.low && in.high <= before.high);
			assert_true(in.low <= in.point && in.point <= in.high);
			assert_false(in.empty);
			before = in;
			if (n % 20)
				continue;
			interval_find(d, n, 0.05, INTERVAL_SEQUENCE, &anew, sorted, nodes);
			assert_near(in.low, anew.low, 1e-3);
			assert_near(in.high, anew.high, 1e-3);
		}
		assert_true(before.low > 3 && before.high < 7);
	}
}

static void test_moves_and_mirrors_with_the_blocks(void **state)
{
	struct random random = { 37 };
	double d[BLOCKS], moved[BLOCKS], mirrored[BLOCKS];

	(void)state;
	for (int kind = INTERVAL_SEQUENCE; kind <= INTERVAL_NOW; kind++) {
		struct interval in = INTERVAL_ALL, in_moved = in, in_mirrored = in;

		for (size_t i = 0; i < 50; i++) {
			d[i] = noise(&random, false);
			moved[i] = d[i] + 1024;
			mirrored[i] = -d[i];
		}
		interval_find(d, 50, 0.01, kind, &in, sorted, nodes);
		interval_find(moved, 50, 0.01, kind, &in_moved, sorted, nodes);
		interval_find(mirrored, 50, 0.01, kind, &in_mirrored, sorted, nodes);
		assert_near(in_moved.low, in.low + 1024, 1e-4);
		assert_near(in_moved.high, in.high + 1024, 1e-4);
		assert_near(in_moved.point, in.point + 1024, 1e-9);
		assert_near(in_mirrored.low, -in.high, 1e-4);
		assert_near(in_mirrored.high, -in.low, 1e-4);
		assert_near(in_mirrored.point, -in.point, 1e-12);
	}
}

/* Rejected and outside the interval are the same, to the last digit: no piece has 0 inside. */
static void test_ends_at_0_where_0_is_rejected(void **state)
{
	struct random random = { 41 };

	(void)state;
	for (int round = 0; round < 40; round++) {
		struct interval in = INTERVAL_ALL;
		double d[BLOCKS];
		size_t n = 0;

		while (n < BLOCKS && !contradicted(d, n, 0.05, INTERVAL_SEQUENCE, 0)) {
			d[n] = noise(&random, false) + (round % 2 ? 1.2 : -1.2);
			n++;
		}
		interval_find(d, n, 0.05, INTERVAL_SEQUENCE, &in, sorted, nodes);
		if (n < BLOCKS)
			assert_true(round % 2 ? in.low >= 0 : in.high <= 0);
	}
}

static void test_all_blocks_the_same(void **state)
{
	static const double values[] = { 3, 0, -1e-6, 1e9 };
	double d[BLOCKS];

	(void)state;
	for (size_t v = 0; v < ELEMENTSOF(values); v++) {
		struct interval in = INTERVAL_ALL;

		for (size_t i = 0; i < 30; i++)
			d[i] = values[v];
		interval_find(d, 30, 0.05, INTERVAL_SEQUENCE, &in, sorted, nodes);
		assert_true(in.low <= values[v] && values[v] <= in.high);
		assert_true(in.high - in.low <= 1e-12 * fabs(values[v]) + 1e-300);
		assert_near(in.point, values[v], 0);
	}
}

/* An effect that changes sides contradicts every shift: said, and inside what it was. */
static void test_nothing_left(void **state)
{
	struct random random = { 43 };
	struct interval in = INTERVAL_ALL, before = in, now = in;
	double d[BLOCKS];

	(void)state;
	for (size_t n = 1; n <= BLOCKS; n++) {
		d[n - 1] = 0.1 * noise(&random, false) + (n <= 30 ? 1 : -1);
		interval_find(d, n, 0.05, INTERVAL_SEQUENCE, &in, sorted, nodes);
		assert_true(in.low >= before.low && in.high <= before.high);
		assert_true(in.low <= in.point && in.point <= in.high);
		assert_true(in.empty >= before.empty);
		before = in;
	}
	assert_true(in.empty);
	assert_true(in.low == in.high);
	interval_find(d, BLOCKS, 0.05, INTERVAL_NOW, &now, sorted, nodes);
	assert_false(now.empty);
	assert_true(now.low < now.high && now.low > -1 && now.high < 1);
	interval_find(d, 0, 0.05, INTERVAL_SEQUENCE, &now, sorted, nodes);
	assert_true(now.low < now.high);
}

/* Against all the means, sorted. */
static void test_hodges_lehmann(void **state)
{
	struct random random = { 47 };

	(void)state;
	assert_near(interval_point(NULL, 0, sorted), 0, 0);
	for (size_t n = 1; n <= 40; n++) {
		double d[40], means[820], expected;
		size_t k = 0;

		for (size_t i = 0; i < n; i++) {
			d[i] = noise(&random, n % 2);
			if (n % 3 == 0)
				d[i] = rint(d[i]);
		}
		for (size_t i = 0; i < n; i++)
			for (size_t j = 0; j <= i; j++, k++) {
				size_t at = k;

				means[k] = d[i] / 2 + d[j] / 2;
				for (; at > 0 && means[at - 1] > means[at]; at--) {
					double swap = means[at];

					means[at] = means[at - 1];
					means[at - 1] = swap;
				}
			}
		expected = k % 2 ? means[k / 2] : means[k / 2 - 1] / 2 + means[k / 2] / 2;
		assert_near(interval_point(d, n, sorted), expected, 1e-12);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_holds_the_exact_set),
		cmocka_unit_test(test_no_bounds_at_first),
		cmocka_unit_test(test_more_blocks_never_widen_it),
		cmocka_unit_test(test_moves_and_mirrors_with_the_blocks),
		cmocka_unit_test(test_ends_at_0_where_0_is_rejected),
		cmocka_unit_test(test_all_blocks_the_same),
		cmocka_unit_test(test_nothing_left),
		cmocka_unit_test(test_hodges_lehmann),
	};

	return cmocka_run_group_tests_name("interval", tests, NULL, NULL);
}
