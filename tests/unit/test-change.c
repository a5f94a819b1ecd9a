/* SPDX-License-Identifier: MIT */
/*
 * The change detector: its promise by enumeration, its words on plain cases.
 */
#include "unit.h"

#include <math.h>

#include "stats/change.h"

static double uniform(struct random *r)
{
	return ((double)(random_next(r) >> 11) + 0.5) * 0x1p-53;
}

static double normal(struct random *r)
{
	double u = uniform(r);

	return sqrt(-2 * log(u)) * cos(2 * M_PI * uniform(r));
}

static double evidence_of(const struct change *c)
{
	struct change_report report;

	change_report(c, &report);
	return report.evidence;
}

/* Calls @visit with each order of the @n values at @v. */
static void each_order(double *v, size_t n, size_t from, void (*visit)(const double *v, void *data),
		       void *data)
{
	if (from == n) {
		visit(v, data);
		return;
	}
	for (size_t i = from; i < n; i++) {
		double x = v[from];

		v[from] = v[i];
		v[i] = x;
		each_order(v, n, from + 1, visit, data);
		v[i] = v[from];
		v[from] = x;
	}
}

#define VALUES 7

struct sums {
	size_t m; /* values that are the baseline */
	uint64_t seed;
	double orders, sum, square;
};

static void sum_evidence(const double *v, void *data)
{
	struct sums *s = data;
	struct change c;
	double e;

	assert_int_equal(change_init(&c, v, s->m, 1e9, s->seed++), 0);
	for (size_t i = s->m; i < VALUES; i++)
		assert_int_equal(change_add(&c, v[i]), 0);
	e = evidence_of(&c);
	s->orders++;
	s->sum += e;
	s->square += e * e;
}

/* The promise: over all orders of distinct values the mean of the detector is the number of values. */
static void test_mean_is_exact(void **state)
{
	(void)state;
	for (size_t m = 1; m < VALUES; m++) {
		double v[VALUES] = { -100, -1, 0, 1e-9, 2, 3e10, 4e10 };
		struct sums s = { .m = m };

		each_order(v, VALUES, 0, sum_evidence, &s);
		assert_int_equal((int)s.orders, 5040);
		if (fabs(s.sum / s.orders - (double)(VALUES - m)) > 1e-9)
			fail_msg("m = %zu: %.12f", m, s.sum / s.orders);
	}
}

/* With ties the coins make it so, on average over seeds: a normal bound at one in a thousand. */
static void test_mean_with_ties(void **state)
{
	static const double cases[][VALUES] = { { 1, 1, 1, 1, 1, 1, 1 },
						{ 1, 1, 1, 1, 2, 2, 2 },
						{ 0, 1, 1, 1, 1, 2, 5 } };

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(cases); i++)
		for (size_t m = 1; m < VALUES; m += 2) {
			double v[VALUES], mean, error;
			struct sums s = { .m = m, .seed = 1 };

			memcpy(v, cases[i], sizeof(v));
			for (int run = 0; run < 5; run++)
				each_order(v, VALUES, 0, sum_evidence, &s);
			mean = s.sum / s.orders;
			error = sqrt((s.square / s.orders - mean * mean) / s.orders);
			if (fabs(mean - (double)(VALUES - m)) > 3.3 * error)
				fail_msg("case %zu, m = %zu: %g +- %g", i, m, mean, error);
		}
}

/* Only ranks count; and what goes up in values goes down in their negatives. */
static void test_invariant(void **state)
{
	struct random random = { 3 };
	struct change plain, curved, mirrored;
	double base[3][40];

	(void)state;
	for (size_t i = 0; i < 40; i++) {
		base[0][i] = normal(&random);
		base[1][i] = exp(base[0][i]);
		base[2][i] = -base[0][i];
	}
	assert_int_equal(change_init(&plain, base[0], 40, 1e9, 1), 0);
	assert_int_equal(change_init(&curved, base[1], 40, 1e9, 1), 0);
	assert_int_equal(change_init(&mirrored, base[2], 40, 1e9, 1), 0);
	for (size_t i = 0; i < 60; i++) {
		double x = normal(&random) * 1.3 + 0.5, e;

		assert_true(change_add(&plain, x) == 0);
		(void)change_add(&curved, exp(x));
		(void)change_add(&mirrored, -x);
		e = evidence_of(&plain);
		assert_true(evidence_of(&curved) == e);
		assert_true(fabs(evidence_of(&mirrored) / e - 1) < 1e-9);
	}
}

/* Feeds @n values of level and spread, now above and now below; after how many an alarm, or 0. */
static size_t feed(struct change *c, struct random *r, size_t n, double level, double spread)
{
	for (size_t i = 1; i <= n; i++)
		if (change_add(c, level + (i % 2 ? spread : -spread) * fabs(normal(r))) == 1)
			return i;
	return 0;
}

static void begin(struct change *c, struct random *r, size_t m, double bar)
{
	double base[CHANGE_BASELINE_MAX];

	for (size_t i = 0; i < m; i++)
		base[i] = normal(r);
	assert_int_equal(change_init(c, base, m, bar, 9), 0);
}

static void test_kinds(void **state)
{
	static const struct {
		double level, spread;
		enum change_kind kind;
	} cases[] = { { 2, 1, CHANGE_UP },
		      { -2, 1, CHANGE_DOWN },
		      { 8, 1, CHANGE_UP },
		      { 0, 4, CHANGE_WIDER },
		      { 0, 0.2, CHANGE_NARROWER } };

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		struct random random = { 21 };
		struct change c;
		struct change_report r;

		begin(&c, &random, 100, 1e5);
		assert_int_equal(feed(&c, &random, 150, 0, 1), 0);
		assert_int_not_equal(feed(&c, &random, 100, cases[i].level, cases[i].spread), 0);
		change_report(&c, &r);
		assert_true(r.alarm);
		assert_true(r.evidence >= 1e5);
		assert_int_equal(r.kind, cases[i].kind);
		assert_true(r.since >= 145 && r.since <= 156);
		assert_int_equal(r.n_before, 100 + r.since);
		assert_int_equal(r.n_after, c.n - r.since);
		assert_true(fabs(r.level_before) < 0.3 && fabs(r.spread_before - 1) < 0.3);
		if (cases[i].level != 0)
			assert_true(fabs(r.level_after - cases[i].level) < 1);
		else
			assert_true((r.spread_after > r.spread_before) == (cases[i].spread > 1));
	}
}

static void test_constant(void **state)
{
	double base[30] = { 0 };
	struct change c;
	struct change_report r;
	size_t n = 0;

	(void)state;
	assert_int_equal(change_init(&c, base, 30, 20000, 4), 0);
	for (size_t i = 0; i < 2000; i++)
		assert_int_equal(change_add(&c, 0), 0);
	change_report(&c, &r);
	assert_true(r.level_before == 0 && r.spread_before == 0);
	while (n++ < 10 && change_add(&c, 1) == 0)
		;
	assert_true(n <= 6);
	change_report(&c, &r);
	assert_true(r.alarm);
	assert_int_equal(r.kind, CHANGE_UP);
	/* The coins of some zeros before may have been high. */
	assert_true(r.since >= 1995 && r.since <= 2000);
	assert_int_equal(r.n_after, c.n - r.since);
	assert_true(r.level_before == 0 && r.level_after == 1 && r.spread_after == 0);
}

/* A baseline of one value is enough to be right, and no two values are enough to be sure. */
static void test_smallest_baseline(void **state)
{
	struct change c;
	struct change_report r;

	(void)state;
	assert_int_equal(change_init(&c, (double[]){ 1 }, 1, 1, 0), 0);
	change_report(&c, &r);
	assert_false(r.alarm);
	assert_true(r.evidence == 0);
	assert_int_equal(r.since, 0);
	assert_int_equal(r.n_before, 1);
	assert_int_equal(r.n_after, 0);
	assert_true(isnan(r.level_after) && isnan(r.spread_after));
	assert_int_equal(change_init(&c, (double[]){ 1 }, 1, 20, 0), 0);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(change_add(&c, 100), 0);
}

static void test_restart(void **state)
{
	struct random random = { 8 };
	struct change c;
	struct change_report r;

	(void)state;
	begin(&c, &random, 100, 1000);
	assert_int_not_equal(feed(&c, &random, 50, 3, 1), 0);
	change_restart(&c);
	change_report(&c, &r);
	assert_false(r.alarm);
	assert_true(r.evidence == 0);
	assert_int_equal(r.since, c.n);
	assert_int_equal(feed(&c, &random, 20, 0, 1), 0);
}

/* Long after a change only recent values are there to describe it. */
static void test_long_after(void **state)
{
	struct random random = { 13 };
	struct change c;
	struct change_report r;

	(void)state;
	begin(&c, &random, CHANGE_BASELINE_MAX, 1e4);
	(void)feed(&c, &random, 50, 0, 1);
	for (size_t i = 0; i < 2000; i++)
		(void)change_add(&c, 5 + normal(&random));
	change_report(&c, &r);
	assert_true(r.alarm && isfinite(r.evidence));
	assert_int_equal(r.kind, CHANGE_UP);
	assert_int_equal(r.n_before, CHANGE_BASELINE_MAX);
	assert_int_equal(r.n_after, CHANGE_RECENT_MAX);
	assert_true(fabs(r.level_after - 5) < 0.5);
}

static void test_refused(void **state)
{
	double base[CHANGE_BASELINE_MAX + 1] = { 0 };
	struct change c;

	(void)state;
	assert_int_equal(change_init(&c, base, 0, 10, 0), -EINVAL);
	assert_int_equal(change_init(&c, base, CHANGE_BASELINE_MAX + 1, 10, 0), -EINVAL);
	assert_int_equal(change_init(&c, base, 5, 0.5, 0), -EINVAL);
	assert_int_equal(change_init(&c, base, 5, NAN, 0), -EINVAL);
	assert_int_equal(change_init(&c, base, 5, INFINITY, 0), -EINVAL);
	base[2] = NAN;
	assert_int_equal(change_init(&c, base, 5, 10, 0), -ERANGE);
	base[2] = INFINITY;
	assert_int_equal(change_init(&c, base, 5, 10, 0), -ERANGE);
	base[2] = 1;
	assert_int_equal(change_init(&c, base, 5, 1000, 0), 0);
	assert_int_equal(change_add(&c, 1), 0);
	assert_int_equal(change_add(&c, NAN), -ERANGE);
	assert_int_equal(change_add(&c, -INFINITY), -ERANGE);
	assert_int_equal(c.n, 1);
}

static void test_same_seed(void **state)
{
	double base[20] = { 0 };
	struct change a, b, other;
	int differs = 0;

	(void)state;
	assert_int_equal(change_init(&a, base, 20, 1e9, 5), 0);
	assert_int_equal(change_init(&b, base, 20, 1e9, 5), 0);
	assert_int_equal(change_init(&other, base, 20, 1e9, 6), 0);
	for (size_t i = 0; i < 50; i++) {
		(void)change_add(&a, 0);
		(void)change_add(&b, 0);
		(void)change_add(&other, 0);
		assert_true(evidence_of(&a) == evidence_of(&b));
		differs += evidence_of(&a) != evidence_of(&other);
	}
	assert_true(differs > 0);
}

static void test_blocks(void **state)
{
	struct change_block b;
	double median = 77;

	(void)state;
	assert_int_equal(change_block_init(&b, 0), -EINVAL);
	assert_int_equal(change_block_init(&b, CHANGE_BLOCK_MAX + 1), -EINVAL);
	assert_int_equal(change_block_init(&b, 3), 0);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(change_block_add(&b, 10 * i + 5, &median), 0);
		assert_int_equal(change_block_add(&b, 1000, &median), 0);
		assert_int_equal(change_block_add(&b, -3, &median), 1);
		assert_true(median == 10 * i + 5);
	}
	assert_int_equal(change_block_init(&b, 1), 0);
	assert_int_equal(change_block_add(&b, 4, &median), 1);
	assert_true(median == 4);
}

static void test_bar(void **state)
{
	(void)state;
	assert_true(change_bar(24, 10, 365) == 87600);
	assert_true(change_bar(0, 10, 365) == 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mean_is_exact), cmocka_unit_test(test_mean_with_ties),
		cmocka_unit_test(test_invariant),     cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_constant),      cmocka_unit_test(test_smallest_baseline),
		cmocka_unit_test(test_restart),       cmocka_unit_test(test_long_after),
		cmocka_unit_test(test_refused),       cmocka_unit_test(test_same_seed),
		cmocka_unit_test(test_blocks),        cmocka_unit_test(test_bar),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
