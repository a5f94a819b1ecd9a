/* SPDX-License-Identifier: MIT */
/*
 * A against A: how often each process says that they differ, within 200 blocks, under every noise.
 */
#include <math.h>

#include "processes.h"
#include "sim.h"

#include "util/macro.h"

static const double alphas[] = { .05, .01, .001 };

struct setting {
	struct noise noise;
	bool fixed; /* the order is not random: this must fail */
	double expected; /* share of the primary process at 0.05 by an independent simulation; 0: not given */
};

/* Numbers: for each process, whether it reached 1 / alpha, for each alpha. */
static void run(const void *setting, struct random *random, double *values)
{
	const struct setting *s = setting;
	struct processes p;
	struct series series;

	processes_init(&p);
	series_init(&series, &s->noise, random);
	for (int n = 0; n < BUDGET; n++) {
		processes_add(&p, series_block(&series));
		for (enum process i = 0; i < PROCESS_MAX; i++) {
			double log_e = processes_log_e(&p, i);

			for (size_t a = 0; a < ELEMENTSOF(alphas); a++)
				if (log_e >= -log(alphas[a]))
					values[i * ELEMENTSOF(alphas) + a] = 1;
		}
	}
}

static const char *const names[] = { "sign", "Huber", "rank", "primary" };

static void judge(const struct sim_cell *cell, const struct sim_tally *t)
{
	const struct setting *s = cell->setting;

	for (enum process i = 0; i < PROCESS_MAX; i++) {
		for (size_t a = 0; a < ELEMENTSOF(alphas); a++) {
			int value = (int)(i * ELEMENTSOF(alphas) + a);

			sim_row(a ? " / %.4f" : " %.3f", sim_mean(t, value));
			if (i == PROCESS_T)
				continue;
			if (s->fixed)
				sim_check(sim_mean(t, value) > 0.99, "%s fails in this order",
					  names[i]);
			else
				sim_check(sim_at_most(t, value, alphas[a]), "%s at %g", names[i],
					  alphas[a]);
		}
		sim_row(" |");
	}
	if (s->expected > 0) {
		double away = sim_distance(t, 3 * PROCESS_PRIMARY, s->expected, 0.0005);

		sim_check(fabs(away) <= 1, "the primary's share is %g", s->expected);
	}
}

#define CELL(text, share, spread, ...)                                                \
	{                                                                             \
		.name = "A against A: " text, .run = run, .judge = judge,             \
		.setting = &(const struct setting)                                    \
		{                                                                     \
			.noise = { .sd = (spread), __VA_ARGS__ }, .expected = (share) \
		}                                                                     \
	}

static const struct sim_cell cells[] = {
	CELL("normal", .035, .02, .kind = NOISE_NORMAL),
	CELL("t3", .037, .02, .kind = NOISE_T3),
	CELL("Cauchy", 0, .02, .kind = NOISE_CAUCHY),
	CELL("two modes, 90 % 12k, 10 % 100k", .036, .02, .kind = NOISE_MODES),
	CELL("AR(0.3)", 0, .02, .kind = NOISE_AR, .rho = 0.3),
	CELL("AR(0.9)", .031, .02, .kind = NOISE_AR, .rho = 0.9),
	CELL("drift of 2 sd a sample", 0, .02, .drift = 2),
	CELL("drift of 5 sd a sample", 0, .02, .drift = 5),
	CELL("drift of 20 sd a sample", .031, .02, .drift = 20),
	CELL("drift of 5 sd a sample, ABBA", 0, .02, .drift = 5, .order = NOISE_ABBA),
	CELL("position effect of 5 sd", 0, .02, .position = 5),
	CELL("position effect of 20 sd", .032, .02, .position = 20),
	CELL("taints that prefer slow samples, blocks repeated", 0, .02, .tainted = true),
	CELL("the same with two modes and a drift of 2 sd", 0, .02, .kind = NOISE_MODES,
	     .tainted = true, .drift = 2),
	CELL("6,000 rounded to 1,000", 0, .1, .rounded = 1000),
	{ .name = "A against A: always A first, drift of 1 sd a sample (must fail)",
	  .run = run,
	  .judge = judge,
	  .setting = &(
		  const struct setting){ .noise = { .sd = 0.02, .drift = 1, .order = NOISE_FIXED },
					 .fixed = true } },
};

int main(int argc, char **argv)
{
	return sim_main(
		argc, argv,
		&(const struct sim_program){
			.title = "Share of runs that ever say \"different\", A against A, within "
				 "200 blocks, at alpha 0.05 / 0.01 / 0.001",
			.head = "| noise | sign | Huber | rank | primary | t (shown only) |",
			.cells = cells,
			.n_cells = ELEMENTSOF(cells) });
}
