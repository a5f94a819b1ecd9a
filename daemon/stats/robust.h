/* SPDX-License-Identifier: MIT */
/*
 * Location and spread that outliers do not pull. Pure: no input, no output.
 */
#pragma once

#include <stddef.h>

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
