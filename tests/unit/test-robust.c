/* SPDX-License-Identifier: MIT */
/*
 * Location, spread and their intervals: against lists of all pairs, counted distributions and R.
 *
 * Numbers said to be R's are from R 4.2.2 with options(digits = 17), by the call beside them. The
 * series are those of shared documents: switches a second and transactions a second.
 */
#include "unit.h"

#include "samples.h"
#include "stats/hodges-lehmann.h"
#include "stats/tail.h"

#define N_MAX 60

static double a[] = { 349704, 350604, 353290, 354112, 354950 };
static double b[] = { 365120, 365862, 366156, 366362, 366626 };
static double x[] = { 1275.02, 1381.35, 1398.45, 1412.24, 1539.88, 1611.10, 1632.54 };
static double y[] = { 1443.17, 1502.35, 1597.40, 1607.42, 1718.40, 1745.65, 1876.80 };

static void assert_near(double value, double expected, double within)
{
	if (!(fabs(value - expected) <= within))
		fail_msg("%.17g is not %.17g", value, expected);
}

static void assert_interval(const struct robust_interval *i, double lower, double upper)
{
	assert_near(i->lower, lower, 1e-9);
	assert_near(i->upper, upper, 1e-9);
}

/* Few or many different values, small, large, negative. */
static void make(struct random *r, double *values, size_t n)
{
	uint64_t kinds = 1 + random_below(r, 20), shape = random_below(r, 4);

	for (size_t i = 0; i < n; i++) {
		values[i] = (double)random_below(r, kinds) - (double)kinds / 2;
		if (shape == 1)
			values[i] = sample_cauchy(r);
		if (shape == 2)
			values[i] *= 1e299 / (double)kinds;
		if (shape == 3)
			values[i] = 1e9 + sample_normal(r);
	}
	robust_sort(values, n);
}

/* R: quantile(x, c(.1, .25, .5, .9)), mad(x), mad(y) */
static void test_quantiles(void **state)
{
	double scratch[7];

	(void)state;
	assert_near(robust_quantile(x, 7, 0.1), 1338.818, 1e-9);
	assert_near(robust_quantile(x, 7, 0.25), 1389.9, 1e-9);
	assert_near(robust_median(x, 7), 1412.24, 0);
	assert_near(robust_quantile(x, 7, 0.9), 1619.676, 1e-9);
	assert_near(robust_mad_sorted(x, 7), 189.23906400000013, 1e-9);
	assert_near(robust_mad(y, 7, robust_median(y, 7), scratch), 164.538948, 1e-9);
}

static void test_mad_sorted(void **state)
{
	struct random r = { 1 };
	double values[N_MAX], scratch[N_MAX];

	(void)state;
	for (int round = 0; round < 20000; round++) {
		size_t n = 1 + random_below(&r, N_MAX);
		double expected;

		make(&r, values, n);
		expected = robust_mad(values, n, robust_median(values, n), scratch);
		assert_near(robust_mad_sorted(values, n), expected, 1e-15 * fabs(expected));
	}
}

static void test_refused(void **state)
{
	const double bad[][2] = { { 0, NAN },       { NAN, 0 },   { 0, INFINITY },
				  { -INFINITY, 0 }, { 0, 2e300 }, { 1, 0 } };
	struct robust_interval i = { 1, 2, 3 };
	double value = 7;

	(void)state;
	for (size_t k = 0; k < ELEMENTSOF(bad); k++) {
		assert_int_equal(hodges_lehmann_one(bad[k], 2, &value), -EINVAL);
		assert_int_equal(hodges_lehmann_two(bad[k], 2, x, 7, &value), -EINVAL);
		assert_int_equal(hodges_lehmann_two(x, 7, bad[k], 2, &value), -EINVAL);
		assert_int_equal(robust_quantile_interval(bad[k], 2, 0.5, 0.1, &i), -EINVAL);
		assert_int_equal(hodges_lehmann_one_interval(bad[k], 2, 0.1, &i), -EINVAL);
		assert_int_equal(hodges_lehmann_two_interval(x, 7, bad[k], 2, 0.1, &i), -EINVAL);
	}
	for (double level = 0; level < 2; level++) {
		assert_int_equal(robust_quantile_interval(x, 7, 0.5, level, &i), -EINVAL);
		assert_int_equal(robust_quantile_interval(x, 7, level, 0.5, &i), -EINVAL);
		assert_int_equal(hodges_lehmann_one_interval(x, 7, level, &i), -EINVAL);
		assert_int_equal(hodges_lehmann_two_interval(x, 7, y, 7, level, &i), -EINVAL);
	}
	assert_int_equal(robust_quantile_interval(x, 7, NAN, 0.5, &i), -EINVAL);
	assert_int_equal(hodges_lehmann_one(x, 0, &value), -ENODATA);
	assert_int_equal(hodges_lehmann_two(x, 7, y, 0, &value), -ENODATA);
	assert_int_equal(hodges_lehmann_two(x, 0, y, 7, &value), -ENODATA);
	assert_int_equal(robust_quantile_interval(x, 0, 0.5, 0.5, &i), -ENODATA);
	/* Nothing was written. */
	assert_true(value == 7 && i.lower == 1 && i.upper == 2 && i.coverage == 3);
}

/*
 * R: ranks by qbinom(.025, n, p), corrected where pbinom(k - 1, n, p) is above .025, from both
 * sides; coverage by pbinom(). Values that are their ranks show which ones were chosen.
 */
static void test_quantile_interval(void **state)
{
	static const struct {
		size_t n;
		double p, lower, upper, coverage;
	} cases[] = { { 6, 0.5, 1, 6, 0.96875 },
		      { 10, 0.5, 2, 9, 0.978515625 },
		      { 100, 0.5, 40, 61, 0.96479979978229524 },
		      { 100, 0.9, 84, 96, 0.95569010719122305 },
		      { 1000, 0.99, 983, 997, 0.97609476349797697 } };
	static double ranks[1000];
	struct robust_interval i;

	(void)state;
	for (size_t k = 0; k < ELEMENTSOF(ranks); k++)
		ranks[k] = (double)(k + 1);
	for (size_t k = 0; k < ELEMENTSOF(cases); k++) {
		size_t n = cases[k].n;

		assert_int_equal(robust_quantile_interval(ranks, n, cases[k].p, 0.95, &i), 0);
		assert_interval(&i, cases[k].lower, cases[k].upper);
		assert_near(i.coverage, cases[k].coverage, 1e-12);
	}
	/* One fewer is too few: 2 / 2^5 and 0.99^367 are above their shares. */
	assert_int_equal(robust_quantile_interval(ranks, 5, 0.5, 0.95, &i), -ENODATA);
	assert_int_equal(robust_quantile_interval(ranks, 367, 0.99, 0.95, &i), -ENODATA);
	assert_int_equal(robust_quantile_interval(ranks, 368, 0.99, 0.95, &i), 0);
	assert_near(i.upper, 368, 0);
	/* From below the same as from above. */
	assert_int_equal(robust_quantile_interval(ranks, 368, 0.01, 0.95, &i), 0);
	assert_near(i.lower, 1, 0);
}

/* Of all 0.9 quantiles of 40 exponential values, at least as many are held as was said. */
static void test_quantile_coverage(void **state)
{
	struct random r = { 2 };
	struct robust_interval i;
	int missed = 0;
	double values[40];

	(void)state;
	for (int round = 0; round < 20000; round++) {
		for (size_t k = 0; k < 40; k++)
			values[k] = sample_exponential(&r);
		robust_sort(values, 40);
		assert_int_equal(robust_quantile_interval(values, 40, 0.9, 0.9, &i), 0);
		missed += !(i.lower <= log(10) && log(10) <= i.upper);
	}
	assert_true(sample_binomial_tail(20000, 1 - i.coverage, missed) > 0.001);
	assert_true(sample_binomial_tail(20000, i.coverage, 20000 - missed) > 0.001);
}

/* All pairs, written down. */
static size_t list_means(const double *values, size_t n, double *ret)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t j = i; j < n; j++)
			ret[count++] = 0.5 * values[i] + 0.5 * values[j];
	robust_sort(ret, count);
	return count;
}

static size_t list_differences(const double *from, size_t n, const double *to, size_t m,
			       double *ret)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < m; j++)
			ret[count++] = to[j] - from[i];
	robust_sort(ret, count);
	return count;
}

static double middle(const double *sorted, size_t n)
{
	return 0.5 * sorted[(n - 1) / 2] + 0.5 * sorted[n / 2];
}

static void test_pairs(void **state)
{
	static double from[N_MAX], to[N_MAX], all[N_MAX * N_MAX];
	struct random r = { 3 };

	(void)state;
	for (int round = 0; round < 4000; round++) {
		size_t n = 1 + random_below(&r, round < 2000 ? 4 : N_MAX), count;
		size_t m = 1 + random_below(&r, round < 2000 ? 4 : N_MAX);
		struct robust_interval i;
		double value, mass;
		uint64_t k;

		make(&r, from, n);
		make(&r, to, m);
		count = list_means(from, n, all);
		assert_int_equal(hodges_lehmann_one(from, n, &value), 0);
		assert_true(value == middle(all, count));
		k = tail_signed_rank(n, 0.1, &mass);
		assert_int_equal(hodges_lehmann_one_interval(from, n, 0.8, &i), k ? 0 : -ENODATA);
		if (k > 0)
			assert_true(i.lower == all[k - 1] && i.upper == all[count - k] &&
				    i.lower <= value && value <= i.upper);
		count = list_differences(from, n, to, m, all);
		assert_int_equal(hodges_lehmann_two(from, n, to, m, &value), 0);
		assert_true(value == middle(all, count));
		k = tail_rank_sum(n, m, 0.1, &mass);
		assert_int_equal(hodges_lehmann_two_interval(from, n, to, m, 0.8, &i),
				 k ? 0 : -ENODATA);
		if (k > 0)
			assert_true(i.lower == all[k - 1] && i.upper == all[count - k] &&
				    i.lower <= value && value <= i.upper);
	}
}

/*
 * R: wilcox.test(b, a, conf.int = TRUE), the same with conf.level = .99; wilcox.test(x, conf.int =
 * TRUE); wilcox.test(y, x, conf.int = TRUE)
 */
static void test_against_r(void **state)
{
	struct robust_interval i;
	double value;

	(void)state;
	assert_int_equal(hodges_lehmann_two(a, 5, b, 5, &value), 0);
	assert_near(value, 12866, 0);
	assert_int_equal(hodges_lehmann_two_interval(a, 5, b, 5, 0.95, &i), 0);
	assert_interval(&i, 11008, 16452);
	/* pwilcox(qwilcox(.025, 5, 5) - 1, 5, 5) is 0.015873015873015872 */
	assert_near(i.coverage, 1 - 2 * 0.015873015873015872, 1e-15);
	assert_int_equal(hodges_lehmann_two_interval(a, 5, b, 5, 0.99, &i), 0);
	assert_interval(&i, 10170, 16922);
	assert_int_equal(hodges_lehmann_one(x, 7, &value), 0);
	assert_near(value, 1464.8899999999999, 1e-9);
	assert_int_equal(hodges_lehmann_one_interval(x, 7, 0.95, &i), 0);
	assert_interval(&i, 1336.7350000000001, 1611.0999999999999);
	assert_int_equal(hodges_lehmann_two(x, 7, y, 7, &value), 0);
	assert_near(value, 185.16000000000008, 1e-9);
	assert_int_equal(hodges_lehmann_two_interval(x, 7, y, 7, 0.95, &i), 0);
	assert_interval(&i, -13.699999999999818, 337.05000000000018);
}

/* R: k = qsignrank(.025, n) and psignrank(k - 1, n); k = qwilcox(.025, n, m) and pwilcox(k - 1, n,
 * m) */
static void test_rank_distributions(void **state)
{
	static const struct {
		size_t n, m; /* m 0: signed ranks */
		uint64_t k;
		double mass;
	} cases[] = { { 6, 0, 1, 0.015625 },
		      { 10, 0, 9, 0.0244140625 },
		      { 20, 0, 53, 0.024220466613769531 },
		      { 50, 0, 435, 0.024723203400300871 },
		      { 4, 4, 1, 0.014285714285714285 },
		      { 7, 9, 13, 0.020891608391608394 },
		      { 20, 30, 201, 0.024064731658852433 },
		      { 50, 50, 966, 0.024773861799423445 } };
	struct robust_interval i;
	double mass;

	(void)state;
	for (size_t k = 0; k < ELEMENTSOF(cases); k++) {
		uint64_t found = cases[k].m ? tail_rank_sum(cases[k].n, cases[k].m, 0.025, &mass)
					    : tail_signed_rank(cases[k].n, 0.025, &mass);

		assert_int_equal(found, cases[k].k);
		assert_near(mass, cases[k].mass, 1e-14);
	}
	/* One of the 20 ways to choose 3 of 6 on either side is just 0.9, although (1 - 0.9) / 2 is
	 * below 0.05. */
	assert_int_equal(hodges_lehmann_two_interval(x, 3, y, 3, 0.9, &i), 0);
	assert_near(i.coverage, 0.9, 1e-12);
	/* It is symmetric in its groups. */
	assert_int_equal(tail_rank_sum(30, 20, 0.025, &mass), 201);
	/* Where the normal distribution takes over, the rank moves as it moved before. */
	assert_in_range(tail_signed_rank(51, 0.025, &mass), 452, 455);
	assert_in_range(tail_rank_sum(51, 50, 0.025, &mass), 985, 990);
	assert_true(mass <= 0.025 && mass > 0.0245);
	assert_int_equal(tail_signed_rank(4, 0.025, &mass), 0);
	assert_true(mass == 0);
}

/* How often the interval misses the centre: as often as it says. */
static void test_centre_coverage(void **state)
{
	struct robust_interval i = { 0 };
	struct random r = { 5 };
	int missed = 0, rounds = 10000;
	double values[15];

	(void)state;
	for (int round = 0; round < rounds; round++) {
		for (size_t k = 0; k < 15; k++)
			values[k] = sample_cauchy(&r);
		robust_sort(values, 15);
		assert_int_equal(hodges_lehmann_one_interval(values, 15, 0.9, &i), 0);
		missed += i.lower > 0 || i.upper < 0;
	}
	assert_true(sample_binomial_tail(rounds, 1 - i.coverage, missed) > 0.001);
	assert_true(sample_binomial_tail(rounds, i.coverage, rounds - missed) > 0.001);
}

/* So many that all pairs would not fit: far from a second, without allocation. */
static void test_many(void **state)
{
	static double values[100000], others[100000];
	struct random r = { 6 };
	struct robust_interval i;
	double value;

	(void)state;
	for (size_t k = 0; k < ELEMENTSOF(values); k++) {
		values[k] = sample_normal(&r);
		others[k] = 3 + sample_normal(&r);
	}
	robust_sort(values, ELEMENTSOF(values));
	robust_sort(others, ELEMENTSOF(others));
	assert_int_equal(hodges_lehmann_one(values, ELEMENTSOF(values), &value), 0);
	assert_near(value, 0, 0.02);
	assert_int_equal(hodges_lehmann_one_interval(values, ELEMENTSOF(values), 0.95, &i), 0);
	/* 1.96 sd of the estimate, which is the root of pi / 3 / n. */
	assert_near(i.upper - i.lower, 2 * 1.96 * sqrt(M_PI / 3 / 1e5), 3e-4);
	assert_int_equal(
		hodges_lehmann_two(values, ELEMENTSOF(values), others, ELEMENTSOF(others), &value),
		0);
	assert_near(value, 3, 0.02);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quantiles),         cmocka_unit_test(test_mad_sorted),
		cmocka_unit_test(test_refused),           cmocka_unit_test(test_quantile_interval),
		cmocka_unit_test(test_quantile_coverage), cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_against_r),         cmocka_unit_test(test_rank_distributions),
		cmocka_unit_test(test_centre_coverage),   cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests_name("robust", tests, NULL, NULL);
}
