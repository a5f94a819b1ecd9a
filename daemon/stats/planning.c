/* SPDX-License-Identifier: MIT */
/*
 * Growth of the primary e-process under normal differences, and where it crosses its bound.
 *
 * Everything is a function of delta, the effect over the standard deviation of d. The bets are those of
 * stats/betting.h; their grids are repeated here since only their growth matters.
 */
#include "stats/planning.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "util/macro.h"

#define STEPS     400  /* of the integral over d */
#define REACH     8.0  /* standard deviations each way: what lies beyond is below 1e-14 */
#define DELTA_MAX 10.0 /* all signs agree long before */
#define DELTA_MIN 1e-6
#define HALVINGS  60

/* Calibrated by simulation (tests/unit/test-planning.c); theory's values in brackets. */
#define HINDSIGHT 0.6   /* what a mixture gains by following its best bet (1/2) */
#define OVERSHOOT 0.583 /* of a walk over its bound, in standard deviations of a step (0.583) */
#define EARLIER   0.12  /* the least by which the bound is met before the means say so */
#define SPREAD_80 0.8   /* standard deviations from the mean to the 80 % point (normal: 0.84) */
#define LATER     0.7 /* from the mean of a passage to the later of two opposed ones (0.56..0.8) */

static const double huber_bets[] = { 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9, 0.99 };
static const double rank_bets[] = { 0.2, 0.4, 0.6, 0.8, 0.95, 0.99 };

#define HUBER ELEMENTSOF(huber_bets)
#define RANK  ELEMENTSOF(rank_bets)
#define BETS  (2 * HUBER + 2 * RANK)

/* One bet: mean and mean square of the logarithm of its factor; its weight in the primary process. */
struct bet {
	double growth, square, weight;
};

/* The process at one delta. */
struct growth {
	double share; /* of positive signs */
	bool one_sided;
	struct bet bets[BETS];
	size_t n_bets;
};

struct crossing {
	double blocks;          /* where expected wealth meets the bound */
	double slope, variance; /* of a step there */
};

static double normal_cdf(double z)
{
	return 0.5 * erfc(-z / M_SQRT2);
}

/* P(|d| <= x) where d is normal with mean @delta and standard deviation 1. */
static double folded_cdf(double x, double delta)
{
	return normal_cdf(x - delta) - normal_cdf(-x - delta);
}

static double folded_median(double delta)
{
	double low = 0, high = delta + REACH;

	for (int i = 0; i < HALVINGS; i++) {
		double middle = (low + high) / 2;

		if (folded_cdf(middle, delta) < 0.5)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Adds what a bet of @size wins at a sign of +1 or -1 (@sign), an event of probability @mass. */
static void bet_add(struct bet *b, double sign, double size, double mass)
{
	double gain = log1p(sign * size);

	b->growth += mass * gain;
	b->square += mass * gain * gain;
}

/* Upward bets first, then downward ones, where there are any. */
static void growth_add(struct growth *g, double x, double huber, double rank, double mass)
{
	struct bet *b = g->bets;

	for (int way = 0; way < (g->one_sided ? 1 : 2); way++) {
		double sign = (x > 0) == (way == 0) ? 1 : -1;

		for (size_t i = 0; i < HUBER; i++)
			bet_add(b++, sign, huber_bets[i] * huber, mass);
		for (size_t i = 0; i < RANK; i++)
			bet_add(b++, sign, rank_bets[i] * rank, mass);
	}
}

static void growth_init(struct growth *g, double delta, bool one_sided)
{
	double median = folded_median(delta), step = 2 * REACH / STEPS;

	*g = (struct growth){ .share = normal_cdf(delta), .one_sided = one_sided };
	g->n_bets = one_sided ? BETS / 2 : BETS;
	for (size_t i = 0; i < g->n_bets; i++)
		g->bets[i].weight =
			1.0 / 3 /
			(double)((one_sided ? 1 : 2) * (i % (HUBER + RANK) < HUBER ? HUBER : RANK));
	for (int i = 0; i < STEPS; i++) {
		double z = -REACH + (i + 0.5) * step, x = fabs(delta + z);

		growth_add(g, delta + z, fmin(1, x / (1.5 * median)), folded_cdf(x, delta),
			   step * exp(-z * z / 2) / sqrt(2 * M_PI));
	}
}

static double log_gamma(double x)
{
	int sign;

	return lgamma_r(x, &sign);
}

/* The sign bet (Krichevsky, Trofimov 1981) after @n blocks, and the growth and square of a step. */
static double sign_wealth(const struct growth *g, double n, struct bet *ret)
{
	double p = g->share, q = 1 - p, odds = q > 0 ? log(p / q) : 0;
	double entropy = q > 0 ? -p * log(p) - q * log(q) : 0;

	ret->growth = M_LN2 - entropy;
	ret->square = ret->growth * ret->growth + p * q * odds * odds;
	return n * M_LN2 + log_gamma(n * p + 0.5) + log_gamma(n * q + 0.5) - log_gamma(n + 1) -
	       2 * log_gamma(0.5) + (g->one_sided ? M_LN2 : 0);
}

/*
 * The logarithm of the primary process after @n blocks that all gain their means. The step there, to
 * *@at, is that of the bets weighted by what each has won.
 */
static double growth_wealth(const struct growth *g, double n, struct crossing *at)
{
	struct bet sign;
	double ln_sign = sign_wealth(g, n, &sign) - log(3), top = ln_sign, sum, slope, square;

	for (size_t i = 0; i < g->n_bets; i++)
		top = fmax(top, n * g->bets[i].growth);
	sum = exp(ln_sign - top);
	slope = sum * sign.growth;
	square = sum * sign.square;
	for (size_t i = 0; i < g->n_bets; i++) {
		const struct bet *b = &g->bets[i];
		double won = b->weight * exp(n * b->growth - top);

		sum += won;
		slope += won * b->growth;
		square += won * b->square;
	}
	*at = (struct crossing){ n, slope / sum, square / sum - slope * slope / (sum * sum) };
	return top + log(sum);
}

/* Where the process at @delta crosses @bound; false where that is never. */
static bool cross(double delta, double bound, bool one_sided, struct crossing *ret)
{
	struct growth g;
	double low = 0, high = 1;

	growth_init(&g, delta, one_sided);
	bound -= fmax(EARLIER, HINDSIGHT - OVERSHOOT * delta);
	while (growth_wealth(&g, high, ret) < bound) {
		if (high >= PLANNING_BLOCKS_MAX)
			return false;
		low = high;
		high = fmin(2 * high, PLANNING_BLOCKS_MAX);
	}
	for (int i = 0; i < HALVINGS; i++) {
		double middle = (low + high) / 2;

		if (growth_wealth(&g, middle, ret) < bound)
			low = middle;
		else
			high = middle;
	}
	return true;
}

/* Blocks on average plus @spread of their standard deviations. */
static double blocks_at(const struct planning *p, double effect, bool one_sided, double spread)
{
	double delta = p->sd > 0 ? fmin(effect / p->sd, DELTA_MAX) : DELTA_MAX;
	struct crossing at;

	if (delta < DELTA_MIN || effect == 0)
		return INFINITY;
	if (!cross(delta, log(p->hypotheses) - log(p->alpha), one_sided, &at))
		return INFINITY;
	return at.blocks + spread * sqrt(at.blocks * fmax(0, at.variance)) / at.slope;
}

static bool valid(const struct planning *p)
{
	return isfinite(p->sd) && p->sd >= 0 && p->alpha > 0 && p->alpha <= 0.2 &&
	       isfinite(p->hypotheses) && p->hypotheses >= 1;
}

double planning_sd(double sd_of_sample, enum planning_design design)
{
	return design == PLANNING_ABBA ? sd_of_sample : M_SQRT2 * sd_of_sample;
}

int planning_blocks(const struct planning *p, double effect, double *ret)
{
	if (!valid(p) || !isfinite(effect))
		return -EINVAL;
	*ret = blocks_at(p, fabs(effect), false, 0);
	return 0;
}

int planning_blocks_80(const struct planning *p, double effect, double *ret)
{
	if (!valid(p) || !isfinite(effect))
		return -EINVAL;
	*ret = blocks_at(p, fabs(effect), false, SPREAD_80);
	return 0;
}

int planning_equivalence(const struct planning *p, double region, double *ret)
{
	if (!valid(p) || !isfinite(region) || region < 0)
		return -EINVAL;
	*ret = blocks_at(p, region, true, LATER);
	return 0;
}

int planning_detectable(const struct planning *p, double blocks, double *ret)
{
	struct planning unit = *p;
	double low = 0, high = DELTA_MAX;

	if (!valid(p) || !isfinite(blocks) || blocks < 0)
		return -EINVAL;
	unit.sd = 1;
	if (blocks_at(&unit, high, false, SPREAD_80) > blocks) {
		*ret = INFINITY;
		return 0;
	}
	for (int i = 0; i < HALVINGS / 2; i++) {
		double middle = (low + high) / 2;

		if (blocks_at(&unit, middle, false, SPREAD_80) > blocks)
			low = middle;
		else
			high = middle;
	}
	*ret = high * p->sd;
	return 0;
}

uint64_t planning_time(double blocks, unsigned arms, enum planning_design design,
		       uint64_t window_ns, uint64_t warmup_ns, uint64_t settle_ns)
{
	double sample = (double)window_ns + (double)warmup_ns + (double)settle_ns;
	double ns = ceil(blocks) * arms * (design == PLANNING_ABBA ? 2 : 1) * sample;

	/* 2^64 is the first double that does not fit; a NaN is caught too. */
	return ns >= 0 && ns < 0x1p64 ? (uint64_t)ns : UINT64_MAX;
}
