/* SPDX-License-Identifier: MIT */
/*
 * A real effect, one hypothesis, alpha 0.05: how often each process finds it within 200 blocks, and after how
 * many on average (200 where it does not).
 */
#include <math.h>

#include "processes.h"
#include "sim.h"

#include "util/macro.h"

/* Share and blocks by an independent simulation, to half of the last digit; blocks 0: not given. */
struct figure {
	double share, blocks, rounding;
};

struct setting {
	struct noise noise;
	struct figure sign, rank, primary, t;
	double wanted; /* blocks of the primary process on average, at most; 0: no such wish */
};

/* Numbers: for each process, whether it found the effect, and its blocks. */
static void run(const void *setting, struct random *random, double *values)
{
	const struct setting *s = setting;
	struct processes p;
	struct series series;
	int searching = PROCESS_MAX;

	processes_init(&p);
	series_init(&series, &s->noise, random);
	for (enum process i = 0; i < PROCESS_MAX; i++)
		values[2 * i + 1] = BUDGET;
	for (int n = 1; n <= BUDGET && searching; n++) {
		processes_add(&p, series_block(&series));
		for (enum process i = 0; i < PROCESS_MAX; i++) {
			if (values[2 * i] > 0 || processes_log_e(&p, i) < -log(0.05))
				continue;
			values[2 * i] = 1;
			values[2 * i + 1] = n;
			searching--;
		}
	}
}

/* Against a figure: the same, or (where the process is not quite the same) no worse. */
static void compare(const struct sim_tally *t, enum process i, const struct figure *f, bool same,
		    const char *name)
{
	double share, blocks;

	if (f->blocks == 0)
		return;
	share = sim_distance(t, 2 * (int)i, f->share, 0.0051);
	blocks = sim_distance(t, 2 * (int)i + 1, f->blocks, f->rounding);
	sim_check(share >= -1 && (!same || share <= 1), "%s finds it in %g of all runs", name,
		  f->share);
	sim_check(blocks <= 1 && (!same || blocks >= -1), "%s needs %g blocks on average", name,
		  f->blocks);
}

static void judge(const struct sim_cell *cell, const struct sim_tally *t)
{
	const struct setting *s = cell->setting;
	int primary = 2 * PROCESS_PRIMARY;

	for (enum process i = 0; i < PROCESS_MAX; i++)
		sim_row(" %.3f / %.1f |", sim_mean(t, 2 * (int)i), sim_mean(t, 2 * (int)i + 1));
	compare(t, PROCESS_SIGN, &s->sign, true, "sign");
	compare(t, PROCESS_RANK, &s->rank, true, "rank");
	compare(t, PROCESS_T, &s->t, true, "t");
	/* Its Huber part has another limit than that of the figures. */
	compare(t, PROCESS_PRIMARY, &s->primary, false, "primary");
	if (s->wanted > 0)
		sim_check(sim_mean(t, primary + 1) - SIM_ERRORS * sim_error(t, primary + 1) <=
				  s->wanted,
			  "at most %g blocks on average", s->wanted);
}

#define CELL(text, most, figures, ...)                                                       \
	{                                                                                    \
		.name = text, .run = run, .judge = judge, .setting = &(const struct setting) \
		{                                                                            \
			{ __VA_ARGS__ }, figures, .wanted = (most)                           \
		}                                                                            \
	}
/* Shares and blocks of each; @digit: half of the last digit of blocks. */
#define FIGURES(digit, s_share, s_blocks, r_share, r_blocks, p_share, p_blocks, t_share, t_blocks) \
	.sign = { s_share, s_blocks, digit }, .rank = { r_share, r_blocks, digit },                \
	.primary = { p_share, p_blocks, digit }, .t = { t_share, t_blocks, digit }
#define PRIMARY(digit, share, blocks) .primary = { share, blocks, digit }
#define NONE                          PRIMARY(0, 0, 0)

static const struct sim_cell cells[] = {
	CELL("1 % at 1 %", 0, NONE, .sd = .01, .effect = .01),
	CELL("2 % at 1 %", 0, NONE, .sd = .01, .effect = .02),
	CELL("3 % at 1 %", 0, NONE, .sd = .01, .effect = .03),
	CELL("5 % at 1 %", 0, NONE, .sd = .01, .effect = .05),
	CELL("1 % at 2 %", 0, FIGURES(.5, .81, 114, .97, 75, .96, 81, .97, 78), .sd = .02,
	     .effect = .01),
	CELL("2 % at 2 %", 0, FIGURES(.5, 1, 32, 1, 24, 1, 24, 1, 22), .sd = .02, .effect = .02),
	CELL("3 % at 2 %", 15, FIGURES(.05, 1, 15.7, 1, 15.8, 1, 14.3, 1, 12.4), .sd = .02,
	     .effect = .03),
	CELL("5 % at 2 %", 0, FIGURES(.05, 1, 8.6, 1, 12.7, 1, 9.4, 1, 7.5), .sd = .02,
	     .effect = .05),
	CELL("1 % at 5 %", 0, NONE, .sd = .05, .effect = .01),
	CELL("2 % at 5 %", 0, NONE, .sd = .05, .effect = .02),
	CELL("3 % at 5 %", 0, NONE, .sd = .05, .effect = .03),
	CELL("5 % at 5 %", 0, NONE, .sd = .05, .effect = .05),
	CELL("1 % at 13 %", 0, NONE, .sd = .13, .effect = .01),
	CELL("2 % at 13 %", 0, NONE, .sd = .13, .effect = .02),
	CELL("3 % at 13 %", 0, NONE, .sd = .13, .effect = .03),
	CELL("5 % at 13 %", 0, NONE, .sd = .13, .effect = .05),
	CELL("5 % at 9.2 % (13 % in d)", 0, FIGURES(.5, .88, 101, .99, 65, .98, 70, .99, 68),
	     .sd = .092, .effect = .05),
	CELL("3 % at 2 %, t3", 0, FIGURES(.05, 1, 11.6, 1, 14.7, 1, 12.0, 1, 10.7),
	     .kind = NOISE_T3, .sd = .02, .effect = .03),
	CELL("5 % under two modes", 60, FIGURES(.5, 1, 49, 1, 51, 1, 46, .08, 186),
	     .kind = NOISE_MODES, .sd = .05, .effect = .05),
	CELL("10 % under two modes", 0, NONE, .kind = NOISE_MODES, .sd = .05, .effect = .1),
	CELL("20 % under two modes", 0, FIGURES(.5, 1, 11.5, 1, 24, 1, 13.6, .68, 105),
	     .kind = NOISE_MODES, .sd = .05, .effect = .2),
	CELL("weight of the fast mode .1 -> .3", 0,
	     FIGURES(.5, .45, 156, .9, 96, .86, 106, .98, 79), .kind = NOISE_MODES, .sd = .05,
	     .fast = { .1, .3 }),
	CELL("3 % at 2 %, drift of 5 sd a sample", 0, PRIMARY(.5, .98, 72), .sd = .02,
	     .effect = .03, .drift = 5),
	CELL("3 % at 2 %, drift of 5 sd a sample, ABBA", 0, NONE, .sd = .02, .effect = .03,
	     .drift = 5, .order = NOISE_ABBA),
};

int main(int argc, char **argv)
{
	return sim_main(
		argc, argv,
		&(const struct sim_program){
			.title = "Share of runs that find a real effect within 200 blocks / blocks "
				 "on average, by effect and sd of one sample, alpha 0.05",
			.head = "| effect | sign | Huber | rank | primary | t (shown only) |",
			.cells = cells,
			.n_cells = ELEMENTSOF(cells) });
}
