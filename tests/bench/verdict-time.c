/* SPDX-License-Identifier: MIT */
/*
 * The time to a right verdict, against today's way: five runs of 5 s an arm, one arm after the other, and the
 * means compared (by Welch's t test at 5 %, which is more than most do).
 *
 *     verdict-time           simulated machines, as TAP; seeds are fixed
 *     verdict-time blocks    differences d, one a line, from standard input: what the blocks say, as JSON
 *     verdict-time means     five values of A and five of B, one a line: what today's way says, as JSON
 *
 * A sample of 200 ms is a process of its own and takes 270 ms in all; its sd is 2 %. A run of 5 s is one
 * process too, so that it has what varies between processes once: here three quarters of the variance.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stats/betting.h"
#include "stats/interval.h"
#include "stats/verdict.h"
#include "util/random.h"

#define ALPHA   0.05
#define BLOCKS  200
#define BLOCK_S (2 * 0.27)
#define RUNS    5
#define RUN_S   5.25
#define TODAY_S (2 * RUNS * RUN_S)
#define REPEATS 2000
#define PIECES  25 /* windows of 200 ms in 5 s */
#define SD      0.02
#define BETWEEN 0.75 /* of the variance: from process to process */
#define T_8 \
	2.306 /* 0.975 quantile of Student's t, 8 degrees of freedom: fewer are not needed here */

struct machine {
	const char *what;
	double effect, drift; /* of B over A; of the machine, in sd a second */
};

static double uniform(struct random *r)
{
	return ((double)(random_next(r) >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(struct random *r)
{
	return sqrt(-2 * log(uniform(r))) * cos(2 * M_PI * uniform(r));
}

/* Welch's statistic; its degrees of freedom are taken for 8, as both arms have one spread here. */
static int compare_means(const double *a, const double *b, size_t n)
{
	double mean[2] = { 0, 0 }, square[2] = { 0, 0 }, t;

	for (size_t i = 0; i < n; i++) {
		mean[0] += a[i] / (double)n;
		mean[1] += b[i] / (double)n;
	}
	for (size_t i = 0; i < n; i++) {
		square[0] += (a[i] - mean[0]) * (a[i] - mean[0]);
		square[1] += (b[i] - mean[1]) * (b[i] - mean[1]);
	}
	t = (mean[1] - mean[0]) / sqrt((square[0] + square[1]) / (double)(n * (n - 1)));
	return t > T_8 ? 1 : t < -T_8 ? -1 : 0;
}

/* +1: B is dearer, -1: cheaper, 0: nothing is said. */
static int todays_way(const struct machine *m, struct random *r)
{
	double arms[2][RUNS], now = 0;

	for (int arm = 0; arm < 2; arm++) {
		for (int run = 0; run < RUNS; run++) {
			double within = SD * sqrt((1 - BETWEEN) / PIECES),
			       between = SD * sqrt(BETWEEN);

			arms[arm][run] = arm * m->effect + between * normal(r) +
					 within * normal(r) + m->drift * SD * now;
			now += RUN_S;
		}
	}
	return compare_means(arms[0], arms[1], RUNS);
}

/* The same by blocks in random order until e >= 1 / alpha; how many it took to *@ret. */
static int our_way(const struct machine *m, struct random *r, int *ret)
{
	static struct rank_node nodes[BLOCKS];
	struct betting b;

	betting_init(&b, nodes, BLOCKS);
	for (*ret = 1; *ret <= BLOCKS; ++*ret) {
		/* B is second, or first and then without what the machine drifted meanwhile. */
		double order = random_below(r, 2) ? 1 : -1;
		double d = m->effect + SD * (normal(r) - normal(r)) +
			   order * m->drift * SD * BLOCK_S / 2;

		(void)betting_add(&b, d);
		if (betting_log_e(&b, BETTING_PRIMARY, BETTING_BOTH) >= log(1 / ALPHA))
			return betting_log_e(&b, BETTING_PRIMARY, BETTING_UP) >
					       betting_log_e(&b, BETTING_PRIMARY, BETTING_DOWN)
				       ? 1
				       : -1;
	}
	*ret = BLOCKS;
	return 0;
}

/* How often each way says something, and whether that is right; and what our way needs on average. */
static void simulate(const struct machine *m, double said[2], double wrong[2], double *ret_blocks)
{
	struct random r = { 42 };
	int right = m->effect > 0 ? 1 : 0, blocks;

	memset(said, 0, 2 * sizeof(*said));
	memset(wrong, 0, 2 * sizeof(*wrong));
	*ret_blocks = 0;
	for (int i = 0; i < REPEATS; i++) {
		int way[2] = { todays_way(m, &r), our_way(m, &r, &blocks) };

		for (int w = 0; w < 2; w++) {
			said[w] += way[w] != 0;
			wrong[w] += way[w] != 0 && way[w] != right;
		}
		*ret_blocks += blocks;
	}
	for (int w = 0; w < 2; w++) {
		said[w] /= REPEATS;
		wrong[w] /= REPEATS;
	}
	*ret_blocks /= REPEATS;
}

static int judge(int number, bool holds, const char *what)
{
	printf("%s %d - %s\n", holds ? "ok" : "not ok", number, what);
	return !holds;
}

static int simulate_all(void)
{
	static const struct machine machines[] = {
		{ "no effect, a steady machine", 0, 0 },
		{ "no effect, a machine that drifts by 0.1 sd a second", 0, 0.1 },
		{ "3 % dearer, a steady machine", 0.03, 0 },
		{ "3 % dearer, a machine that gets faster by 0.1 sd a second", 0.03, -0.1 },
	};
	double said[4][2], wrong[4][2], blocks[4];
	int bad = 0;

	for (size_t i = 0; i < 4; i++) {
		simulate(&machines[i], said[i], wrong[i], &blocks[i]);
		printf("# %s: today %.0f s, says something in %.3f, wrong in %.3f; blocks %.1f s "
		       "on "
		       "average (%.1f), %.3f, %.3f\n",
		       machines[i].what, TODAY_S, said[i][0], wrong[i][0], blocks[i] * BLOCK_S,
		       blocks[i], said[i][1], wrong[i][1]);
	}
	/* 4.6 standard errors of 2000 runs at 5 %: 0.023. */
	bad += judge(1, wrong[0][1] <= ALPHA && wrong[1][1] <= ALPHA,
		     "blocks are wrong in 5 % at most, drift or not");
	bad += judge(2, wrong[1][0] > 0.5, "today's way is fooled by drift");
	bad += judge(3,
		     said[2][1] > 0.99 && wrong[2][1] < 0.01 && said[3][1] > 0.99 &&
			     wrong[3][1] < 0.01,
		     "blocks find 3 %, drift or not");
	bad += judge(4, blocks[2] * BLOCK_S < TODAY_S / 4, "in a quarter of the time");
	bad += judge(5, wrong[3][0] > 0.1 && said[3][0] - wrong[3][0] < 0.5,
		     "where today's way misses it, or says the opposite");
	puts("1..5");
	return bad > 0;
}

static size_t read_values(double *values, size_t max)
{
	size_t n = 0;

	while (n < max && scanf("%lf", &values[n]) == 1)
		n++;
	return n;
}

static int say_blocks(void)
{
	static struct rank_node nodes[BLOCKS], work[2 * BLOCKS];
	static double d[BLOCKS], sorted[BLOCKS];
	struct interval interval = INTERVAL_ALL;
	size_t n = read_values(d, BLOCKS), decided = 0;
	struct betting b;

	betting_init(&b, nodes, BLOCKS);
	for (size_t i = 0; i < n; i++) {
		if (betting_add(&b, d[i]) < 0)
			return 1;
		if (decided == 0 &&
		    betting_log_e(&b, BETTING_PRIMARY, BETTING_BOTH) >= log(1 / ALPHA))
			decided = i + 1;
	}
	interval_find(d, n, ALPHA, INTERVAL_SEQUENCE, &interval, sorted, work);
	printf("{\"blocks\": %zu, \"decided\": %zu, \"ln_e\": %.4f, \"point\": %.6f, \"low\": "
	       "%.6f, "
	       "\"high\": %.6f}\n",
	       n, decided, betting_log_e(&b, BETTING_PRIMARY, BETTING_BOTH), interval.point,
	       fmax(interval.low, -99), fmin(interval.high, 99));
	return 0;
}

static int say_means(void)
{
	double values[2 * RUNS];

	if (read_values(values, 2 * RUNS) != 2 * RUNS)
		return 1;
	printf("{\"says\": %d}\n", compare_means(values, values + RUNS, RUNS));
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "blocks") == 0)
		return say_blocks();
	if (argc == 2 && strcmp(argv[1], "means") == 0)
		return say_means();
	return argc == 1 ? simulate_all() : 2;
}
