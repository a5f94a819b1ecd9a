/* SPDX-License-Identifier: MIT */
/*
 * Location and spread that outliers do not pull. Pure: no input, no output.
 *
 * Everywhere in stats/ values are finite and at most ROBUST_MAX in magnitude, so that sums and
 * differences are finite too; what can refuse others says -EINVAL. What cannot be said of so few
 * values is -ENODATA. On failure nothing is written.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define ROBUST_MAX 1e300

/*
 * Sorts @values. The quantile at @p in 0..1 of sorted values is interpolated between neighbours
 * (Hyndman and Fan 1996, definition 7); the median is that at 0.5. @n > 0.
 */
void robust_sort(double *values, size_t n);
double robust_quantile(const double *sorted, size_t n, double p);
double robust_median(const double *sorted, size_t n);

/*
 * The median absolute deviation from @centre, times 1.4826: so it estimates the standard deviation
 * of normal values (Hampel 1974), and half the values may be anything. @scratch holds @n doubles.
 */
double robust_mad(const double *values, size_t n, double centre, double *scratch);

/* The same from the median, of values that are sorted; needs no scratch. @n > 0. */
double robust_mad_sorted(const double *sorted, size_t n);

/* Whether all @n values may be used (see above), and are in ascending order. */
bool robust_are_sorted(const double *values, size_t n);

/* Both ends belong to it. */
struct robust_interval {
	double lower, upper;
	double coverage; /* P(it holds the truth): at least the level that was asked for */
};

/*
 * An interval for the quantile at @p of the distribution that @sorted is a sample of, whatever it
 * is: two order statistics, each of whose binomial tails is at most (1 - @level) / 2 (Thompson
 * 1936; David and Nagaraja, Order Statistics, 2003, 7.1). Ties make it cover more. -ENODATA where
 * @n is too small for the level: the median at 0.95 needs 6 values, the 0.99 quantile 368. -EINVAL
 * unless 0 < @p, @level < 1.
 */
int robust_quantile_interval(const double *sorted, size_t n, double p, double level,
			     struct robust_interval *ret);
