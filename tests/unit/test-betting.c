/* SPDX-License-Identifier: MIT */
/*
 * Betting against its definition: all signs enumerated, sums done by hand, and what must not change it.
 */
#include "unit.h"

#include <math.h>
#include <stdbool.h>

#include "stats/betting.h"
#include "util/random.h"

#define MANY 1000000

static const double huber_bets[] = { .05, .1, .2, .35, .5, .7, .9, .99 };
static const double rank_bets[] = { .2, .4, .6, .8, .95, .99 };

static void assert_near(double a, double b, double tolerance)
{
	if (!(fabs(a - b) <= tolerance))
		fail_msg("%.17g is not %.17g", a, b);
}

/* The same with integrals, sorts and products, block by block. */
struct plain {
	double e[BETTING_PRIMARY][2];
};

/* The mean of (2 sin^2)^k (2 cos^2)^l over a quarter of the circle: what KT's weights are uniform on. */
static double plain_sign(unsigned int k, unsigned int l)
{
	const int steps = 1000;
	double sum = 0;

	/* Simpson's rule. */
	for (int i = 0; i <= steps; i++) {
		double angle = M_PI / 4 * (1 + (double)i / steps);
		double weight = i == 0 || i == steps ? 1 : 2 + 2 * (i % 2);

		sum += weight * pow(2 * sin(angle) * sin(angle), k) *
		       pow(2 * cos(angle) * cos(angle), l);
	}
	return sum / 3 / steps;
}

static double plain_grid(const double *d, size_t n, const double *bets, size_t n_bets, bool huber,
			 double side)
{
	double mean = 0;

	for (size_t c = 0; c < n_bets; c++) {
		double e = 1;

		for (size_t i = 0; i < n; i++) {
			double size = fabs(d[i]), below = 0, equal = 0, q = size, u;

			for (size_t j = 0; j <= i; j++) {
				size_t smaller = 0, same = 0, want = 2 * (i + 1) / 3;

				below += fabs(d[j]) < size;
				equal += fabs(d[j]) == size;
				for (size_t k = 0; k <= i; k++) {
					smaller += fabs(d[k]) < fabs(d[j]);
					same += fabs(d[k]) == fabs(d[j]);
				}
				if (smaller <= want && want < smaller + same)
					q = fabs(d[j]);
			}
			u = huber ? (size < q ? size / q : 1)
				  : (below + equal / 2) / (double)(i + 1);
			if (size > 0)
				e *= 1 + side * (d[i] > 0 ? 1 : -1) * bets[c] * u;
		}
		mean += e / (double)n_bets;
	}
	return mean;
}

static double plain_e(const double *d, size_t n, enum betting_part part, enum betting_side side)
{
	double sum = 0, sign = side == BETTING_UP ? 1 : -1;
	unsigned int count[2] = { 0, 0 };

	if (side == BETTING_BOTH)
		return (plain_e(d, n, part, BETTING_UP) + plain_e(d, n, part, BETTING_DOWN)) / 2;
	switch (part) {
	case BETTING_SIGN:
		for (size_t i = 0; i < n; i++) {
			count[0] += d[i] * sign > 0;
			count[1] += d[i] * sign < 0;
		}
		return plain_sign(count[0], count[1]);
	case BETTING_HUBER:
		return plain_grid(d, n, huber_bets, ELEMENTSOF(huber_bets), true, sign);
	case BETTING_RANK:
		return plain_grid(d, n, rank_bets, ELEMENTSOF(rank_bets), false, sign);
	default:
		for (enum betting_part p = 0; p < BETTING_PRIMARY; p++)
			sum += plain_e(d, n, p, side) / BETTING_PRIMARY;
		return sum;
	}
}

/* Sizes with and without ties and zeros. */
static const double sizes[][10] = {
	{ 3, 1, 4, 1.5, 9, 2, 6, 5, 3.5, 8 },
	{ 2, 1, 2, 1, 2, 3, 3, 1, 2, 2 },
	{ 0, 1, 0, 2, 2, 0, 5, 1, 0, 2 },
	{ 0, 0, 0, 0, 0, 0, 1, 0, 0, 2 },
	{ 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 },
	{ 1e-300, 1e300, 1, 1e-300, 1e300, 2, 1e10, 1e-10, 1e300, 3 },
	{ 10, 9, 8, 7, 6, 5, 4, 3, 2, 1 },
};

static void test_every_mean_over_all_signs_is_one(void **state)
{
	const unsigned int n = ELEMENTSOF(sizes[0]);

	(void)state;
	for (size_t s = 0; s < ELEMENTSOF(sizes); s++) {
		double mean[BETTING_PART_MAX][BETTING_SIDE_MAX][10] = { 0 };

		for (unsigned int signs = 0; signs < 1U << n; signs++) {
			struct rank_node nodes[10];
			struct betting b;

			betting_init(&b, nodes, n);
			for (unsigned int i = 0; i < n; i++) {
				double d = signs >> i & 1 ? sizes[s][i] : -sizes[s][i];

				assert_int_equal(betting_add(&b, d), 0);
				for (int p = 0; p < BETTING_PART_MAX; p++)
					for (int side = 0; side < BETTING_SIDE_MAX; side++)
						mean[p][side][i] += exp(betting_log_e(&b, p, side));
			}
		}
		for (int p = 0; p < BETTING_PART_MAX; p++)
			for (int side = 0; side < BETTING_SIDE_MAX; side++)
				for (unsigned int i = 0; i < n; i++)
					assert_near(mean[p][side][i] / (1U << n), 1, 1e-12);
	}
}

/* Ville's inequality, exactly: of all signs of 16 blocks, how many ever reach 1 / alpha. */
static void test_ever_reached_by_alpha_of_all_signs(void **state)
{
	static const double alphas[] = { .2, .1, .05, .01 };
	unsigned int reached[ELEMENTSOF(alphas)] = { 0 };

	(void)state;
	for (unsigned int signs = 0; signs < 1U << 14; signs++) {
		struct rank_node nodes[14];
		double most = 0;
		struct betting b;

		betting_init(&b, nodes, 14);
		for (unsigned int i = 0; i < 14; i++) {
			double size = 1 + i * 7 % 5 + 0.25 * i;

			assert_int_equal(betting_add(&b, signs >> i & 1 ? size : -size), 0);
			most = fmax(most, betting_log_e(&b, BETTING_PRIMARY, BETTING_BOTH));
		}
		for (size_t a = 0; a < ELEMENTSOF(alphas); a++)
			reached[a] += most >= -log(alphas[a]);
	}
	for (size_t a = 0; a < ELEMENTSOF(alphas); a++) {
		assert_true(reached[a] > 0);
		assert_true(reached[a] <= alphas[a] * (1U << 14));
	}
}

/* Random blocks; with ties and zeros where @rounded. */
static void make(struct random *r, double *d, size_t n, bool rounded)
{
	for (size_t i = 0; i < n; i++) {
		d[i] = (double)random_below(r, 2001) - 900;
		if (rounded)
			d[i] = round(d[i] / 300);
	}
}

static void test_as_by_the_definition(void **state)
{
	struct random random = { 7 };

	(void)state;
	for (int round = 0; round < 40; round++) {
		struct rank_node nodes[25];
		double d[25];
		struct betting b;

		make(&random, d, 25, round % 2);
		betting_init(&b, nodes, 25);
		for (size_t n = 1; n <= 25; n++) {
			assert_int_equal(betting_add(&b, d[n - 1]), 0);
			for (int p = 0; p < BETTING_PART_MAX && n % 4 == 1; p++)
				for (int side = 0; side < BETTING_SIDE_MAX; side++)
					assert_near(betting_log_e(&b, p, side),
						    log(plain_e(d, n, p, side)), 1e-9);
		}
	}
}

/* By hand: KT for 6 and 7 equal signs is 231/16 and 429/16; 3 of 4 give 5/8. */
static void test_krichevsky_trofimov(void **state)
{
	(void)state;
	assert_near(exp(betting_sign_log_e(0, 0, BETTING_BOTH)), 1, 1e-15);
	assert_near(exp(betting_sign_log_e(6, 0, BETTING_BOTH)), 14.4375, 1e-12);
	assert_near(exp(betting_sign_log_e(0, 7, BETTING_BOTH)), 26.8125, 1e-12);
	assert_near(exp(betting_sign_log_e(3, 1, BETTING_BOTH)), 0.625, 1e-14);
	for (unsigned int k = 0; k < 60; k += 3)
		for (unsigned int l = 0; l < 60; l += 3) {
			double m = k + l, up = betting_sign_log_e(k, l, BETTING_UP);
			double formula = m * log(2) + lgamma(k + .5) + lgamma(l + .5) -
					 lgamma(m + 1) - 2 * lgamma(.5);

			assert_near(betting_sign_log_e(k, l, BETTING_BOTH), formula, 1e-11);
			assert_near(up, log(plain_sign(k, l)), 1e-6);
			assert_near(up, betting_sign_log_e(l, k, BETTING_DOWN), 0);
			/* The next block is a fair bet. */
			assert_near((exp(betting_sign_log_e(k + 1, l, BETTING_UP) - up) +
				     exp(betting_sign_log_e(k, l + 1, BETTING_UP) - up)) /
					    2,
				    1, 1e-11);
		}
}

static void test_mirrored_and_scaled(void **state)
{
	struct random random = { 11 };

	(void)state;
	for (int round = 0; round < 20; round++) {
		struct rank_node nodes[3][60];
		struct betting b, mirror, scaled;
		double d[60];

		make(&random, d, 60, round % 2);
		betting_init(&b, nodes[0], 60);
		betting_init(&mirror, nodes[1], 60);
		betting_init(&scaled, nodes[2], 60);
		for (int i = 0; i < 60; i++) {
			assert_int_equal(betting_add(&b, d[i]), 0);
			assert_int_equal(betting_add(&mirror, -d[i]), 0);
			assert_int_equal(betting_add(&scaled, 0x1p-200 * d[i]), 0);
		}
		for (int p = 0; p < BETTING_PART_MAX; p++) {
			for (int side = 0; side < BETTING_SIDE_MAX; side++)
				assert_near(betting_log_e(&b, p, side),
					    betting_log_e(&scaled, p, side), 0);
			assert_near(betting_log_e(&b, p, BETTING_UP),
				    betting_log_e(&mirror, p, BETTING_DOWN), 0);
			assert_near(betting_log_e(&b, p, BETTING_BOTH),
				    betting_log_e(&mirror, p, BETTING_BOTH), 1e-12);
		}
	}
}

/*
 * What one-sided tests and intervals rest on: the further down all blocks are moved, the less evidence that
 * they are above 0, in each part, through every tie and zero on the way (in quarters: no rounding).
 */
static void test_evidence_falls_with_the_shift(void **state)
{
	struct random random = { 13 };

	(void)state;
	for (int round = 0; round < 30; round++) {
		double d[30], before[BETTING_PART_MAX] = { INFINITY, INFINITY, INFINITY, INFINITY };

		for (size_t i = 0; i < 30; i++)
			d[i] = (double)random_below(&random, round % 2 ? 12 : 60);
		for (double shift = -3; shift < 64; shift += 0.25) {
			struct rank_node nodes[30];
			struct betting b;

			betting_init(&b, nodes, 30);
			for (size_t i = 0; i < 30; i++)
				assert_int_equal(betting_add(&b, d[i] - shift), 0);
			for (int p = 0; p < BETTING_PART_MAX; p++) {
				double now = betting_log_e(&b, p, BETTING_UP);

				if (now > before[p] + 1e-12)
					fail_msg("part %d rises at shift %g", p, shift);
				before[p] = now;
			}
		}
	}
}

static void test_a_million_blocks(void **state)
{
	struct rank_node *nodes = calloc(MANY, sizeof(*nodes));
	struct random random = { 17 };

	(void)state;
	assert_non_null(nodes);
	for (int kind = 0; kind < 3; kind++) {
		struct betting b;

		betting_init(&b, nodes, MANY);
		for (int i = 0; i < MANY; i++) {
			double size = kind ? 1 : (double)random_next(&random);

			assert_int_equal(betting_add(&b, kind == 1 && i % 2 ? -size : size), 0);
		}
		assert_int_equal(betting_add(&b, 1), -ENOBUFS);
		for (int p = 0; p < BETTING_PART_MAX; p++)
			for (int side = 0; side < BETTING_SIDE_MAX; side++)
				assert_true(isfinite(betting_log_e(&b, p, side)));
		if (kind == 1) {
			/* As many up as down: nothing is won, and the sign mixture is 1/sqrt(pi n / 2). */
			assert_near(betting_log_e(&b, BETTING_SIGN, BETTING_UP),
				    -0.5 * log(M_PI * MANY / 2), 1e-5);
			assert_true(betting_log_e(&b, BETTING_PRIMARY, BETTING_BOTH) < 0);
		} else {
			assert_near(betting_log_e(&b, BETTING_SIGN, BETTING_BOTH),
				    MANY * log(2) - 0.5 * log(M_PI * MANY), 1e-5);
			assert_true(betting_log_e(&b, BETTING_PRIMARY, BETTING_UP) > MANY / 3);
			assert_true(betting_log_e(&b, BETTING_PRIMARY, BETTING_DOWN) < -10);
		}
	}
	free(nodes);
	/* One more up than down: the slowest. Both halves agree with the whole. */
	assert_near(log((exp(betting_sign_log_e(MANY + 1, MANY, BETTING_UP)) +
			 exp(betting_sign_log_e(MANY + 1, MANY, BETTING_DOWN))) /
			2),
		    betting_sign_log_e(MANY + 1, MANY, BETTING_BOTH), 1e-8);
	assert_near(betting_sign_log_e(MANY, MANY + 1, BETTING_UP),
		    betting_sign_log_e(MANY, MANY, BETTING_UP), 2e-3);
}

static void test_what_is_not_finite_is_refused(void **state)
{
	struct rank_node nodes[2];
	struct betting b;

	(void)state;
	betting_init(&b, nodes, 2);
	assert_int_equal(betting_add(&b, NAN), -EINVAL);
	assert_int_equal(betting_add(&b, INFINITY), -EINVAL);
	assert_int_equal(betting_add(&b, 0), 0);
	for (int p = 0; p < BETTING_PART_MAX; p++)
		for (int side = 0; side < BETTING_SIDE_MAX; side++)
			assert_near(betting_log_e(&b, p, side), 0, 1e-15);
	assert_int_equal(betting_add(&b, -1), 0);
	assert_int_equal(betting_add(&b, 1), -ENOBUFS);
	assert_int_equal(b.sizes.n, 2);
}

static void test_ranks_against_counting(void **state)
{
	static struct rank_node nodes[3000];
	static double values[3000];
	struct random random = { 19 };
	struct rank_tree t;

	(void)state;
	rank_tree_init(&t, nodes, ELEMENTSOF(nodes));
	for (uint32_t n = 1; n <= ELEMENTSOF(nodes); n++) {
		double value = values[n - 1] = (double)random_below(&random, 500);
		uint32_t below = 0, up_to = 0, rank;

		/* The second half comes sorted: the worst for a tree that does not balance. */
		if (n > 1500)
			value = values[n - 1] = n;
		assert_int_equal(rank_tree_add(&t, value), 0);
		for (uint32_t i = 0; i < n; i++) {
			below += values[i] < value;
			up_to += values[i] <= value;
		}
		assert_int_equal(rank_tree_below(&t, value), below);
		assert_int_equal(rank_tree_up_to(&t, value), up_to);
		rank = below + (uint32_t)random_below(&random, up_to - below);
		assert_true(rank_tree_at(&t, rank) == value);
	}
	assert_int_equal(rank_tree_add(&t, 1), -ENOBUFS);
	assert_int_equal(rank_tree_below(&t, -1), 0);
	assert_int_equal(rank_tree_up_to(&t, 1e9), 3000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_mean_over_all_signs_is_one),
		cmocka_unit_test(test_ever_reached_by_alpha_of_all_signs),
		cmocka_unit_test(test_as_by_the_definition),
		cmocka_unit_test(test_krichevsky_trofimov),
		cmocka_unit_test(test_mirrored_and_scaled),
		cmocka_unit_test(test_evidence_falls_with_the_shift),
		cmocka_unit_test(test_a_million_blocks),
		cmocka_unit_test(test_what_is_not_finite_is_refused),
		cmocka_unit_test(test_ranks_against_counting),
	};

	return cmocka_run_group_tests_name("betting", tests, NULL, NULL);
}
