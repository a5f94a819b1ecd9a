/* SPDX-License-Identifier: MIT */
/*
 * An e-detector on the ranks of new values among a baseline and all values since.
 */
#include "stats/change.h"

#include <errno.h>
#include <math.h>

#include "stats/robust.h"
#include "util/macro.h"

#define KEPT_BACK    0.1   /* of each bet */
#define WEALTH_MAX   1e200 /* far above every bar: sums stay finite if nobody restarts */
#define NEWTON_STEPS 5

/*
 * A bet's alternative to shares that are even on [0, 1]: normal scores moved or stretched, which serve
 * light tails; more mass at one end (LEAN) or at both (SPREAD), evenly rising, which serve heavy ones.
 */
enum shape { MOVE, LEAN, STRETCH, SPREAD };

static const struct {
	enum change_kind kind;
	enum shape shape;
	double by;
} bets[CHANGE_BETS] = {
	{ CHANGE_UP, LEAN, 0.8 },
	{ CHANGE_UP, MOVE, 1 },
	{ CHANGE_UP, MOVE, 2 },
	{ CHANGE_UP, MOVE, 4 },
	{ CHANGE_DOWN, LEAN, -0.8 },
	{ CHANGE_DOWN, MOVE, -1 },
	{ CHANGE_DOWN, MOVE, -2 },
	{ CHANGE_DOWN, MOVE, -4 },
	{ CHANGE_WIDER, SPREAD, 0.8 },
	{ CHANGE_WIDER, STRETCH, 2 },
	{ CHANGE_NARROWER, SPREAD, -0.8 },
	{ CHANGE_NARROWER, STRETCH, 0.5 },
};

static double normal_cdf(double z)
{
	return 0.5 * erfc(-z / M_SQRT2);
}

/*
 * The z beyond which lies a share @q <= 1/2 of the normal law, by Newton's method on the logarithm of
 * the tail: it is concave, so that from a start on its right the steps only go left. What it is off by
 * changes which bet is made, not what is promised: factors over all cells sum up to 1 for any z.
 */
static double normal_tail_score(double q)
{
	double z = sqrt(-2 * log(2 * q));

	for (int i = 0; i < NEWTON_STEPS; i++) {
		double tail = normal_cdf(-z), density = exp(-z * z / 2) / sqrt(2 * M_PI);

		z += log(tail / q) * tail / density;
	}
	return z;
}

/* The normal score of a rank with @below of @total under it. */
static double normal_score(double below, double total)
{
	if (below <= 0)
		return -INFINITY;
	if (below >= total)
		return INFINITY;
	return 2 * below <= total ? -normal_tail_score(below / total)
				  : normal_tail_score((total - below) / total);
}

/* The distribution function of bet @i's alternative at the share @p, whose normal score is @z. */
static double alternative_cdf(size_t i, double p, double z)
{
	double by = bets[i].by, side = 2 * p - 1;

	switch (bets[i].shape) {
	case MOVE:
		return normal_cdf(z - by);
	case STRETCH:
		return normal_cdf(z / by);
	case LEAN: /* the density is 1 + by (2p - 1) */
		return p + by * p * (p - 1);
	case SPREAD: /* the density is 1 + by (2 |2p - 1| - 1) */
		break;
	}
	return 0.5 + side * (1 + by * (fabs(side) - 1)) / 2;
}

double change_bar(double per_day, double series, double days)
{
	return fmax(1, per_day * series * days);
}

static double coin(struct random *r)
{
	return (double)(random_next(r) >> 11) * 0x1p-53;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

int change_init(struct change *c, const double *baseline, size_t m, double bar, uint64_t seed)
{
	if (m == 0 || m > CHANGE_BASELINE_MAX || !isfinite(bar) || bar < 1)
		return -EINVAL;
	for (size_t i = 0; i < m; i++)
		if (!isfinite(baseline[i]))
			return -ERANGE;
	*c = (struct change){ .bar = bar, .n_baseline = m, .random = { seed } };
	for (size_t i = 0; i < m; i++) {
		c->baseline[i] = baseline[i];
		c->coins[i] = coin(&c->random);
	}
	robust_sort(c->baseline, m);
	/* Coins are drawn for places, so those of equal values only have to be put in order. */
	for (size_t from = 0, to; from < m; from = to) {
		for (to = from + 1; to < m && c->baseline[to] == c->baseline[from];)
			to++;
		qsort(c->coins + from, to - from, sizeof(c->coins[0]), compare);
	}
	return 0;
}

/* How many of the baseline lie below @value with coin @u: its cell. */
static size_t find_cell(const struct change *c, double value, double u)
{
	size_t low = 0, high = c->n_baseline;

	while (low < high) {
		size_t middle = (low + high) / 2;
		double at = c->baseline[middle];

		if (at < value || (at == value && c->coins[middle] < u))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void bet_update(struct change_bet *b, double factor, uint64_t now)
{
	if (b->best <= 1) {
		b->best = 1;
		b->since = now;
	}
	b->best = fmin(b->best * factor, WEALTH_MAX);
	b->sum = fmin((b->sum + 1) * factor, WEALTH_MAX);
}

static double evidence(const struct change *c)
{
	double sum = 0;

	for (size_t i = 0; i < CHANGE_BETS; i++)
		sum += c->bets[i].sum;
	return sum / CHANGE_BETS;
}

int change_add(struct change *c, double value)
{
	double total = (double)(c->n_baseline + 1 + c->n), below = 0, above, low, high;
	size_t cell;

	if (!isfinite(value))
		return -ERANGE;
	cell = find_cell(c, value, coin(&c->random));
	for (size_t i = 0; i < cell; i++)
		below += (double)(1 + c->seen[i]);
	above = below + (double)(1 + c->seen[cell]);
	low = normal_score(below, total);
	high = normal_score(above, total);
	for (size_t i = 0; i < CHANGE_BETS; i++) {
		double mass = alternative_cdf(i, above / total, high) -
			      alternative_cdf(i, below / total, low);
		double gain = mass * total / (above - below);

		bet_update(&c->bets[i], KEPT_BACK + (1 - KEPT_BACK) * gain, c->n);
	}
	c->seen[cell]++;
	c->recent[c->n % CHANGE_RECENT_MAX] = value;
	c->n++;
	return evidence(c) >= c->bar;
}

/* The kind whose bets have most together, and the best of its bets. */
static const struct change_bet *leading_bet(const struct change *c, enum change_kind *ret)
{
	double sums[CHANGE_KINDS] = { 0 };
	const struct change_bet *best = NULL;

	for (size_t i = 0; i < CHANGE_BETS; i++)
		sums[bets[i].kind] += c->bets[i].sum;
	*ret = CHANGE_UP;
	for (enum change_kind k = CHANGE_UP; k < CHANGE_KINDS; k++)
		if (sums[k] > sums[*ret])
			*ret = k;
	for (size_t i = 0; i < CHANGE_BETS; i++)
		if (bets[i].kind == *ret && (!best || c->bets[i].best > best->best))
			best = &c->bets[i];
	return best;
}

static void describe(double *values, size_t n, double *ret_level, double *ret_spread)
{
	double scratch[CHANGE_BASELINE_MAX + CHANGE_RECENT_MAX];

	*ret_level = *ret_spread = NAN;
	if (n == 0)
		return;
	robust_sort(values, n);
	*ret_level = robust_median(values, n);
	*ret_spread = robust_mad(values, n, *ret_level, scratch);
}

void change_report(const struct change *c, struct change_report *ret)
{
	double before[CHANGE_BASELINE_MAX + CHANGE_RECENT_MAX], after[CHANGE_RECENT_MAX];
	uint64_t first = c->n - MIN_OF(c->n, CHANGE_RECENT_MAX);
	const struct change_bet *b;

	*ret = (struct change_report){ .evidence = evidence(c) };
	ret->alarm = ret->evidence >= c->bar;
	b = leading_bet(c, &ret->kind);
	ret->since = b->best > 1 ? b->since : c->n;
	for (; ret->n_before < c->n_baseline; ret->n_before++)
		before[ret->n_before] = c->baseline[ret->n_before];
	for (uint64_t i = first; i < c->n; i++) {
		double value = c->recent[i % CHANGE_RECENT_MAX];

		if (i < ret->since)
			before[ret->n_before++] = value;
		else
			after[ret->n_after++] = value;
	}
	describe(before, ret->n_before, &ret->level_before, &ret->spread_before);
	describe(after, ret->n_after, &ret->level_after, &ret->spread_after);
}

void change_restart(struct change *c)
{
	for (size_t i = 0; i < CHANGE_BETS; i++)
		c->bets[i] = (struct change_bet){ .since = c->n };
}

int change_block_init(struct change_block *b, size_t size)
{
	if (size == 0 || size > CHANGE_BLOCK_MAX)
		return -EINVAL;
	*b = (struct change_block){ .size = size };
	return 0;
}

int change_block_add(struct change_block *b, double value, double *ret)
{
	b->values[b->n++] = value;
	if (b->n < b->size)
		return 0;
	robust_sort(b->values, b->n);
	*ret = robust_median(b->values, b->n);
	b->n = 0;
	return 1;
}
