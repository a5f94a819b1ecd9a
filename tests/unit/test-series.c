/* SPDX-License-Identifier: MIT */
/*
 * Drift, slope and autocorrelation: against all pairs, all orders, and R.
 *
 * Numbers said to be R's are from R 4.2.2 with options(digits = 17), by the call beside them.
 */
#include "unit.h"

#include "samples.h"
#include "stats/robust.h"
#include "stats/series.h"
#include "stats/tail.h"

#define N_MAX 70

static const double digits[] = { 3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4 };

static void assert_near(double value, double expected, double within)
{
	if (!(fabs(value - expected) <= within))
		fail_msg("%.17g is not %.17g", value, expected);
}

/*
 * R: cor.test(1:5, a, method = "kendall"), cor.test(1:7, x, method = "kendall") and, d for the
 * digits above, cor.test(1:20, d, method = "kendall", exact = FALSE, continuity = TRUE)
 */
static void test_kendall_against_r(void **state)
{
	const double a[] = { 354950, 354112, 353290, 349704, 350604 };
	const double x[] = { 1398.45, 1275.02, 1632.54, 1412.24, 1611.10, 1381.35, 1539.88 };
	double scratch[40];
	struct series_drift d;

	(void)state;
	assert_int_equal(series_kendall(a, 5, scratch, &d), 0);
	assert_near(d.tau, -0.8, 1e-15);
	assert_near(d.p, 0.083333333333333329, 1e-15);
	assert_true(d.exact && d.n == 5);
	assert_int_equal(series_kendall(x, 7, scratch, &d), 0);
	assert_near(d.tau, 0.14285714285714285, 1e-15);
	assert_near(d.p, 0.77261904761904754, 1e-14);
	assert_int_equal(series_kendall(digits, 20, scratch, &d), 0);
	assert_near(d.tau, 0.2199928503485436, 1e-14);
	assert_near(d.p, 0.20094622686430724, 1e-12);
	assert_false(d.exact);
}

/* R: z <- sin(1:50 * 1.7); cor.test(1:50, z, method = "kendall", exact = TRUE): T = 608 */
static void test_kendall_of_fifty(void **state)
{
	double z[51], scratch[102];
	struct series_drift d;

	(void)state;
	for (size_t i = 0; i < 51; i++)
		z[i] = sin((double)(i + 1) * 1.7);
	assert_int_equal(series_kendall(z, 50, scratch, &d), 0);
	assert_true(d.exact);
	assert_near(d.tau, -0.0073469387755102037, 1e-15);
	assert_near(d.p, 0.94693342523687074, 1e-12);
	assert_int_equal(series_kendall(z, 51, scratch, &d), 0);
	assert_false(d.exact);
}

/* P(at most k inversions) by writing down all 5040 orders of seven. */
static void test_inversions(void **state)
{
	size_t counts[22] = { 0 }, sum = 0;

	(void)state;
	for (size_t code = 0; code < 5040; code++) {
		size_t inversions = 0;

		/* The digits of a factorial number are the inversions that each place adds. */
		for (size_t i = 1, rest = code; i <= 7; rest /= i, i++)
			inversions += rest % i;
		counts[inversions]++;
	}
	for (size_t k = 0; k < 22; k++) {
		sum += counts[k];
		assert_near(tail_inversions(7, k), (double)sum / 5040, 1e-14);
	}
	assert_near(tail_inversions(7, 1000), 1, 0);
	assert_near(tail_inversions(1, 0), 1, 0);
	/* 50: one order of 50! has none, and half of all have fewer than half. */
	assert_near(log(tail_inversions(50, 0)), -lgamma(51), 1e-9);
	assert_near(tail_inversions(50, 612), 0.5, 1e-12);
}

static double sign(double v)
{
	return (v > 0) - (v < 0);
}

static void test_all_pairs(void **state)
{
	static double values[N_MAX], scratch[2 * N_MAX], slopes[N_MAX * N_MAX];
	struct random r = { 1 };

	(void)state;
	for (int round = 0; round < 5000; round++) {
		size_t n = 2 + random_below(&r, N_MAX - 1), count = 0;
		uint64_t kinds = 1 + random_below(&r, 50);
		double score = 0, untied = 0, slope;
		struct series_drift d;

		for (size_t i = 0; i < n; i++)
			values[i] = round % 2 ? (double)random_below(&r, kinds) - 10
					      : sample_cauchy(&r);
		for (size_t i = 0; i < n; i++) {
			for (size_t j = i + 1; j < n; j++) {
				score += sign(values[j] - values[i]);
				untied += values[i] != values[j];
				slopes[count++] = (values[j] - values[i]) / (double)(j - i);
			}
		}
		robust_sort(slopes, count);
		assert_int_equal(series_slope(values, n, scratch, &slope), 0);
		assert_near(slope, robust_median(slopes, count),
			    1e-13 * (fabs(slopes[0]) + fabs(slopes[count - 1])));
		assert_int_equal(series_kendall(values, n, scratch, &d), untied > 0 ? 0 : -ENODATA);
		if (untied > 0)
			assert_near(d.tau, score / sqrt(untied * (double)count), 1e-13);
	}
}

/* Under the null p is uniform or larger, with ties too; a drift is found. */
static void test_kendall_size(void **state)
{
	double values[80], scratch[160];
	struct series_drift d;
	struct random r = { 3 };

	(void)state;
	for (int kind = 0; kind < 4; kind++) {
		size_t n = kind < 2 ? 12 : 80;
		int rejected = 0, found = 0, rounds = 5000;

		for (int round = 0; round < rounds; round++) {
			for (size_t i = 0; i < n; i++)
				values[i] = kind % 2 ? floor(3 * sample_uniform(&r))
						     : sample_cauchy(&r);
			if (series_kendall(values, n, scratch, &d) == 0)
				rejected += d.p <= 0.05;
			for (size_t i = 0; i < n; i++)
				values[i] += 10 * (double)i / (double)n;
			if (series_kendall(values, n, scratch, &d) == 0)
				found += d.p <= 0.05;
		}
		assert_true(sample_binomial_tail(rounds, 0.05, rejected) > 0.001);
		assert_true(found > (kind == 0 ? 2500 : 4900));
	}
}

static void test_trends(void **state)
{
	static double values[10000], scratch[20000];
	struct random r = { 4 };
	struct series_drift d;
	double slope;

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(values); i++)
		values[i] = 0.25 * (double)i + 100 * sample_normal(&r);
	/* A quarter of them far out moves neither much. */
	for (size_t i = 0; i < ELEMENTSOF(values); i += 4)
		values[i] = 1e12 * sample_cauchy(&r);
	assert_int_equal(series_slope(values, ELEMENTSOF(values), scratch, &slope), 0);
	assert_near(slope, 0.25, 0.01);
	assert_int_equal(series_kendall(values, ELEMENTSOF(values), scratch, &d), 0);
	assert_true(d.tau > 0.4 && d.p < 1e-100);
}

/* R: acf(d, plot = FALSE, lag.max = 3)$acf */
static void test_autocorrelation(void **state)
{
	const double expected[] = { 1, 0.17306026705160593, 0.0079754601226993977,
				    0.011060988812703013 };
	double value;

	(void)state;
	for (size_t lag = 0; lag < ELEMENTSOF(expected); lag++) {
		assert_int_equal(series_autocorrelation(digits, 20, lag, &value), 0);
		assert_near(value, expected[lag], 1e-14);
	}
	assert_int_equal(series_autocorrelation(digits, 20, 20, &value), -ENODATA);
	assert_int_equal(series_autocorrelation(digits, 20, 19, &value), 0);
}

/* An autoregression of 0.8 leaves (1 - 0.8) / (1 + 0.8) of its values. */
static void test_effective_size(void **state)
{
	static double values[20000];
	struct random r = { 5 };
	double size;

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(values); i++)
		values[i] = sample_normal(&r);
	assert_int_equal(series_effective_size(values, ELEMENTSOF(values), &size), 0);
	assert_true(size > 0.9 * ELEMENTSOF(values) && size <= ELEMENTSOF(values));
	for (size_t i = 1; i < ELEMENTSOF(values); i++)
		values[i] += 0.8 * values[i - 1];
	assert_int_equal(series_effective_size(values, ELEMENTSOF(values), &size), 0);
	assert_near(size / ELEMENTSOF(values), 1.0 / 9, 0.025);
	/* Never more than there are, never less than one. */
	for (size_t i = 0; i < ELEMENTSOF(values); i++)
		values[i] = i % 2;
	assert_int_equal(series_effective_size(values, ELEMENTSOF(values), &size), 0);
	assert_true(size == ELEMENTSOF(values));
	for (size_t i = 0; i < 500; i++)
		values[i] = (double)i;
	assert_int_equal(series_effective_size(values, 500, &size), 0);
	assert_true(size >= 1 && size < 10);
}

static void test_refused(void **state)
{
	const double bad[] = { 1, NAN, 3 }, large[] = { 0, -2e300 }, equal[] = { 4, 4, 4 };
	const double extreme[] = { -1e300, 1e300, -1e300, 1e300 };
	double scratch[8], value = 7;
	struct series_drift d = { .n = 77 };

	(void)state;
	assert_int_equal(series_kendall(bad, 3, scratch, &d), -EINVAL);
	assert_int_equal(series_slope(bad, 3, scratch, &value), -EINVAL);
	assert_int_equal(series_autocorrelation(bad, 3, 1, &value), -EINVAL);
	assert_int_equal(series_effective_size(large, 2, &value), -EINVAL);
	for (size_t n = 0; n < 2; n++) {
		assert_int_equal(series_kendall(equal, n, scratch, &d), -ENODATA);
		assert_int_equal(series_slope(equal, n, scratch, &value), -ENODATA);
		assert_int_equal(series_autocorrelation(equal, n, 0, &value), -ENODATA);
		assert_int_equal(series_effective_size(equal, n, &value), -ENODATA);
	}
	assert_int_equal(series_kendall(equal, 3, scratch, &d), -ENODATA);
	assert_int_equal(series_autocorrelation(equal, 3, 0, &value), -ENODATA);
	assert_true(value == 7 && d.n == 77);
	assert_int_equal(series_slope(equal, 3, scratch, &value), 0);
	assert_true(value == 0);
	assert_int_equal(series_slope(extreme, 4, scratch, &value), 0);
	assert_true(isfinite(value));
	assert_int_equal(series_autocorrelation(extreme, 4, 1, &value), 0);
	assert_near(value, -0.75, 1e-12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kendall_against_r), cmocka_unit_test(test_kendall_of_fifty),
		cmocka_unit_test(test_inversions),        cmocka_unit_test(test_all_pairs),
		cmocka_unit_test(test_kendall_size),      cmocka_unit_test(test_trends),
		cmocka_unit_test(test_autocorrelation),   cmocka_unit_test(test_effective_size),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests_name("series", tests, NULL, NULL);
}
