/* SPDX-License-Identifier: MIT */
/*
 * Bets on the signs of blocks: evidence against "the setting changes nothing" that stays valid however
 * often one looks and whenever one stops.
 *
 * Block n gives a difference d_n (ln of B over A, or the sign of B - A) measured in an order that a fair
 * coin chose. If the setting changes nothing, the sign of d_n is a fair coin too, given |d_n| and all
 * blocks before, whatever the noise, its drift or its modes. A process here bets on that sign: it begins
 * with e = 1 and is multiplied by 1 + bet or 1 - bet. Each bet depends on |d_1| .. |d_n| and the signs
 * before n, so the mean of every factor is 1, and P(e ever reaches 1 / alpha) <= alpha (Ville 1939).
 * d_n = 0 multiplies by 1.
 *
 * Three parts, each the mean over a grid of bets:
 *
 *     sign   all bets p in (0, 1) weighted by the Beta(1/2, 1/2) density (Krichevsky and Trofimov 1981)
 *     Huber  1 + c u, u = min(1, |d_n| / q_n), where two thirds of |d_1| .. |d_n| are below q_n, the one
 *            with floor(2 n / 3) others before it; 8 values of c (after Huber 1964)
 *     rank   1 + c r, r = (those below |d_n| + half of those equal to it) / n, 6 values of c: the signed
 *            rank of Wilcoxon 1945, taken in sequence (Reynolds 1975)
 *
 * and the primary process, which is the mean of the three and decides. Tests of symmetry by betting:
 * Ramdas, Ruf, Larsson, Koolen 2020 (arXiv 2009.03167); Vovk and Wang 2024 (Nonparametric e-tests of
 * symmetry, New England J. Stat. Data Sci. 2).
 *
 * Ties and zeros: d_n counts among those equal to it, so r is the middle rank less a half, over n. Blocks
 * with d = 0 place no bet, yet are counted in r and q (Pratt 1959). All that depends on |d| only, so the
 * factors keep their mean 1. And it makes every factor of a bet upwards fall, never rise, when all d
 * are moved down by the same amount: for |d_n - m| and q_n change at most as fast as m, and
 * |d_i - m| < |d_n - m| turns around only where m passes their midpoint. Two things hold by that: such a
 * process is valid against every effect at or below 0, with any noise that is symmetric around the
 * effect; and an interval by inversion can be searched exactly (stats/interval.h). A Huber limit of 1.5
 * medians, or ranks without the zeros, would not have it, and win no sooner.
 *
 * Everything is kept as logarithms: nothing overflows. Pure: no input, no output, no allocation.
 */
#pragma once

#include <stdint.h>

#include "stats/rank-tree.h"

enum betting_side {
	BETTING_UP,   /* that d is above 0 */
	BETTING_DOWN, /* that d is below 0 */
	BETTING_BOTH, /* the mean of both */
	BETTING_SIDE_MAX,
};

enum betting_part {
	BETTING_SIGN,
	BETTING_HUBER,
	BETTING_RANK,
	BETTING_PRIMARY,
	BETTING_PART_MAX,
};

#define BETTING_HUBER_BETS 8
#define BETTING_RANK_BETS  6

/* The process after some blocks. 264 bytes, and 24 for each block in memory of the caller. */
struct betting {
	struct rank_tree sizes;              /* of |d| */
	uint64_t signs[2];                   /* how many d are above 0, and below it */
	double huber[2][BETTING_HUBER_BETS]; /* ln of the product for each bet, up and down */
	double rank[2][BETTING_RANK_BETS];
};

/* Before the first block. @nodes has room for @capacity blocks, stays the caller's and must outlive @b. */
void betting_init(struct betting *b, struct rank_node *nodes, uint32_t capacity);

/*
 * Takes in the next block, in O(log n). -EINVAL where @d is not finite (compare the signs of B - A where
 * a value can be 0; a block may not be left out because of what it says), -ENOBUFS where the memory is
 * full: nothing changes then.
 */
int betting_add(struct betting *b, double d);

/*
 * ln e of a part and side now; 0 before the first block. That of BETTING_BOTH is the ln of the mean of e up
 * and e down. Time O(1); for one side of the sign or primary process up to O(sqrt(n)).
 */
double betting_log_e(const struct betting *b, enum betting_part part, enum betting_side side);

/*
 * ln e of the sign process from its counts alone. Both: the Krichevsky-Trofimov mixture. Up: the same bets
 * with p > 1/2 only, their weights doubled, and down likewise.
 */
double betting_sign_log_e(uint64_t positive, uint64_t negative, enum betting_side side);
