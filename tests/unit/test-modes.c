/* SPDX-License-Identifier: MIT */
/*
 * One mode is seldom taken for two, whatever its shape; two are found, with what goes with each.
 *
 * The dip itself is held against R 4.2.2 with diptest 0.76, and against a search for the nearest
 * distribution with one mode by its definition.
 */
#include "unit.h"

#include "samples.h"
#include "stats/modes.h"
#include "stats/robust.h"

#define N_MAX 300

static struct modes_work work[100000];

static void assert_near(double value, double expected, double within)
{
	if (!(fabs(value - expected) <= within))
		fail_msg("%.17g is not %.17g", value, expected);
}

/*
 * R: dip(c(20034, 20012, 19971, 19985, 19977, 50786, 50732, 50737, 50688, 50722)), which are ns of
 * two placements; dip(statfaculty), 63 whole numbers.
 */
static void test_dip_against_r(void **state)
{
	double placements[] = {
		20034, 20012, 19971, 19985, 19977, 50786, 50732, 50737, 50688, 50722
	};
	const double faculty[] = { 30, 33, 35, 36, 37, 37, 39, 39, 39, 39, 39, 40, 40, 40, 40, 41,
				   42, 43, 43, 43, 44, 44, 45, 45, 46, 46, 47, 47, 48, 48, 48, 49,
				   50, 50, 51, 52, 52, 53, 53, 53, 53, 53, 54, 54, 57, 57, 59, 60,
				   60, 60, 61, 61, 61, 61, 62, 62, 62, 62, 63, 66, 70, 72, 72 };
	const double equal[] = { 3, 3 }, even[] = { 1, 2, 3, 4, 5 };

	(void)state;
	robust_sort(placements, 10);
	assert_near(modes_dip(placements, 10, work), 0.24920330385015607, 1e-14);
	assert_near(modes_dip(faculty, 63, work), 0.059523809523809521, 1e-15);
	assert_near(modes_dip(equal, 2, work), 0.25, 0);
	assert_near(modes_dip(even, 5, work), 0.1, 1e-15);
}

/* The lowest that a convex function, from left of @at within @d of the steps, can be at @at. */
static double lowest_at(const double *x, size_t n, double d, double at)
{
	double most = n > 0 ? (double)n - d : 0;

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < i; j++) {
			/* Through the lower end at i and the upper end at j, or higher. */
			double slope = ((double)(i + 1) - d - ((double)j + d)) / (x[i] - x[j]);

			if (slope > 0)
				most = fmax(most, (double)(i + 1) - d + slope * (at - x[i]));
		}
	return most;
}

/*
 * Whether a distribution with its mode at @at can be within @d values of the steps of @x. Right of
 * the mode it is left of it, seen from the other end.
 */
static bool fits(const double *x, size_t n, double d, double at, bool at_value)
{
	double mirrored[N_MAX];
	size_t left = 0, right;
	double low, high;

	while (left < n && x[left] < at)
		left++;
	right = n - left - at_value;
	for (size_t i = 0; i < right; i++)
		mirrored[i] = -x[n - 1 - i];
	low = lowest_at(x, left, d, at);
	high = (double)n - lowest_at(mirrored, right, d, -at);
	return low <= high + 1e-12;
}

/* Whether a convex function fits left of @at at all: no value above its upper end is forced. */
static bool side_fits(const double *x, size_t n, double d)
{
	for (size_t k = 0; k < n; k++)
		if (lowest_at(x, k, d, x[k]) > (double)k + d + 1e-12)
			return false;
	return true;
}

static bool can_have_dip(const double *x, size_t n, double d)
{
	double mirrored[N_MAX];

	for (size_t i = 0; i < n; i++)
		mirrored[i] = -x[n - 1 - i];
	for (size_t m = 0; m < n; m++) {
		/* The mode at value m, or somewhere before it. */
		if (side_fits(x, m, d) && side_fits(mirrored, n - 1 - m, d)) {
			if (lowest_at(x, m, d, x[m]) <= (double)m + d + 1e-12 &&
			    lowest_at(mirrored, n - 1 - m, d, -x[m]) <=
				    (double)(n - 1 - m) + d + 1e-12 &&
			    fits(x, n, d, x[m], true))
				return true;
		}
		if (m == 0 || !side_fits(x, m, d) || !side_fits(mirrored, n - m, d))
			continue;
		for (int part = 0; part <= 200; part++)
			if (fits(x, n, d,
				 x[m - 1] + (x[m] - x[m - 1]) * (0.0025 + 0.995 * part / 200),
				 false))
				return true;
	}
	return false;
}

/* The dip is the least distance from any distribution with one mode. */
static void test_dip_by_definition(void **state)
{
	struct random r = { 1 };
	double x[N_MAX];

	(void)state;
	for (int round = 0; round < 300; round++) {
		size_t n = 4 + random_below(&r, 12);
		double dip;

		for (size_t i = 0; i < n; i++)
			x[i] = round % 3 == 0   ? sample_uniform(&r)
			       : round % 3 == 1 ? sample_two_modes(&r, 1, 3, 0.5, 0.1)
						: sample_cauchy(&r);
		robust_sort(x, n);
		dip = modes_dip(x, n, work) * (double)n;
		assert_true(can_have_dip(x, n, dip * 1.01 + 1e-9));
		if (dip > 0.6)
			assert_false(can_have_dip(x, n, dip * 0.99));
	}
}

static void test_dip_p(void **state)
{
	double last = 1;

	(void)state;
	assert_true(modes_dip_p(3, 0.25) == 1);
	for (double dip = 0; dip < 0.25; dip += 0.001) {
		double p = modes_dip_p(60, dip);

		assert_true(p <= last && p >= 0.0005);
		/* Between two rows as near as the nearer. */
		assert_true(p >= modes_dip_p(50, dip * sqrt(60.0 / 50)) ||
			    p >= modes_dip_p(70, dip * sqrt(60.0 / 70)));
		last = p;
	}
	assert_true(last == 0.0005);
	assert_true(modes_dip_p(SIZE_MAX / 2, 0.25) == 0.0005);
}

enum shape {
	UNIFORM,
	NORMAL,
	CAUCHY,
	EXPONENTIAL,
	LOGNORMAL,
	PEAK_AND_PLAIN, /* all at one end: the worst for the dip */
	PEAK_IN_PLAIN,
	CUSP,
	NARROW_AND_WIDE,
	CLOCK, /* whole microseconds near 6 */
	CLOCK_FEW,
	RATES, /* of whole counts: steps of uneven width */
	SHAPES,
};

static double draw(struct random *r, enum shape shape)
{
	double u = sample_uniform(r);

	switch (shape) {
	case NORMAL:
		return sample_normal(r);
	case CAUCHY:
		return sample_cauchy(r);
	case EXPONENTIAL:
		return sample_exponential(r);
	case LOGNORMAL:
		return exp(3 * sample_normal(r));
	case PEAK_AND_PLAIN:
		return u < 0.15 ? 1e-7 * u : sample_uniform(r);
	case PEAK_IN_PLAIN:
		return u < 0.15 ? 0.1 + 1e-7 * u : sample_uniform(r);
	case CUSP:
		return u < 0.5 ? -pow(sample_uniform(r), 8) : pow(sample_uniform(r), 3);
	case NARROW_AND_WIDE:
		return u < 0.9 ? 0.01 * sample_normal(r) : 10 * sample_uniform(r);
	case CLOCK:
		return floor(6.5 + 0.5 * sample_normal(r));
	case CLOCK_FEW:
		return floor(20 * u);
	case RATES:
		return 1e9 / floor(8e4 + 800 * sample_normal(r));
	default:
		return u;
	}
}

/* How many of @rounds samples of @n are said to have two modes. */
static int count_found(enum shape shape, size_t n, int rounds, double alpha, struct random *r)
{
	double values[N_MAX];
	struct modes m;
	int found = 0;

	for (int round = 0; round < rounds; round++) {
		for (size_t i = 0; i < n; i++)
			values[i] = draw(r, shape);
		robust_sort(values, n);
		if (modes_find(values, n, 0, work, &m) == 0)
			found += m.p <= alpha;
	}
	return found;
}

static void test_size(void **state)
{
	static const size_t sizes[] = { 8, 30, 100, 300 };
	struct random r = { 2 };

	(void)state;
	for (int shape = 0; shape < SHAPES; shape++) {
		for (size_t i = 0; i < ELEMENTSOF(sizes); i++) {
			int rounds = sizes[i] > 100 ? 400 : 1000;
			int found = count_found((enum shape)shape, sizes[i], rounds, 0.05, &r);

			if (sample_binomial_tail(rounds, 0.05, found) <= 0.001)
				fail_msg("shape %d, %zu values: %d of %d", shape, sizes[i], found,
					 rounds);
		}
	}
}

/* Of @rounds samples of 100 with two modes, in how many they are found at 0.05, and truly
 * described. */
static int count_right(double fast, double slow, double share, double sd, double step,
		       struct random *r)
{
	double values[100];
	int right = 0;

	for (int round = 0; round < 400; round++) {
		struct modes m;
		size_t n_slow = 0;

		for (size_t i = 0; i < 100; i++) {
			values[i] = sample_two_modes(r, fast, slow, share, sd);
			if (step > 0)
				values[i] = step * floor(values[i] / step);
			n_slow += values[i] > (fast + slow) / 2;
		}
		robust_sort(values, 100);
		assert_int_equal(modes_find(values, 100, step, work, &m), 0);
		assert_true(m.mode[0].n + m.mode[1].n == 100);
		right += m.p <= 0.05 && m.mode[1].n == n_slow &&
			 fabs(m.mode[0].centre / fast - 1) < 2 * sd &&
			 fabs(m.mode[1].centre / slow - 1) < 2 * sd &&
			 m.mode[0].spread < 2 * sd * fast + step && m.mode[0].centre < m.split &&
			 m.split < m.mode[1].centre;
	}
	return right;
}

/* What it finds, of 400: the figures of daemon/stats/modes.h with some room. */
static void test_power(void **state)
{
	struct random r = { 3 };

	(void)state;
	assert_true(count_right(12e3, 100e3, 0.1, 0.02, 0, &r) > 380);
	assert_true(count_right(12e3, 100e3, 0.1, 0.05, 1, &r) > 350);
	assert_true(count_right(12e3, 100e3, 0.5, 0.02, 0, &r) == 400);
	assert_true(count_right(238e3, 247e3, 0.4, 0.002, 0, &r) > 395);
	/* Three slow ones of a hundred on average; often there are too few. */
	assert_in_range(count_right(12e3, 100e3, 0.03, 0.02, 0, &r), 120, 200);
	/* A clock of whole microseconds. */
	assert_true(count_right(12, 100, 0.1, 0.05, 1, &r) > 340);
}

/* Two hills that overlap, 5 sd apart: only the dip finds them. */
static void test_overlap(void **state)
{
	struct random r = { 4 };
	double values[100];
	int found = 0;

	(void)state;
	for (int round = 0; round < 400; round++) {
		struct modes m;

		for (size_t i = 0; i < 100; i++)
			values[i] = sample_normal(&r) + (i % 2 ? 5 : 0);
		robust_sort(values, 100);
		assert_int_equal(modes_find(values, 100, 0, work, &m), 0);
		found += m.p <= 0.05;
		assert_near(m.split, 2.5, 1.2);
		if (m.p <= 0.05)
			assert_near(m.mode[0].weight, 0.5, 0.12);
	}
	assert_true(found > 180);
}

static void test_exact_cases(void **state)
{
	const double bad[] = { 1, NAN }, equal[] = { 5, 5, 5 }, two[] = { 3, 4 };
	double half[100];
	struct modes m = { .p = 77 };

	(void)state;
	assert_int_equal(modes_find(bad, 2, 0, work, &m), -EINVAL);
	assert_int_equal(modes_find(two, 2, -1, work, &m), -EINVAL);
	assert_int_equal(modes_find(two, 2, NAN, work, &m), -EINVAL);
	assert_int_equal(modes_find(two, 0, 0, work, &m), -ENODATA);
	assert_int_equal(modes_find(equal, 3, 0, work, &m), -ENODATA);
	assert_true(m.p == 77);
	assert_int_equal(modes_find(two, 2, 0, work, &m), 0);
	assert_true(m.p == 1 && m.split == 3.5 && m.mode[0].n == 1 && m.mode[1].centre == 4);
	/* Two values only: neighbours as far as one can see, but not for who knows the clock. */
	for (size_t i = 0; i < 100; i++)
		half[i] = i < 50 ? 6 : 12;
	assert_int_equal(modes_find(half, 100, 0, work, &m), 0);
	assert_true(m.p == 1);
	assert_int_equal(modes_find(half, 100, 1, work, &m), 0);
	assert_true(m.p < 1e-6 && m.split == 9 && m.mode[0].weight == 0.5 && m.mode[1].spread == 0);
}

/* Where a value lies far out, and in what unit all are, changes nothing. */
static void test_invariance(void **state)
{
	struct random r = { 5 };
	double values[N_MAX], other[N_MAX];
	struct modes m, o;

	(void)state;
	for (int round = 0; round < 500; round++) {
		size_t n = 2 + random_below(&r, 100);
		double unit = round % 2 ? 0x1p-900 : 0x1p+700;

		for (size_t i = 0; i < n; i++)
			values[i] = sample_two_modes(&r, 1, 8, 0.2, 0.05);
		robust_sort(values, n);
		for (size_t i = 0; i < n; i++)
			other[i] = -values[n - 1 - i] * unit;
		assert_int_equal(modes_find(values, n, 0, work, &m), 0);
		assert_int_equal(modes_find(other, n, 0, work, &o), 0);
		/* Rounding may decide which of two alike is taken. */
		assert_near(log(o.p), log(m.p), 0.05);
		assert_true(o.p > 0.05 || o.mode[0].n == m.mode[1].n);
	}
	/* The last of 100 values at 10^300: they are found as before. */
	for (size_t i = 0; i < 99; i++)
		values[i] = sample_two_modes(&r, 12e3, 1e5, 0.2, 0.02);
	values[99] = 1e300;
	robust_sort(values, 100);
	assert_int_equal(modes_find(values, 100, 0, work, &m), 0);
	assert_true(m.p < 1e-6 && m.split > 13e3 && m.split < 9e4);
}

static void test_many(void **state)
{
	static double values[100000];
	struct random r = { 6 };
	struct modes m;

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(values); i++)
		values[i] = sample_two_modes(&r, 12e3, 1e5, 0.0005, 0.02);
	robust_sort(values, ELEMENTSOF(values));
	assert_int_equal(modes_find(values, ELEMENTSOF(values), 0, work, &m), 0);
	assert_true(m.p < 1e-6);
	assert_near(m.mode[1].centre, 1e5, 2e3);
}

static void test_discordant(void **state)
{
	const double a[] = { 12, 100, 12, 100, 12, 56 }, b[] = { 12, 100, 100, 12, 99, 57 };
	size_t up, down;

	(void)state;
	assert_int_equal(modes_discordant(12, 100, 56), 1);
	assert_int_equal(modes_discordant(100, 12, 56), -1);
	assert_int_equal(modes_discordant(12, 13, 56), 0);
	modes_count_discordant(a, b, ELEMENTSOF(a), 56, &up, &down);
	assert_true(up == 3 && down == 1);
	modes_count_discordant(a, b, 0, 56, &up, &down);
	assert_true(up == 0 && down == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dip_against_r), cmocka_unit_test(test_dip_by_definition),
		cmocka_unit_test(test_dip_p),         cmocka_unit_test(test_size),
		cmocka_unit_test(test_power),         cmocka_unit_test(test_overlap),
		cmocka_unit_test(test_exact_cases),   cmocka_unit_test(test_invariance),
		cmocka_unit_test(test_many),          cmocka_unit_test(test_discordant),
	};

	return cmocka_run_group_tests_name("modes", tests, NULL, NULL);
}
