/* SPDX-License-Identifier: MIT */
/*
 * Equivalence, and "not worse": how often they are declared within 900 blocks at alpha 0.05, and after how
 * many; where the effect is at the edge of the region or beyond, that is an error.
 */
#include <math.h>

#include "noise.h"
#include "sim.h"
#include "stats/verdict.h"

#include "util/macro.h"

#define BUDGET 900 /* blocks */
#define ALPHA  0.05

struct setting {
	struct noise noise;
	double region;
	double blocks; /* of an earlier simulation: to a declaration, always made; 0: not given */
	bool wrong, always; /* what must hold */
	double share;       /* of declarations by the same; 0: not given */
};

enum {
	EQUIVALENT,
	BLOCKS,
	NOT_WORSE, /* the bound from above alone */
	WORSE_BLOCKS,
};

static void run(const void *setting, struct random *random, double *values)
{
	static struct rank_node nodes[2][BUDGET];
	const struct setting *s = setting;
	struct bound bounds[2];
	struct series series;

	series_init(&series, &s->noise, random);
	equivalence_init(bounds, s->region, ALPHA, (struct rank_node *[]){ nodes[0], nodes[1] },
			 BUDGET);
	values[BLOCKS] = values[WORSE_BLOCKS] = BUDGET;
	for (int n = 1; n <= BUDGET && !values[EQUIVALENT]; n++) {
		(void)equivalence_add(bounds, series_block(&series));
		if (bounds[1].reached && !values[NOT_WORSE]) {
			values[NOT_WORSE] = 1;
			values[WORSE_BLOCKS] = n;
		}
		if (equivalence_holds(bounds)) {
			values[EQUIVALENT] = 1;
			values[BLOCKS] = n;
		}
	}
}

static void judge(const struct sim_cell *cell, const struct sim_tally *t)
{
	const struct setting *s = cell->setting;

	sim_row(" %.4f / %.1f | %.4f / %.1f |", sim_mean(t, EQUIVALENT), sim_mean(t, BLOCKS),
		sim_mean(t, NOT_WORSE), sim_mean(t, WORSE_BLOCKS));
	if (s->wrong) {
		sim_check(sim_at_most(t, EQUIVALENT, ALPHA), "equivalent in less than alpha");
		sim_check(sim_at_most(t, NOT_WORSE, ALPHA), "not worse in less than alpha");
	}
	if (s->share > 0)
		sim_check(sim_distance(t, EQUIVALENT, s->share, 0.0005) <= 1, "equivalent in %g",
			  s->share);
	if (s->always)
		sim_check(t->sum[EQUIVALENT] == (double)t->runs, "always equivalent");
	if (s->blocks > 0)
		sim_check(sim_distance(t, BLOCKS, s->blocks, 0.5) <= 1, "%g blocks on average",
			  s->blocks);
}

#define CELL(text, ...)                                                      \
	{                                                                    \
		.name = text, .run = run, .judge = judge, .short_runs = 200, \
		.setting = &(const struct setting)                           \
		{                                                            \
			__VA_ARGS__                                          \
		}                                                            \
	}

static const struct sim_cell cells[] = {
	CELL("no effect, sd 2 %, region 1 %", { .sd = .02 }, .01, 108, .always = true),
	CELL("no effect, sd 9.2 %, region 1 %", { .sd = .092 }, .region = .01),
	CELL("no effect, sd 9.2 %, region 5 %", { .sd = .092 }, .05, 92, .always = true),
	CELL("no effect, two modes, region 5 %", { .kind = NOISE_MODES, .sd = .02 }, .05,
	     .always = true),
	CELL("at the edge, sd 2 %, region 1 %", { .sd = .02, .effect = .01 }, .01, .wrong = true,
	     .share = .037),
	CELL("at the edge, t3, region 1 %", { .kind = NOISE_T3, .sd = .02, .effect = .01 }, .01,
	     .wrong = true),
	CELL("at the edge, Cauchy, region 1 %", { .kind = NOISE_CAUCHY, .sd = .02, .effect = .01 },
	     .01, .wrong = true),
	CELL("at the edge, two modes, region 5 %",
	     { .kind = NOISE_MODES, .sd = .02, .effect = .05 }, .05, .wrong = true),
	CELL("at the edge, drift of 2 sd, region 1 %", { .sd = .02, .drift = 2, .effect = .01 },
	     .01, .wrong = true),
	CELL("twice the edge, two modes, region 5 %",
	     { .kind = NOISE_MODES, .sd = .02, .effect = .1 }, .05, .wrong = true),
	CELL("twice the edge, sd 2 %, region 1 %", { .sd = .02, .effect = .02 }, .01,
	     .wrong = true),
};

int main(int argc, char **argv)
{
	return sim_main(
		argc, argv,
		&(const struct sim_program){ .title = "Share of runs that declare equivalence, and "
						      "\"not worse\", within 900 "
						      "blocks / blocks on average, by effect and "
						      "sd of one sample, alpha 0.05",
					     .head = "| effect | equivalent | not worse |",
					     .cells = cells,
					     .n_cells = ELEMENTSOF(cells) });
}
