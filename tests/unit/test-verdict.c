/* SPDX-License-Identifier: MIT */
/*
 * Many hypotheses by hand, the t process against its formula, bounds and words.
 */
#include "unit.h"

#include <math.h>
#include <stdbool.h>

#include "stats/ebh.h"
#include "stats/t-bet.h"
#include "stats/verdict.h"
#include "util/random.h"

static void assert_near(double a, double b, double tolerance)
{
	if (!(a == b || fabs(a - b) <= tolerance))
		fail_msg("%.17g is not %.17g", a, b);
}

static void assert_ebh(const double *e, size_t n, const char *rejected, const double *needed)
{
	double log_e[8];
	bool ret[8];
	size_t k = 0;

	for (size_t i = 0; i < n; i++) {
		log_e[i] = log(e[i]);
		k += rejected[i] == 'r';
	}
	assert_int_equal(ebh(log_e, n, 0.05, NULL), k);
	assert_int_equal(ebh(log_e, n, 0.05, ret), k);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(ret[i], rejected[i] == 'r');
		assert_near(exp(ebh_needed(log_e, n, 0.05, i)), needed[i], 1e-9);
	}
}

/* K = 4 at 0.05: one alone needs 80, two 40 each, three 26.67, four 20. */
static void test_ebh_by_hand(void **state)
{
	(void)state;
	assert_ebh((double[]){ 20.1 }, 1, "r", (double[]){ 20 });
	assert_ebh((double[]){ 19.9 }, 1, "-", (double[]){ 20 });
	/* At e >= 1 / alpha alone of four: not yet. */
	assert_ebh((double[]){ 79, 1, 1, 1 }, 4, "----", (double[]){ 80, 40, 40, 40 });
	assert_ebh((double[]){ 1, 81, 1, 1 }, 4, "-r--", (double[]){ 40, 80, 40, 40 });
	assert_ebh((double[]){ 41, 1, 1, 41 }, 4, "r--r", (double[]){ 40, 80. / 3, 80. / 3, 40 });
	assert_ebh((double[]){ 39, 27, 27, 0 }, 4, "rrr-",
		   (double[]){ 80. / 3, 80. / 3, 80. / 3, 20 });
	/* A strong one does not carry weak ones along, but lowers what they need. */
	assert_ebh((double[]){ 1e300, 39, 1, 1 }, 4, "r---",
		   (double[]){ 80, 40, 80. / 3, 80. / 3 });
	assert_ebh((double[]){ 21, 21, 21, 21 }, 4, "rrrr", (double[]){ 20, 20, 20, 20 });
	/* Those with 30 help each other. */
	assert_ebh((double[]){ 30, 30, 26, 0 }, 4, "----", (double[]){ 80, 80, 80. / 3, 20 });
	assert_ebh((double[]){ INFINITY, 0, 0 }, 3, "r--", (double[]){ 60, 30, 30 });
	assert_int_equal(ebh(NULL, 0, 0.05, NULL), 0);
	assert_near(ebh_interval_alpha(2, 8, 0.05), 0.0125, 1e-15);
	assert_near(ebh_interval_alpha(8, 8, 0.05), 0.05, 1e-15);
	assert_near(ebh_interval_alpha(0, 8, 0.05), 0.00625, 1e-15);
}

/* Against trying every k, and: what is needed is just enough. */
static void test_ebh_against_every_k(void **state)
{
	struct random random = { 53 };

	(void)state;
	for (int round = 0; round < 3000; round++) {
		size_t n = 1 + (size_t)random_below(&random, 12), best = 0;
		double log_e[12];

		for (size_t i = 0; i < n; i++)
			log_e[i] = (double)random_below(&random, 50) / 10;
		for (size_t k = 1; k <= n; k++) {
			size_t reached = 0;

			for (size_t i = 0; i < n; i++)
				reached += log_e[i] >= log((double)n / (0.1 * (double)k));
			best = reached >= k ? k : best;
		}
		assert_int_equal(ebh(log_e, n, 0.1, NULL), best);
		for (size_t i = 0; i < n; i++) {
			double mine = log_e[i], needed = ebh_needed(log_e, n, 0.1, i);
			bool rejected[12];

			log_e[i] = needed;
			(void)ebh(log_e, n, 0.1, rejected);
			assert_true(rejected[i]);
			log_e[i] = needed - 1e-9;
			(void)ebh(log_e, n, 0.1, rejected);
			assert_false(rejected[i]);
			log_e[i] = mine;
		}
	}
}

static void test_t_against_its_formula(void **state)
{
	struct random random = { 59 };
	struct t_bet t = { 0 };
	double sum = 0, squares = 0;

	(void)state;
	for (int n = 1; n <= 200; n++) {
		double d = (double)random_below(&random, 1000) / 1000 - 0.3, mean, variance, t2;

		assert_int_equal(t_bet_add(&t, d), 0);
		sum += d;
		squares += d * d;
		mean = sum / n;
		variance = (squares - n * mean * mean) / (n - 1);
		t2 = n * mean * mean / variance;
		if (n < 4)
			assert_near(t_bet_log_e(&t), 0, 0);
		else
			assert_near(t_bet_log_e(&t),
				    -log(1 + n) / 2. + n / 2. *
							       (log(1 + t2 / (n - 1)) -
								log(1 + t2 / ((n - 1.) * (1 + n)))),
				    1e-9);
	}
	assert_int_equal(t_bet_add(&t, NAN), -EINVAL);
	assert_int_equal(t.n, 200);
}

static void test_t_without_noise(void **state)
{
	static const double values[] = { 0, 1, -1e-200, 1e200 };

	(void)state;
	for (size_t v = 0; v < ELEMENTSOF(values); v++) {
		struct t_bet t = { 0 };

		for (int i = 0; i < 10; i++)
			assert_int_equal(t_bet_add(&t, values[v]), 0);
		assert_near(t_bet_log_e(&t), v ? 4.5 * log(11) : -0.5 * log(11), 1e-12);
	}
}

#define BLOCKS 300

static void test_equivalence_and_bounds(void **state)
{
	static struct rank_node nodes[4][BLOCKS];
	struct bound both[2], worse, far;
	struct random random = { 61 };
	double most;
	int n;

	(void)state;
	equivalence_init(both, 0.5, 0.05, (struct rank_node *[]){ nodes[0], nodes[1] }, BLOCKS);
	bound_init(&worse, 0.5, BETTING_DOWN, 0.05, nodes[2], BLOCKS);
	bound_init(&far, -0.5, BETTING_DOWN, 0.05, nodes[3], BLOCKS);
	for (n = 0; n < BLOCKS && !equivalence_holds(both); n++) {
		double d = (double)random_below(&random, 2001) / 1000 - 1;

		assert_int_equal(equivalence_add(both, d), 0);
		assert_int_equal(bound_add(&worse, d), 0);
		assert_int_equal(bound_add(&far, d), 0);
		/* "Not worse" is one half of it. */
		assert_int_equal(worse.reached, both[1].reached);
	}
	assert_in_range(n, 10, 60);
	assert_false(far.reached);
	/* What is reached stays so. */
	most = both[0].most;
	assert_int_equal(bound_add(&both[0], -1000), 0);
	assert_int_equal(bound_add(&both[0], NAN), -EINVAL);
	assert_true(both[0].reached && both[0].most == most);
	assert_int_equal(equivalence_add(both, NAN), -EINVAL);
	/* Full: neither changes. */
	equivalence_init(both, 0.5, 0.05, (struct rank_node *[]){ nodes[0], nodes[1] }, 1);
	assert_int_equal(equivalence_add(both, 1), 0);
	assert_int_equal(equivalence_add(both, 1), -ENOBUFS);
	assert_int_equal(both[0].process.sizes.n, 1);
	assert_int_equal(both[1].process.sizes.n, 1);
}

static void test_every_verdict(void **state)
{
	static const struct {
		struct evidence e;
		enum verdict verdict;
		const char *words;
	} cases[] = {
		{ { 5, -9, .rejected = true, .interval = INTERVAL_ALL, .region = 1 },
		  VERDICT_SLOWER,
		  "slower" },
		{ { -9, 5, .rejected = true, .interval = INTERVAL_ALL, .region = 1 },
		  VERDICT_FASTER,
		  "faster" },
		{ { 5, -9, .rejected = true, .higher_is_better = true,
		    .interval = { .5, 2, .5, false } },
		  VERDICT_FASTER,
		  "faster" },
		{ { -9, 5, .rejected = true, .higher_is_better = true,
		    .interval = { -2, -1.5, -2, false } },
		  VERDICT_SLOWER,
		  "slower" },
		{ { 5, -9, .rejected = true, .interval = { .1, 1, .1, false }, .region = 1 },
		  VERDICT_SLOWER_NEGLIGIBLE,
		  "slower, negligible" },
		{ { 5, -9, .rejected = true, .interval = { .1, 1.1, .1, false }, .region = 1 },
		  VERDICT_SLOWER,
		  "slower" },
		{ { -9, 5, .rejected = true, .equivalent = true, .interval = INTERVAL_ALL },
		  VERDICT_FASTER_NEGLIGIBLE,
		  "faster, negligible" },
		{ { 1, 2, .equivalent = true, .interval = INTERVAL_ALL, .region = 1 },
		  VERDICT_EQUIVALENT,
		  "equivalent" },
		{ { 1, 2, .interval = { -1, 1, -1, false }, .region = 1 },
		  VERDICT_EQUIVALENT,
		  "equivalent" },
		{ { 1, 2, .interval = { -1, 1.1, -1, false }, .region = 1 },
		  VERDICT_UNDECIDED,
		  "undecided" },
		{ { 1, 2, .interval = { 0, 0, 0, false }, .region = 0 },
		  VERDICT_UNDECIDED,
		  "undecided" },
		{ { 1, 2, .interval = { 0, 0, 0, true }, .region = 1 },
		  VERDICT_UNDECIDED,
		  "undecided" },
	};

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		assert_int_equal(verdict_of(&cases[i].e), cases[i].verdict);
		assert_string_equal(verdict_to_string(cases[i].verdict), cases[i].words);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ebh_by_hand),
		cmocka_unit_test(test_ebh_against_every_k),
		cmocka_unit_test(test_t_against_its_formula),
		cmocka_unit_test(test_t_without_noise),
		cmocka_unit_test(test_equivalence_and_bounds),
		cmocka_unit_test(test_every_verdict),
	};

	return cmocka_run_group_tests_name("verdict", tests, NULL, NULL);
}
