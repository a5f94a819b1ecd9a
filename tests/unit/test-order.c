/* SPDX-License-Identifier: MIT */
/*
 * The order of classes: evidence exact, decisions those of e-BH, by brute force.
 */
#include "unit.h"

#include <math.h>

#include "stats/order.h"
#include "stats/robust.h"
#include "util/random.h"

/* Two classes, the second dearer in @k super-blocks and the first in @others. */
static void make_two(struct order *o, unsigned k, unsigned others)
{
	assert_int_equal(order_init(o, 2, NULL), 0);
	for (unsigned i = 0; i < k + others; i++)
		assert_int_equal(order_add(o, (double[]){ 1, i < k ? 2 : 0 }), 0);
}

static double evidence_of(unsigned k, unsigned others)
{
	struct order o;
	struct order_pair p;

	make_two(&o, k, others);
	order_pair(&o, 0, 1, &p);
	assert_int_equal(p.second_dearer, k);
	assert_int_equal(p.first_dearer, others);
	return exp(p.ln_e);
}

static void test_refused(void **state)
{
	struct order o;
	struct order_pair p;

	(void)state;
	assert_int_equal(order_init(&o, 0, NULL), -EINVAL);
	assert_int_equal(order_init(&o, ORDER_CLASSES_MAX + 1, NULL), -EINVAL);
	assert_int_equal(order_init(&o, 2, NULL), 0);
	assert_int_equal(order_add(&o, (double[]){ 1, INFINITY }), -ERANGE);
	assert_int_equal(order_add(&o, (double[]){ -INFINITY, 1 }), -ERANGE);
	assert_int_equal(o.blocks, 0);
	order_pair(&o, 0, 1, &p);
	assert_int_equal(p.first_dearer + p.second_dearer + p.ties, 0);
	assert_int_equal(p.leaning, ORDER_NOT_DISTINGUISHABLE);
	assert_int_equal(order_relation(&o, 0, 1, order_bar(&o, 0.05, 0)),
			 ORDER_NOT_DISTINGUISHABLE);
}

static void test_one_class(void **state)
{
	struct order o;
	struct order_summary s;
	const double rank = 0;

	(void)state;
	assert_int_equal(order_init(&o, 1, NULL), 0);
	assert_int_equal(order_add(&o, (double[]){ 3 }), 0);
	assert_int_equal(order_hypotheses(&o), 0);
	assert_true(isinf(order_bar(&o, 0.05, 5)));
	order_summarize(&o, &rank, order_bar(&o, 0.05, 5), &s);
	assert_int_equal(s.nothing_expected + s.undecided + s.agree + s.inverted, 0);
}

/*
 * Over all sequences of fair signs the two processes of a pair have mean 1 each; their mean is that of
 * Krichevsky and Trofimov, so the larger one's half lies between half of that and all of it.
 */
static void test_evidence(void **state)
{
	(void)state;
	for (unsigned m = 1; m <= 60; m++) {
		double mean = 0;

		for (unsigned k = 0; k <= m; k++) {
			double kt = exp(m * M_LN2 + lgamma(k + 0.5) + lgamma(m - k + 0.5) -
					lgamma(m + 1) - 2 * lgamma(0.5));
			double e = evidence_of(k, m - k);

			assert_true(e <= kt * (1 + 1e-9));
			assert_true(e >= kt / 2 * (1 - 1e-9));
			if (2 * k == m)
				assert_true(fabs(e / kt - 0.5) < 1e-9);
			/* All on one side: the other process is all but ruined. */
			if (k == m && m >= 12)
				assert_true(e > 0.999 * kt);
			mean += e *
				exp(lgamma(m + 1) - lgamma(k + 1) - lgamma(m - k + 1) - m * M_LN2);
		}
		assert_true(mean <= 1 + 1e-9);
	}
}

/* A step later the mean over both signs is what it was, for the process that bets on one of them. */
static void test_fair(void **state)
{
	(void)state;
	for (unsigned k = 30; k < 60; k++)
		for (unsigned others = 0; others < 20; others++) {
			double now = evidence_of(k, others);
			double up = evidence_of(k + 1, others), down = evidence_of(k, others + 1);

			assert_true(fabs((up + down) / 2 / now - 1) < 1e-9);
		}
}

static void test_large_counts(void **state)
{
	struct order o;
	struct order_pair p;

	(void)state;
	make_two(&o, 0, 0);
	o.dearer[0][0] = 1000000;
	o.dearer[0][1] = 1000000;
	order_pair(&o, 0, 1, &p);
	assert_true(isfinite(p.ln_e) && p.ln_e < -0.69);
	assert_int_equal(p.leaning, ORDER_NOT_DISTINGUISHABLE);
	o.dearer[0][0] = UINT32_MAX;
	o.dearer[0][1] = 0;
	order_pair(&o, 0, 1, &p);
	assert_true(isfinite(p.ln_e) && p.ln_e > 1e9);
	assert_int_equal(p.leaning, ORDER_FIRST_DEARER);
}

/* Counts against a plain recount, with ties and missing classes. */
static void test_counts(void **state)
{
	enum { CLASSES = 9, BLOCKS = 50 };
	struct random random = { 5 };
	double values[BLOCKS][CLASSES];
	struct order o;

	(void)state;
	assert_int_equal(order_init(&o, CLASSES, NULL), 0);
	for (size_t b = 0; b < BLOCKS; b++) {
		for (size_t i = 0; i < CLASSES; i++) {
			uint64_t v = random_below(&random, 7);

			values[b][i] = v == 6 ? NAN : (double)v;
		}
		assert_int_equal(order_add(&o, values[b]), 0);
	}
	assert_int_equal(o.blocks, BLOCKS);
	for (size_t i = 0; i < CLASSES; i++)
		for (size_t j = 0; j < CLASSES; j++) {
			uint64_t first = 0, second = 0, ties = 0;
			struct order_pair p, back;

			if (i == j)
				continue;
			for (size_t b = 0; b < BLOCKS; b++) {
				first += values[b][i] > values[b][j];
				second += values[b][i] < values[b][j];
				ties += values[b][i] == values[b][j];
			}
			order_pair(&o, i, j, &p);
			order_pair(&o, j, i, &back);
			assert_int_equal(p.first_dearer, first);
			assert_int_equal(p.second_dearer, second);
			assert_int_equal(p.ties, ties);
			assert_int_equal(back.second_dearer, first);
			assert_true(p.ln_e == back.ln_e);
		}
}

/* e-BH as it is defined: the largest k with the k-th largest e >= K / (alpha k). */
static double plain_bar(const struct order *o, double alpha, size_t others)
{
	size_t n = order_hypotheses(o), at = 0, best = 1;
	double e[ORDER_PAIRS_MAX];

	for (size_t j = 1; j < o->n_classes; j++)
		for (size_t i = 0; i < j; i++) {
			struct order_pair p;

			order_pair(o, i, j, &p);
			e[at++] = p.ln_e;
		}
	robust_sort(e, n);
	for (size_t k = 1; k <= n; k++)
		if (e[n - k] >= log((double)(n + others) / (alpha * (double)k)))
			best = k;
	return log((double)(n + others) / (alpha * (double)best));
}

static void test_bar(void **state)
{
	struct random random = { 11 };

	(void)state;
	for (size_t run = 0; run < 300; run++) {
		size_t n = 2 + random_below(&random, 12), others = random_below(&random, 20);
		uint64_t noise = 1 + random_below(&random, 30);
		struct order o;

		assert_int_equal(order_init(&o, n, NULL), 0);
		for (size_t b = 0; b < 30; b++) {
			double values[ORDER_CLASSES_MAX];

			for (size_t i = 0; i < n; i++)
				values[i] = (double)(i + random_below(&random, noise));
			assert_int_equal(order_add(&o, values), 0);
			assert_true(fabs(order_bar(&o, 0.05, others) -
					 plain_bar(&o, 0.05, others)) < 1e-12);
		}
	}
}

static void test_most_classes(void **state)
{
	double values[ORDER_CLASSES_MAX];
	struct order o;
	struct order_summary s;

	(void)state;
	assert_int_equal(order_init(&o, ORDER_CLASSES_MAX, NULL), 0);
	for (size_t i = 0; i < ORDER_CLASSES_MAX; i++)
		values[i] = (double)i;
	for (size_t b = 0; b < 10; b++)
		assert_int_equal(order_add(&o, values), 0);
	/* All pairs lean one way, so each needs only 1 / alpha: ten super-blocks are plenty. */
	order_summarize(&o, values, order_bar(&o, 0.05, 0), &s);
	assert_int_equal(s.agree, ORDER_PAIRS_MAX);
	assert_int_equal(s.inverted + s.undecided + s.nothing_expected, 0);
}

/* Context switches a second of three pairs of a POWER9, with the queue of wakeups on: costs are 1 / v. */
static void test_power9(void **state)
{
	static const double rates[5][3] = { { 269772, 354950, 289174 },
					    { 269692, 354112, 287990 },
					    { 269420, 353290, 288556 },
					    { 269878, 349704, 288812 },
					    { 269702, 350604, 288678 } };
	static const double distance[3] = { 0, 1, 2 };
	static const bool few[3] = { true, false, false };
	struct order o;
	struct order_summary s;
	double bar = INFINITY;

	(void)state;
	assert_int_equal(order_init(&o, 3, few), 0);
	for (size_t b = 0; b < 15; b++) {
		double costs[3];

		for (size_t i = 0; i < 3; i++)
			costs[i] = log(1 / rates[b % 5][i]);
		assert_int_equal(order_add(&o, costs), 0);
		bar = order_bar(&o, 0.05, 0);
		order_summarize(&o, distance, bar, &s);
		if (b == 4)
			assert_int_equal(s.undecided, 3);
	}
	assert_int_equal(s.agree, 1);
	assert_int_equal(s.inverted, 2);
	assert_int_equal(s.nearer, 0);
	assert_true(s.of_pairs);
	assert_int_equal(order_verdict(&o, distance, 0, 1, bar), ORDER_INVERTED);
	assert_int_equal(order_verdict(&o, distance, 1, 0, bar), ORDER_INVERTED);
	assert_int_equal(order_verdict(&o, distance, 2, 0, bar), ORDER_INVERTED);
	assert_int_equal(order_verdict(&o, distance, 1, 2, bar), ORDER_AGREES);
	assert_int_equal(order_verdict(&o, (double[]){ 1, 1, 1 }, 1, 2, bar),
			 ORDER_NOTHING_EXPECTED);
	assert_int_equal(order_relation(&o, 0, 1, bar), ORDER_FIRST_DEARER);
	assert_int_equal(order_relation(&o, 1, 0, bar), ORDER_SECOND_DEARER);
}

static void test_few(void **state)
{
	static const bool few[3] = { false, true, false };
	struct order o;
	struct order_pair p;

	(void)state;
	assert_int_equal(order_init(&o, 3, few), 0);
	order_pair(&o, 0, 1, &p);
	assert_true(p.of_pairs);
	order_pair(&o, 1, 2, &p);
	assert_true(p.of_pairs);
	order_pair(&o, 0, 2, &p);
	assert_false(p.of_pairs);
}

static void test_ties_move_nothing(void **state)
{
	struct order o;

	(void)state;
	make_two(&o, 9, 1);
	for (size_t i = 0; i < 1000; i++)
		assert_int_equal(order_add(&o, (double[]){ -0.0, 0.0 }), 0);
	struct order_pair p;

	order_pair(&o, 0, 1, &p);
	assert_int_equal(p.ties, 1000);
	assert_true(fabs(exp(p.ln_e) - evidence_of(9, 1)) < 1e-12);
}

static void test_needed(void **state)
{
	static const double bars[] = { 0, 3, 4.1, 11.3 };

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(bars); i++)
		for (unsigned n = 0; n <= 60; n++) {
			uint64_t fewest = 0;

			for (unsigned k = n; 2 * k > n && log(evidence_of(k, n - k)) >= bars[i];
			     k--)
				fewest = k;
			assert_int_equal(order_needed(n, bars[i]), fewest);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_one_class),
		cmocka_unit_test(test_evidence),
		cmocka_unit_test(test_fair),
		cmocka_unit_test(test_large_counts),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_bar),
		cmocka_unit_test(test_most_classes),
		cmocka_unit_test(test_power9),
		cmocka_unit_test(test_few),
		cmocka_unit_test(test_ties_move_nothing),
		cmocka_unit_test(test_needed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
