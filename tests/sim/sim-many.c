/* SPDX-License-Identifier: MIT */
/*
 * Many hypotheses at once, of which some are real (3 % at 2 %), alpha 0.05: false discoveries, real ones found,
 * and intervals of the rejected that miss, by how one stops.
 */
#include <math.h>

#include "noise.h"
#include "sim.h"
#include "stats/betting.h"
#include "stats/ebh.h"

#include "util/macro.h"

#define K_MAX  24
#define BUDGET 200 /* blocks */
#define ALPHA  0.05

struct setting {
	struct noise noise; /* the effect is that of the real ones */
	size_t k, n_real;
	bool too_early; /* each stops at e >= 1 / alpha by itself: what must not be done */
	bool shared;    /* those that are not real all see the same numbers */
	double blocks; /* to K / alpha, one alone, with a Huber limit of 1.5 medians; 0: not given */
};

struct hypothesis {
	struct series series;
	struct betting betting, truth; /* on d, and on d less its effect */
	struct rank_node nodes[2][BUDGET];
	struct noise noise;
	bool stopped;
	int blocks;
};

enum {
	ANY_FALSE,    /* whether anything that is not real is rejected */
	SHARE_FALSE,  /* of those rejected; 0 for none */
	SHARE_FOUND,  /* of the real ones */
	BLOCKS,       /* of a real one on average */
	SHARE_MISSED, /* of the intervals of those rejected, those without their effect */
};

/* One more block of each that has not stopped, and its ln e. */
static void measure(const struct setting *s, struct hypothesis *all, double *log_e)
{
	double same = NAN;

	for (size_t i = 0; i < s->k; i++) {
		struct hypothesis *h = &all[i];
		double d;

		if (h->stopped)
			continue;
		d = i >= s->n_real && s->shared && !isnan(same) ? same : series_block(&h->series);
		if (i >= s->n_real)
			same = d;
		(void)betting_add(&h->betting, d);
		(void)betting_add(&h->truth, d - h->noise.effect);
		log_e[i] = betting_log_e(&h->betting, BETTING_PRIMARY, BETTING_BOTH);
		h->blocks++;
	}
}

/* What has been rejected in the end. */
static void count(const struct setting *s, const struct hypothesis *all, const double *log_e,
		  double *values)
{
	bool rejected[K_MAX];
	size_t n = ebh(log_e, s->k, ALPHA, rejected);
	double level = ebh_interval_alpha(n, s->k, ALPHA), wrong = 0, missed = 0;

	for (size_t i = 0; i < s->k; i++) {
		const struct hypothesis *h = &all[i];

		if (i < s->n_real)
			values[BLOCKS] += h->blocks / (double)s->n_real;
		if (!rejected[i])
			continue;
		if (i < s->n_real)
			values[SHARE_FOUND] += 1 / (double)s->n_real;
		else
			wrong++;
		missed += betting_log_e(&h->truth, BETTING_PRIMARY, BETTING_BOTH) >= -log(level);
	}
	values[ANY_FALSE] = wrong > 0;
	values[SHARE_FALSE] = n ? wrong / (double)n : 0;
	values[SHARE_MISSED] = n ? missed / (double)n : 0;
}

static void run(const void *setting, struct random *random, double *values)
{
	static struct hypothesis all[K_MAX];
	const struct setting *s = setting;
	double log_e[K_MAX] = { 0 };

	for (size_t i = 0; i < s->k; i++) {
		struct hypothesis *h = &all[i];

		h->noise = s->noise;
		if (i >= s->n_real)
			h->noise.effect = 0;
		series_init(&h->series, &h->noise, random);
		betting_init(&h->betting, h->nodes[0], BUDGET);
		betting_init(&h->truth, h->nodes[1], BUDGET);
		h->stopped = false;
		h->blocks = 0;
	}
	for (int n = 0; n < BUDGET; n++) {
		bool rejected[K_MAX];

		measure(s, all, log_e);
		(void)ebh(log_e, s->k, ALPHA, rejected);
		for (size_t i = 0; i < s->k; i++)
			all[i].stopped |= s->too_early ? log_e[i] >= -log(ALPHA) : rejected[i];
	}
	count(s, all, log_e, values);
}

static void judge(const struct sim_cell *cell, const struct sim_tally *t)
{
	const struct setting *s = cell->setting;

	sim_row(" %.4f | %.4f | %.4f | %.1f |", sim_mean(t, SHARE_FALSE), sim_mean(t, SHARE_FOUND),
		sim_mean(t, SHARE_MISSED), s->n_real ? sim_mean(t, BLOCKS) : 0);
	if (s->n_real == 0)
		sim_check(sim_at_most(t, ANY_FALSE, ALPHA), "false discoveries below alpha");
	sim_check(sim_mean(t, SHARE_FALSE) - SIM_ERRORS * sim_error(t, SHARE_FALSE) <= ALPHA,
		  "the share of false discoveries is below alpha");
	sim_check(sim_mean(t, SHARE_MISSED) - SIM_ERRORS * sim_error(t, SHARE_MISSED) <= ALPHA,
		  "the share of intervals that miss is below alpha");
	if (s->too_early && s->k > 1)
		sim_check(t->sum[SHARE_FOUND] == 0, "a lone effect is never found");
	else if (s->n_real > 0)
		sim_check(sim_mean(t, SHARE_FOUND) > 0.9999, "real effects are found always");
	if (s->blocks > 0)
		sim_check(sim_distance(t, BLOCKS, s->blocks, 0.5) <= 1, "%g blocks on average",
			  s->blocks);
}

#define CELL(text, ...)                                                               \
	{                                                                             \
		.name = "many: " text, .run = run, .judge = judge, .short_runs = 200, \
		.setting = &(const struct setting)                                    \
		{                                                                     \
			.noise = { .sd = 0.02, .effect = 0.03 }, __VA_ARGS__          \
		}                                                                     \
	}

static const struct sim_cell cells[] = {
	CELL("none real of 1", .k = 1),
	CELL("none real of 6", .k = 6),
	CELL("none real of 24", .k = 24),
	CELL("none real of 24, all the same numbers", .k = 24, .shared = true),
	CELL("1 real of 1", .k = 1, .n_real = 1, .blocks = 14.3),
	CELL("1 real of 6", .k = 6, .n_real = 1, .blocks = 20.2),
	CELL("1 real of 24", .k = 24, .n_real = 1, .blocks = 24.9),
	CELL("1 real of 6, each stops at e >= 20", .k = 6, .n_real = 1, .too_early = true),
	CELL("1 real of 24, each stops at e >= 20", .k = 24, .n_real = 1, .too_early = true),
	CELL("3 real of 6", .k = 6, .n_real = 3),
	CELL("12 real of 24", .k = 24, .n_real = 12),
	CELL("12 real of 24, the others all the same numbers", .k = 24, .n_real = 12,
	     .shared = true),
};

int main(int argc, char **argv)
{
	return sim_main(
		argc, argv,
		&(const struct sim_program){
			.title = "Many hypotheses, real effects of 3 % at 2 %, alpha 0.05 by e-BH",
			.head = "| hypotheses | share of false discoveries | real ones found | "
				"share of intervals that miss | blocks to a real one |",
			.cells = cells,
			.n_cells = ELEMENTSOF(cells) });
}
