/* SPDX-License-Identifier: MIT */
/*
 * The processes that bet on signs: Huber's, the signed rank's, and the mean of all.
 */
#include "stats/betting.h"

#include <errno.h>
#include <math.h>

#include "stats/betting-internal.h"

/* Small bets win slowly against small effects, large ones fast against large ones. */
static const double huber_bets[BETTING_HUBER_BETS] = { .05, .1, .2, .35, .5, .7, .9, .99 };
static const double rank_bets[BETTING_RANK_BETS] = { .2, .4, .6, .8, .95, .99 };

void betting_init(struct betting *b, struct rank_node *nodes, uint32_t capacity)
{
	*b = (struct betting){ 0 };
	rank_tree_init(&b->sizes, nodes, capacity);
}

double betting_log_mean(const double *values, size_t n)
{
	double top = values[0], sum = 0;

	for (size_t i = 1; i < n; i++)
		top = fmax(top, values[i]);
	if (isinf(top))
		return top;
	for (size_t i = 0; i < n; i++)
		sum += exp(values[i] - top);
	return top + log(sum / (double)n);
}

/* Multiplies each product by 1 + c @bet. */
static void win(double *products, const double *bets, size_t n, double bet)
{
	for (size_t i = 0; i < n; i++)
		products[i] += log1p(bets[i] * bet);
}

void betting_bet(struct betting *b, double d, enum betting_side side)
{
	double size = fabs(d), limit, u, r;
	uint32_t below;

	(void)rank_tree_add(&b->sizes, size);
	if (size == 0)
		return;
	limit = rank_tree_at(&b->sizes, (uint32_t)(b->sizes.n * UINT64_C(2) / 3));
	u = size < limit ? size / limit : 1;
	below = rank_tree_below(&b->sizes, size);
	r = ((double)below + (double)(rank_tree_up_to(&b->sizes, size) - below) / 2) / b->sizes.n;
	b->signs[d < 0]++;
	for (enum betting_side s = BETTING_UP; s <= BETTING_DOWN; s++) {
		double won = (s == BETTING_UP) == (d > 0) ? 1 : -1;

		if (side != BETTING_BOTH && side != s)
			continue;
		win(b->huber[s], huber_bets, BETTING_HUBER_BETS, won * u);
		win(b->rank[s], rank_bets, BETTING_RANK_BETS, won * r);
	}
}

int betting_add(struct betting *b, double d)
{
	if (!isfinite(d))
		return -EINVAL;
	if (b->sizes.n >= b->sizes.capacity)
		return -ENOBUFS;
	betting_bet(b, d, BETTING_BOTH);
	return 0;
}

static double part_of_side(const struct betting *b, enum betting_part part, enum betting_side side)
{
	switch (part) {
	case BETTING_SIGN:
		return betting_sign_log_e(b->signs[0], b->signs[1], side);
	case BETTING_HUBER:
		return betting_log_mean(b->huber[side], BETTING_HUBER_BETS);
	default:
		return betting_log_mean(b->rank[side], BETTING_RANK_BETS);
	}
}

double betting_log_e(const struct betting *b, enum betting_part part, enum betting_side side)
{
	double parts[BETTING_PRIMARY], sides[2];

	if (part == BETTING_PRIMARY) {
		for (enum betting_part p = 0; p < BETTING_PRIMARY; p++)
			parts[p] = betting_log_e(b, p, side);
		return betting_log_mean(parts, BETTING_PRIMARY);
	}
	if (side != BETTING_BOTH)
		return part_of_side(b, part, side);
	if (part == BETTING_SIGN)
		return betting_sign_log_e(b->signs[0], b->signs[1], BETTING_BOTH);
	for (enum betting_side s = BETTING_UP; s <= BETTING_DOWN; s++)
		sides[s] = part_of_side(b, part, s);
	return betting_log_mean(sides, 2);
}

double betting_log_e_limit(const struct betting *b, enum betting_side side)
{
	double top = M_LN2 + betting_sign_log_e(b->signs[0], b->signs[1], BETTING_BOTH);

	for (size_t i = 0; i < BETTING_HUBER_BETS; i++)
		top = fmax(top, b->huber[side][i]);
	for (size_t i = 0; i < BETTING_RANK_BETS; i++)
		top = fmax(top, b->rank[side][i]);
	return top;
}
