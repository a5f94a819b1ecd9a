/* SPDX-License-Identifier: MIT */
/*
 * The order of classes under noise: how often it claims what is not so, and how soon it finds what is.
 *
 * sim-order [--long] [--table FILE]: TAP, and a line of figures for each cell. Fixed seeds.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "noise.h"
#include "sim.h"
#include "stats/order.h"
#include "util/macro.h"
#include "util/random.h"

#define CLASSES 6
#define SD      0.02

enum shape { NORMAL, T3, CAUCHY, MODES, AR9, POSITION };

static const char *const noise_names[] = {
	"normal", "t3", "cauchy", "two modes", "AR(0.9)", "position effect of 20 sd",
};

struct source {
	struct random random;
	enum shape noise;
	double last; /* of AR */
	bool fixed; /* the order inside a super-block is always the same: the error that must show */
};

/* What a run ended with. */
struct outcome {
	size_t blocks; /* super-blocks until all real differences were claimed, or the most there may be */
	size_t claims, false_claims; /* pairs then */
	bool ever_false;             /* a relation that is not so was claimed at some time */
	bool found;                  /* all real ones were claimed */
};

static double draw(struct source *s, size_t position)
{
	double z, squares = 0;

	switch (s->noise) {
	case NORMAL:
		return SD * random_normal(&s->random);
	case T3:
		z = random_normal(&s->random);
		for (int i = 0; i < 3; i++) {
			double y = random_normal(&s->random);

			squares += y * y;
		}
		return SD * z / sqrt(squares / 3);
	case CAUCHY:
		return SD * tan(M_PI * (random_uniform(&s->random) - 0.5));
	case MODES:
		return log(random_uniform(&s->random) < 0.9 ? 12000 : 100000) +
		       SD * random_normal(&s->random);
	case AR9:
		s->last = 0.9 * s->last + sqrt(1 - 0.81) * random_normal(&s->random);
		return SD * s->last;
	case POSITION:
		return SD * (random_normal(&s->random) + 20 * (double)position);
	}
	return 0;
}

static void super_block(struct source *s, const double *cost, double *values)
{
	size_t order[CLASSES];

	random_order(&s->random, order, CLASSES);
	for (size_t i = 0; i < CLASSES; i++) {
		size_t class = s->fixed ? i : order[i];

		values[class] = cost[class] + draw(s, i);
	}
}

/* Counts claims that agree with true costs, and others. */
static void judge(const struct order *o, const double *cost, double alpha, struct outcome *ret)
{
	double bar = order_bar(o, alpha, 0);
	size_t real = 0, right = 0;

	ret->claims = 0;
	for (size_t j = 1; j < CLASSES; j++)
		for (size_t i = 0; i < j; i++) {
			enum order_relation r = order_relation(o, i, j, bar);

			real += cost[i] != cost[j];
			ret->claims += r != ORDER_NOT_DISTINGUISHABLE;
			right += (r == ORDER_FIRST_DEARER && cost[i] > cost[j]) ||
				 (r == ORDER_SECOND_DEARER && cost[i] < cost[j]);
		}
	ret->false_claims = ret->claims - right;
	ret->ever_false |= ret->false_claims > 0;
	ret->found = real > 0 && right == real;
}

static struct outcome run(struct source *s, const double *cost, double alpha, size_t most)
{
	struct outcome ret = { 0 };
	struct order o;

	(void)order_init(&o, CLASSES, NULL);
	while (ret.blocks < most && !ret.found) {
		double values[CLASSES];

		super_block(s, cost, values);
		(void)order_add(&o, values);
		ret.blocks++;
		judge(&o, cost, alpha, &ret);
	}
	return ret;
}

/* No class differs: how often is anything claimed, at any time? */
static unsigned claimed(enum shape noise, bool fixed, double alpha, unsigned runs, size_t most)
{
	struct source s = { .random = { 100 + noise }, .noise = noise, .fixed = fixed };
	const double equal[CLASSES] = { 0 };
	unsigned any = 0;

	for (unsigned i = 0; i < runs; i++)
		any += run(&s, equal, alpha, most).ever_false;
	return any;
}

static void test_equal(unsigned runs)
{
	static const double alphas[] = { 0.05, 0.01 };

	for (enum shape noise = NORMAL; noise <= POSITION; noise++)
		for (size_t i = 0; i < ELEMENTSOF(alphas); i++) {
			unsigned any = claimed(noise, false, alphas[i], runs, 60);

			sim_claim(sim_tail(any, runs, alphas[i]) >= SIM_LEVEL,
				  "%s, alpha %g: %u of %u runs claimed a relation of equal classes",
				  noise_names[noise], alphas[i], any, runs);
		}
}

/* Not randomised, the same effect of position makes a difference: the simulation would see it. */
static void test_fixed_order(unsigned runs)
{
	unsigned any = claimed(POSITION, true, 0.05, runs, 60);

	sim_claim(any == runs,
		  "fixed order under a position effect: %u of %u runs fail, as they must", any,
		  runs);
}

/*
 * Three tiers of which the nearest is dearest, two classes each: all twelve relations are found, and
 * those claimed of classes that are equal are few.
 */
static void test_inversion(enum shape noise, double step, size_t most, double wanted, unsigned runs)
{
	struct source s = { .random = { 200 + noise }, .noise = noise };
	const double cost[CLASSES] = { step, step, -step, -step, 0, 0 };
	double blocks = 0, share = 0, square = 0;
	unsigned found = 0;

	for (unsigned i = 0; i < runs; i++) {
		struct outcome o = run(&s, cost, 0.05, most);
		double wrong = o.claims ? (double)o.false_claims / (double)o.claims : 0;

		found += o.found;
		blocks += (double)o.blocks;
		share += wrong;
		square += wrong * wrong;
	}
	blocks /= runs;
	share /= runs;
	sim_claim(found >= 0.95 * runs && blocks <= wanted,
		  "%s, steps of %g %%: all found in %u of %u runs, %.1f super-blocks",
		  noise_names[noise], 100 * step, found, runs, blocks);
	sim_claim(share <= 0.05 + 3.1 * sqrt(fmax(0, square / runs - share * share) / runs),
		  "%s, steps of %g %%: %.4f of relations claimed are false", noise_names[noise],
		  100 * step, share);
}

int main(int argc, char **argv)
{
	bool full = false;

	/* As the others are called; the figures of this one stand in its TAP. */
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--long") == 0) {
			full = true;
		} else if (strcmp(argv[i], "--table") == 0 && i + 1 < argc) {
			i++;
		} else {
			fprintf(stderr, "usage: sim-order [--long] [--table FILE]\n");
			return 2;
		}
	}
	test_equal(full ? 8000 : 300);
	test_fixed_order(full ? 1000 : 50);
	test_inversion(NORMAL, 0.03, 200, 40, full ? 2000 : 60);
	test_inversion(T3, 0.03, 200, 60, full ? 2000 : 60);
	test_inversion(CAUCHY, 0.1, 200, 60, full ? 2000 : 60);
	test_inversion(MODES, 0.05, 300, 120, full ? 2000 : 60);
	test_inversion(AR9, 0.03, 200, 60, full ? 2000 : 60);
	return sim_claims_end();
}
