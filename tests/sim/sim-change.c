/* SPDX-License-Identifier: MIT */
/*
 * The change detector: its run length where nothing changes, and how soon it finds what does.
 *
 * sim-change [--long] [--table FILE]: TAP, and a line of figures for each cell. Fixed seeds. The figures in
 * stats/change.h are those of the long form.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "noise.h"
#include "sim.h"
#include "stats/change.h"
#include "util/macro.h"

enum shape { NORMAL, T3, CAUCHY, MODES, SKEWED, ROUNDED, AR };

static const char *const noise_names[] = { "normal", "t3",      "cauchy", "two modes",
					   "skewed", "rounded", "AR" };

struct source {
	struct random random;
	enum shape noise;
	double sd, level; /* of the logarithm */
	double memory;    /* of AR */
	double last;
	struct change_block block;
};

static double student3(struct source *s)
{
	double z = random_normal(&s->random), squares = 0;

	for (int i = 0; i < 3; i++) {
		double y = random_normal(&s->random);

		squares += y * y;
	}
	return z / sqrt(squares / 3);
}

static double draw_one(struct source *s)
{
	switch (s->noise) {
	case NORMAL:
		return s->level + s->sd * random_normal(&s->random);
	case T3:
		return s->level + s->sd * student3(s);
	case CAUCHY:
		return s->level + s->sd * tan(M_PI * (random_uniform(&s->random) - 0.5));
	case MODES:
		return s->level + log(random_uniform(&s->random) < 0.9 ? 12000 : 100000) +
		       s->sd * random_normal(&s->random);
	case SKEWED:
		return s->level - s->sd * log(random_uniform(&s->random));
	case ROUNDED: /* to 1 us near 6 us: few values, many ties */
		return s->level + round(6 * exp(4 * s->sd * random_normal(&s->random)));
	case AR:
		s->last = s->memory * s->last +
			  sqrt(1 - s->memory * s->memory) * random_normal(&s->random);
		return s->level + s->sd * s->last;
	}
	return 0;
}

/* The next median of a block. */
static double draw(struct source *s)
{
	double median;

	while (change_block_add(&s->block, draw_one(s), &median) == 0)
		;
	return median;
}

static void begin(struct source *s, struct change *c, size_t m, double bar, uint64_t seed)
{
	double baseline[CHANGE_BASELINE_MAX];

	for (size_t i = 0; i < m; i++)
		baseline[i] = draw(s);
	if (change_init(c, baseline, m, bar, seed) < 0)
		sim_claim(false, "the detector begins");
}

struct length {
	double mean, error;   /* of values until an alarm, at most twenty times the bar */
	unsigned tenth, half; /* runs with an alarm before a tenth, a half of the bar */
};

/* Runs of unchanged values; lengths are in values, not blocks. */
static struct length run_length(struct source *s, size_t m, double bar, unsigned runs)
{
	struct length ret = { 0 };
	double square = 0;

	for (unsigned i = 0; i < runs; i++) {
		struct change c;
		double n = 0, blocks = fmax(1, bar / (double)s->block.size);
		int alarm = 0;

		begin(s, &c, m, blocks, i);
		while (!alarm && n < 20 * blocks) {
			n++;
			alarm = change_add(&c, draw(s));
		}
		ret.tenth += alarm && n <= blocks / 10;
		ret.half += alarm && n <= blocks / 2;
		n *= (double)s->block.size;
		ret.mean += n / runs;
		square += n * n / runs;
	}
	ret.error = sqrt((square - ret.mean * ret.mean) / runs);
	return ret;
}

static void test_run_length(double bar, unsigned runs)
{
	static const size_t sizes[] = { 100, 20 };

	for (size_t k = 0; k < ELEMENTSOF(sizes); k++)
		for (enum shape noise = NORMAL; noise <= ROUNDED; noise++) {
			struct source s = { .random = { noise + 1 }, .noise = noise, .sd = 0.05 };
			struct length r;

			(void)change_block_init(&s.block, 1);
			r = run_length(&s, sizes[k], bar, runs);
			sim_claim(
				r.mean + 3.1 * r.error >= bar &&
					sim_tail(r.tenth, runs, 0.1) >= SIM_LEVEL &&
					sim_tail(r.half, runs, 0.5) >= SIM_LEVEL,
				"%s, baseline %zu: a run length of %.0f +- %.0f for a bar of %.0f; "
				"alarms within a tenth of it %.3f, a half %.3f",
				noise_names[noise], sizes[k], r.mean, r.error, bar,
				(double)r.tenth / runs, (double)r.half / runs);
		}
}

/* What autocorrelation costs, and what blocks give back: @short_of says which is expected. */
static void test_memory(double memory, size_t block, bool short_of, double bar, unsigned runs)
{
	struct source s = { .random = { 77 }, .noise = AR, .sd = 0.02, .memory = memory };
	struct length r;

	(void)change_block_init(&s.block, block);
	r = run_length(&s, 100, bar, runs);
	sim_claim(short_of ? r.mean < bar / 2 : r.mean + 3.1 * r.error >= bar,
		  "AR(%g) in blocks of %zu: a run length of %.0f +- %.0f for a bar of %.0f%s",
		  memory, block, r.mean, r.error, bar,
		  short_of ? ", too short, as documented" : "");
}

struct change_case {
	double effect, stretch;
	enum change_kind kind;
};

struct delay {
	double mean, off;             /* values from the change to the alarm; error of its time */
	unsigned found, early, right; /* runs: alarm after, alarm before, the right kind */
};

/* A baseline of 100 and 200 quiet values, then the change; the bar is one alarm in 10000 values. */
static struct delay find_change(enum shape noise, double sd, const struct change_case *change,
				unsigned runs)
{
	struct source s = { .random = { 31 + noise }, .noise = noise };
	struct delay ret = { 0 };

	(void)change_block_init(&s.block, 1);
	for (unsigned i = 0; i < runs; i++) {
		struct change_report r;
		struct change c;
		int alarm = 0, n = 0;

		s.level = 0;
		s.sd = sd;
		begin(&s, &c, 100, 1e4, i);
		while (!alarm && n++ < 200)
			alarm = change_add(&c, draw(&s));
		ret.early += alarm;
		s.level = log1p(change->effect);
		s.sd = sd * change->stretch;
		for (n = 0; !alarm && n < 2000; n++)
			alarm = change_add(&c, draw(&s));
		if (n == 0 || !alarm)
			continue;
		change_report(&c, &r);
		ret.found++;
		ret.mean += n;
		ret.off += fabs((double)r.since - 200);
		ret.right += r.kind == change->kind;
	}
	ret.mean /= ret.found;
	ret.off /= ret.found;
	return ret;
}

static const struct change_case changes[] = {
	{ 0.05, 1, CHANGE_UP },   { 0.1, 1, CHANGE_UP },  { 0.2, 1, CHANGE_UP },
	{ -0.1, 1, CHANGE_DOWN }, { 0, 2, CHANGE_WIDER }, { 0, 0.5, CHANGE_NARROWER },
};

/* The most values that an alarm may need on average: at an sd of 2 %, 5 %, for each change. */
static const double limits[][2][ELEMENTSOF(changes)] = {
	[NORMAL] = { { 8, 6, 6, 6, 35, 70 }, { 35, 12, 6, 12, 35, 70 } },
	[T3] = { { 15, 8, 6, 8, 80, 120 }, { 60, 22, 10, 20, 80, 120 } },
	[CAUCHY] = { { 40, 20, 14, 20, 190, 190 }, { 180, 50, 25, 50, 190, 190 } },
	[MODES] = { { 22, 18, 18, 8, 90, 120 }, { 75, 28, 18, 12, 90, 120 } },
};

static void test_delay(unsigned runs)
{
	static const double sds[] = { 0.02, 0.05 };

	for (enum shape noise = NORMAL; noise <= MODES; noise++)
		for (size_t k = 0; k < ELEMENTSOF(sds); k++)
			for (size_t i = 0; i < ELEMENTSOF(changes); i++) {
				struct delay d;

				/* Only ranks count: another unit is another run of the same. */
				if (k > 0 && changes[i].stretch != 1)
					continue;
				d = find_change(noise, sds[k], &changes[i], runs);
				sim_claim(
					d.mean <= limits[noise][k][i] &&
						sim_tail(d.early, runs, 0.02) >= SIM_LEVEL &&
						d.found + d.early >= 0.9 * runs &&
						d.right >= 0.7 * d.found,
					"%s, sd %g %%, level %+g %%, spread x%g: after %.1f "
					"values, "
					"kind "
					"right in %.2f, time off by %.1f; found in %u, early in %u "
					"of %u",
					noise_names[noise], 100 * sds[k], 100 * changes[i].effect,
					changes[i].stretch, d.mean, (double)d.right / d.found,
					d.off, d.found, d.early, runs);
			}
}

int main(int argc, char **argv)
{
	bool full = false;
	double bar;
	unsigned runs;

	/* As the others are called; the figures of this one stand in its TAP. */
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--long") == 0) {
			full = true;
		} else if (strcmp(argv[i], "--table") == 0 && i + 1 < argc) {
			i++;
		} else {
			fprintf(stderr, "usage: sim-change [--long] [--table FILE]\n");
			return 2;
		}
	}
	bar = full ? 1e4 : 1e3;
	runs = full ? 400 : 100;
	test_run_length(full ? 2000 : 400, full ? 2000 : 250);
	test_memory(0, 1, false, bar, runs);
	test_memory(0.3, 1, true, bar, runs);
	test_memory(0.9, 1, true, bar, runs);
	test_memory(0.3, 8, false, bar, runs);
	test_memory(0.9, 64, false, bar, full ? runs : 20);
	test_delay(full ? 1000 : 50);
	return sim_claims_end();
}
