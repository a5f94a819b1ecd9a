/* SPDX-License-Identifier: MIT */
/*
 * The interval where one stops, as soon as "no effect" is rejected at 0.05 or after 200 blocks: how often it
 * misses the effect, and how often it ever would if one went on to 200.
 */
#include <math.h>

#include "noise.h"
#include "sim.h"
#include "stats/betting.h"
#include "stats/interval.h"

#include "util/macro.h"

#define BUDGET 200 /* blocks */
#define ALPHA  0.05

enum {
	MISSED,          /* the exact set at the stop */
	MISSED_EVER,     /* at any of 200 looks */
	MISSED_NOW,      /* the exact set by the last e alone, at the stop */
	INTERVAL_MISSED, /* what is reported */
	NARROWER, /* whether what is reported lacks something of the exact set, or holds a rejected 0 */
	OUTSIDE, /* whether the point is outside */
	WIDTH,
	ERROR, /* of the point */
	BLOCKS,
};

/* After @n blocks: "no effect" is rejected, or there are no more. */
static void stop(const double *d, size_t n, double effect, bool rejected, double *values)
{
	static double sorted[BUDGET];
	static struct rank_node nodes[2 * BUDGET];
	struct interval in = INTERVAL_ALL, now = INTERVAL_ALL;

	interval_find(d, n, ALPHA, INTERVAL_SEQUENCE, &in, sorted, nodes);
	interval_find(d, n, ALPHA, INTERVAL_NOW, &now, sorted, nodes);
	values[INTERVAL_MISSED] = in.low > effect || in.high < effect;
	values[NARROWER] = (values[INTERVAL_MISSED] && !values[MISSED]) ||
			   ((now.low > effect || now.high < effect) && !values[MISSED_NOW]) ||
			   (rejected && in.low < 0 && in.high > 0);
	values[OUTSIDE] = in.point < in.low || in.point > in.high || now.point < now.low ||
			  now.point > now.high;
	values[WIDTH] = in.high - in.low;
	values[ERROR] = fabs(in.point - effect);
	values[BLOCKS] = (double)n;
}

static void run(const void *setting, struct random *random, double *values)
{
	static struct rank_node nodes[2][BUDGET];
	const struct noise *noise = setting;
	struct betting betting, truth;
	struct series series;
	double d[BUDGET];

	series_init(&series, noise, random);
	betting_init(&betting, nodes[0], BUDGET);
	betting_init(&truth, nodes[1], BUDGET);
	for (size_t n = 1; n <= BUDGET; n++) {
		bool rejected, contradicted;

		d[n - 1] = series_block(&series);
		(void)betting_add(&betting, d[n - 1]);
		(void)betting_add(&truth, d[n - 1] - noise->effect);
		rejected = betting_log_e(&betting, BETTING_PRIMARY, BETTING_BOTH) >= -log(ALPHA);
		contradicted = betting_log_e(&truth, BETTING_PRIMARY, BETTING_BOTH) >= -log(ALPHA);
		if (contradicted)
			values[MISSED_EVER] = 1;
		if (values[BLOCKS] > 0 || (!rejected && n < BUDGET))
			continue;
		values[MISSED] = values[MISSED_EVER];
		values[MISSED_NOW] = contradicted;
		stop(d, n, noise->effect, rejected, values);
	}
}

static void judge(const struct sim_cell *cell, const struct sim_tally *t)
{
	(void)cell;
	sim_row(" %.4f | %.4f | %.4f | %.4f | %.5f | %.1f |", sim_mean(t, INTERVAL_MISSED),
		sim_mean(t, MISSED_NOW), sim_mean(t, MISSED_EVER), sim_mean(t, WIDTH),
		sim_mean(t, ERROR), sim_mean(t, BLOCKS));
	sim_check(sim_at_most(t, INTERVAL_MISSED, ALPHA), "it misses in less than alpha");
	sim_check(sim_at_most(t, MISSED_EVER, ALPHA), "it ever misses in less than alpha");
	sim_check(sim_at_most(t, MISSED_NOW, ALPHA),
		  "that by the last e misses in less than alpha");
	sim_check(t->sum[NARROWER] == 0, "it holds the exact set, and no rejected 0");
	sim_check(t->sum[OUTSIDE] == 0, "the point is inside");
}

#define CELL(text, ...)                                                                   \
	{                                                                                 \
		.name = "interval: " text, .run = run, .judge = judge, .short_runs = 100, \
		.setting = &(const struct noise)                                          \
		{                                                                         \
			.sd = 0.02, __VA_ARGS__                                           \
		}                                                                         \
	}

static const struct sim_cell cells[] = {
	CELL("3 %, normal", .effect = 0.03),
	CELL("1 %, normal", .effect = 0.01),
	CELL("none, normal", .effect = 0),
	CELL("3 %, t3", .kind = NOISE_T3, .effect = 0.03),
	CELL("3 %, Cauchy", .kind = NOISE_CAUCHY, .effect = 0.03),
	CELL("3 %, two modes", .kind = NOISE_MODES, .effect = 0.03),
	CELL("3 %, AR(0.9)", .kind = NOISE_AR, .rho = 0.9, .effect = 0.03),
	CELL("3 %, drift of 2 sd a sample", .drift = 2, .effect = 0.03),
	CELL("3 %, position effect of 5 sd", .position = 5, .effect = 0.03),
};

int main(int argc, char **argv)
{
	return sim_main(
		argc, argv,
		&(const struct sim_program){
			.title = "Share of intervals at 95 % without the effect, where one stops "
				 "as soon as \"no effect\" is rejected",
			.head = "| effect at 2 % | sequence | by the last e | sequence, ever in "
				"200 blocks | width | error of the point | blocks |",
			.cells = cells,
			.n_cells = ELEMENTSOF(cells) });
}
