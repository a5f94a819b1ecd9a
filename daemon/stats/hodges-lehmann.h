/* SPDX-License-Identifier: MIT */
/*
 * Location and shift by pairs (Hodges and Lehmann 1963), with the intervals of the rank tests.
 *
 * The median of many pairs that nobody writes down: sorted values make their sums a matrix with
 * sorted rows and columns, in which "how many are at most v" is one walk along a staircase (Johnson
 * and Mizoguchi 1978). The k-th smallest is found by bisection over the doubles themselves, so that
 * it is one of the pairs' own values, in at most 64 walks: O(n + m) each, no memory, no luck needed
 * (Monahan 1984 takes random pivots). 10^5 values take some 60 ms.
 *
 * Values are sorted and as robust.h wants them; else -EINVAL. Equal values are allowed.
 */
#pragma once

#include "stats/robust.h"

/*
 * The median of all means of two values, each with itself too: estimates the centre of a symmetric
 * distribution. -ENODATA for @n = 0.
 */
int hodges_lehmann_one(const double *sorted, size_t n, double *ret);

/*
 * The centres that Wilcoxon's signed-rank test (1945) does not reject at 1 - @level (Tukey 1949;
 * Hollander and Wolfe, Nonparametric Statistical Methods, 1999, 3.3), for values that are symmetric
 * around their centre. Exact up to 50 values (for ties it covers more), beyond by the normal
 * distribution. -ENODATA where @n is too small: 0.95 needs 6, 0.99 needs 8, 0.999 needs 11. -EINVAL
 * unless 0 < @level < 1.
 */
int hodges_lehmann_one_interval(const double *sorted, size_t n, double level,
				struct robust_interval *ret);

/* The median of all differences b - a: how far @b lies above @a. -ENODATA where one is empty. */
int hodges_lehmann_two(const double *a, size_t n, const double *b, size_t m, double *ret);

/*
 * The shifts that the rank-sum test does not reject (Moses 1965; Hollander and Wolfe 1999, 4.3),
 * for two distributions of one shape. Exact where both have at most 50 values (for ties it covers
 * more), else by the normal distribution. -ENODATA where they are too small (0.95 needs 4 and 4, or
 * 3 and 5); -EINVAL as above.
 */
int hodges_lehmann_two_interval(const double *a, size_t n, const double *b, size_t m, double level,
				struct robust_interval *ret);
