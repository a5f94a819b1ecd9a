/* SPDX-License-Identifier: MIT */
/*
 * Tail probabilities of the few distributions that rank methods need. For the other files of
 * stats/.
 *
 * Most ask the same question of a count T: the largest k with P(T < k) <= a. Then the k-th smallest
 * of the things counted bounds an interval from below. P(T < k) itself goes to *@ret_mass; k = 0,
 * with mass 0, where already P(T = 0) > a. @a is in 0..0.5. Nothing is allocated.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Up to here the rank distributions are counted out (10 KiB of stack); beyond, they are normal. */
#define TAIL_EXACT_MAX 50

/* P(N(0,1) <= @z). */
double tail_normal(double z);

/* T binomial of @n trials at probability 0 < @p < 1. Exact, in O(k). */
uint64_t tail_binomial(size_t n, double p, double a, double *ret_mass);

/*
 * T the signed-rank sum of @n values without ties (Wilcoxon 1945): exact for @n <= TAIL_EXACT_MAX,
 * else by the normal distribution with continuity correction.
 */
uint64_t tail_signed_rank(size_t n, double a, double *ret_mass);

/*
 * T the number of pairs, one of @n values and one of @m others, that are in descending order (Mann
 * and Whitney 1947): exact where both are <= TAIL_EXACT_MAX, else normal with continuity
 * correction.
 */
uint64_t tail_rank_sum(size_t n, size_t m, double a, double *ret_mass);

/* P(a random order of @n <= TAIL_EXACT_MAX things has at most @k inversions) (Kendall 1938). */
double tail_inversions(size_t n, uint64_t k);
