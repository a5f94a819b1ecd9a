/* SPDX-License-Identifier: MIT */
/*
 * Plans against what the process itself needs in simulation, and in the right order everywhere.
 */
#include "unit.h"

#include <math.h>

#include "stats/planning.h"

static double blocks(double sd, double alpha, double k, double effect)
{
	struct planning p = { sd, alpha, k };
	double n = NAN;

	assert_int_equal(planning_blocks(&p, effect, &n), 0);
	return n;
}

static double blocks_80(double sd, double alpha, double k, double effect)
{
	struct planning p = { sd, alpha, k };
	double n = NAN;

	assert_int_equal(planning_blocks_80(&p, effect, &n), 0);
	return n;
}

static double equivalence(double sd, double alpha, double k, double region)
{
	struct planning p = { sd, alpha, k };
	double n = NAN;

	assert_int_equal(planning_equivalence(&p, region, &n), 0);
	return n;
}

static void assert_near(const char *what, double effect, double found, double wanted, double within)
{
	if (!(fabs(found / wanted - 1) <= within))
		fail_msg("%s at %g: %g blocks planned, %g needed", what, effect, found, wanted);
}

/* The table of the project's paper on the primary process: effect at the sd of one sample. */
static void test_table(void **state)
{
	static const struct {
		double effect, sd, k, blocks;
	} rows[] = { { 0.01, 0.02, 1, 81 },  { 0.02, 0.02, 1, 24 },  { 0.03, 0.02, 1, 14.3 },
		     { 0.05, 0.02, 1, 9.4 }, { 0.05, 0.092, 1, 70 }, { 0.03, 0.02, 6, 18 },
		     { 0.03, 0.02, 24, 21 } };

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(rows); i++)
		assert_near("table", rows[i].effect,
			    blocks(planning_sd(rows[i].sd, PLANNING_AB), 0.05, rows[i].k,
				   rows[i].effect),
			    rows[i].blocks, 0.2);
	assert_near("equivalence", 0.01, equivalence(0.0283, 0.05, 1, 0.01), 108, 0.2);
	assert_near("equivalence", 0.05, equivalence(0.13, 0.05, 1, 0.05), 92, 0.2);
}

/*
 * 8000 runs a row of the process as it is defined, normal d, until e >= K / alpha: mean blocks, the 80 %
 * point, and mean blocks until both one-sided processes have said "equivalent" without any effect.
 */
static void test_simulated(void **state)
{
	static const struct {
		double delta, bar, mean, upper, both;
	} rows[] = {
		{ 0.2, 20, 267.4, 418, 348.7 },   { 0.2, 480, 468.0, 658, 596.6 },
		{ 0.3, 20, 116.1, 179, 149.7 },   { 0.3, 20000, 299.4, 401, 373.0 },
		{ 0.3535, 20, 83.7, 128, 104.9 }, { 0.3535, 120, 119.7, 174, 150.6 },
		{ 0.5, 20, 43.0, 64, 52.2 },      { 0.7, 20, 24.4, 34, 28.0 },
		{ 0.7, 120, 34.5, 46, 40.3 },     { 0.7, 20000, 62.2, 78, 72.3 },
		{ 1.045, 20, 14.5, 19, 15.2 },    { 1.045, 120, 20.4, 25, 22.0 },
		{ 1.045, 480, 25.2, 30, 27.0 },   { 1.045, 20000, 36.8, 43, 39.9 },
		{ 1.5, 20, 10.4, 13, 10.2 },      { 1.5, 480, 18.1, 22, 18.7 },
		{ 2.5, 20, 8.3, 8, 7.3 },         { 2.5, 20000, 19.7, 19, 19.2 },
		{ 5, 20, 8.0, 8, 7.0 },           { 5, 480, 13.8, 14, 12.5 },
	};

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		double delta = rows[i].delta, k = rows[i].bar * 0.05;

		assert_near("mean", delta, blocks(1, 0.05, k, delta), rows[i].mean, 0.1);
		assert_near("80 %", delta, blocks_80(1, 0.05, k, delta), rows[i].upper, 0.2);
		assert_near("both", delta, equivalence(1, 0.05, k, delta), rows[i].both, 0.15);
	}
}

static void test_monotone_in_effect(void **state)
{
	static const double alphas[] = { 0.2, 0.05, 1e-3, 1e-6 };

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(alphas); i++) {
		double before = INFINITY, before_80 = INFINITY, before_both = INFINITY;

		for (double effect = 0.02; effect < 12; effect *= 1.03) {
			double n = blocks(1, alphas[i], 1, effect);
			double n_80 = blocks_80(1, alphas[i], 1, effect);
			double both = equivalence(1, alphas[i], 1, effect);

			assert_true(n <= before && n_80 <= before_80 && both <= before_both);
			assert_true(n <= n_80);
			/* Only the ratio of effect and sd counts, and no sign. */
			assert_true(fabs(blocks(0.01, alphas[i], 1, -0.01 * effect) / n - 1) <
					    1e-6 ||
				    isinf(n));
			before = n;
			before_80 = n_80;
			before_both = both;
		}
	}
}

static void test_monotone_in_hypotheses(void **state)
{
	(void)state;
	for (double effect = 0.05; effect < 12; effect *= 1.5) {
		double before = 0, before_80 = 0, before_both = 0;

		for (double k = 1; k < 1e5; k *= 1.4) {
			double n = blocks(1, 0.05, k, effect);
			double n_80 = blocks_80(1, 0.05, k, effect);
			double both = equivalence(1, 0.05, k, effect);

			assert_true(n >= before && n_80 >= before_80 && both >= before_both);
			/* A smaller alpha is as good as more hypotheses. */
			assert_true(isinf(n) ||
				    fabs(blocks(1, 0.05 / k, 1, effect) / n - 1) < 1e-9);
			before = n;
			before_80 = n_80;
			before_both = both;
		}
	}
}

static void test_detectable(void **state)
{
	struct planning p = { 0.0283, 0.05, 1 };
	double before = INFINITY, effect;

	(void)state;
	for (double n = 10; n < 5000; n *= 1.7) {
		assert_int_equal(planning_detectable(&p, n, &effect), 0);
		assert_true(effect < before);
		assert_near("detectable", effect, blocks_80(p.sd, 0.05, 1, effect), n, 0.001);
		before = effect;
	}
	/* In the table 1 % at 2 % is found within 200 blocks in 96 of 100 runs. */
	assert_int_equal(planning_detectable(&p, 200, &effect), 0);
	assert_true(effect > 0.005 && effect < 0.01);
	assert_int_equal(planning_detectable(&p, 3, &effect), 0);
	assert_true(isinf(effect));
	assert_int_equal(planning_detectable(&p, 0, &effect), 0);
	assert_true(isinf(effect));
	p.sd = 0;
	assert_int_equal(planning_detectable(&p, 100, &effect), 0);
	assert_true(effect == 0);
}

static void test_edges(void **state)
{
	(void)state;
	assert_true(isinf(blocks(0.02, 0.05, 1, 0)));
	assert_true(isinf(blocks(0, 0.05, 1, 0)));
	assert_true(isinf(equivalence(0.02, 0.05, 1, 0)));
	assert_true(isinf(blocks(1, 0.05, 1, 1e-9)));
	assert_near("no spread", 0.01, blocks(0, 0.05, 1, 0.01), 8, 0.1);
	assert_near("all agree", 1e9, blocks(1e-9, 0.05, 1, 1e9), 8, 0.1);
	assert_true(planning_sd(0.02, PLANNING_ABBA) == 0.02);
	assert_near("AB", 0.02, planning_sd(0.02, PLANNING_AB), 0.02 * sqrt(2), 1e-12);
}

static void test_refused(void **state)
{
	static const struct planning bad[] = {
		{ -1, 0.05, 1 }, { NAN, 0.05, 1 }, { INFINITY, 0.05, 1 }, { 1, 0, 1 },
		{ 1, 0.3, 1 },   { 1, NAN, 1 },    { 1, 0.05, 0.5 },      { 1, 0.05, INFINITY },
	};
	static const struct planning good = { 1, 0.05, 1 };
	double n = 77;

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
		assert_int_equal(planning_blocks(&bad[i], 1, &n), -EINVAL);
		assert_int_equal(planning_blocks_80(&bad[i], 1, &n), -EINVAL);
		assert_int_equal(planning_equivalence(&bad[i], 1, &n), -EINVAL);
		assert_int_equal(planning_detectable(&bad[i], 10, &n), -EINVAL);
	}
	assert_int_equal(planning_blocks(&good, NAN, &n), -EINVAL);
	assert_int_equal(planning_blocks_80(&good, INFINITY, &n), -EINVAL);
	assert_int_equal(planning_equivalence(&good, -1, &n), -EINVAL);
	assert_int_equal(planning_detectable(&good, -1, &n), -EINVAL);
	assert_int_equal(planning_detectable(&good, INFINITY, &n), -EINVAL);
	assert_true(n == 77);
}

static void test_time(void **state)
{
	const uint64_t ms = 1000000;

	(void)state;
	/* 14.3 blocks are 15: two arms of 200 ms and 10 ms before, 150 ms to settle. */
	assert_int_equal(planning_time(14.3, 2, PLANNING_AB, 200 * ms, 10 * ms, 150 * ms),
			 10800 * ms);
	assert_int_equal(planning_time(14.3, 2, PLANNING_ABBA, 200 * ms, 10 * ms, 150 * ms),
			 21600 * ms);
	assert_int_equal(planning_time(0, 2, PLANNING_AB, 200 * ms, 0, 0), 0);
	assert_true(planning_time(INFINITY, 2, PLANNING_AB, 1, 0, 0) == UINT64_MAX);
	assert_true(planning_time(INFINITY, 2, PLANNING_AB, 0, 0, 0) == UINT64_MAX);
	assert_true(planning_time(1e9, 2, PLANNING_AB, UINT64_MAX, UINT64_MAX, 0) == UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_simulated),
		cmocka_unit_test(test_monotone_in_effect),
		cmocka_unit_test(test_monotone_in_hypotheses),
		cmocka_unit_test(test_detectable),
		cmocka_unit_test(test_edges),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
