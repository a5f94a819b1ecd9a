/* SPDX-License-Identifier: MIT */
/*
 * Values in the order in which they were measured: do they drift, and what do they know of each
 * other?
 *
 * Values need not be sorted; they are as robust.h wants them, else -EINVAL. -ENODATA where there is
 * nothing to say: fewer than two values, or (but for the slope) all equal.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct series_drift {
	double tau; /* tau-b in -1..1: above 0 they rise */
	double p;   /* two-sided; small: a drift */
	size_t n;
	bool exact; /* else by the normal distribution */
};

/*
 * Kendall's tau of the values against their order (Kendall 1938; Mann 1945 as a test of drift), in
 * O(n log n) (Knight 1966). p is exact up to 50 values without ties; else it is normal with the
 * variance for ties (Kendall, Rank Correlation Methods, 1970) and continuity correction. @scratch
 * holds 2 @n doubles. p holds for values that know nothing of each other: neighbours that resemble
 * each other look like a drift.
 */
int series_kendall(const double *values, size_t n, double *scratch, struct series_drift *ret);

/*
 * The median of all slopes between two values, per step of the order (Theil 1950; Sen 1968), in O(n
 * log n log(range / precision)): some 0.1 s for 10^4 values. To within the rounding of the values:
 * 1e-15 times the largest, or so. @scratch holds 2 @n doubles.
 */
int series_slope(const double *values, size_t n, double *scratch, double *ret);

/*
 * The correlation of values @lag steps apart: sum of products of deviations from the mean over the
 * sum of squares (Box and Jenkins 1970, their r_k). 1 at lag 0; -ENODATA for @lag >= @n.
 */
int series_autocorrelation(const double *values, size_t n, size_t lag, double *ret);

/* No correlation beyond this lag is looked at. */
#define SERIES_LAG_MAX 1000

/*
 * How many independent values tell as much about the mean: n / (1 + 2 sum of autocorrelations), the
 * sum cut off by Geyer's initial monotone sequence (1992), never below 1 or above @n. In O(n x lags
 * until that ends).
 */
int series_effective_size(const double *values, size_t n, double *ret);
