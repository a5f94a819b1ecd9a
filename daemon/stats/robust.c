/* SPDX-License-Identifier: MIT */
/*
 * Medians, quantiles and the median absolute deviation.
 */
#include "stats/robust.h"

#include <math.h>
#include <stdlib.h>

#define MAD_TO_SD 1.4826 /* 1 / the 0.75 quantile of the standard normal distribution */

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

void robust_sort(double *values, size_t n)
{
	qsort(values, n, sizeof(*values), compare);
}

double robust_quantile(const double *sorted, size_t n, double p)
{
	double at = p * (double)(n - 1);
	size_t below = (size_t)at;

	if (below + 1 >= n)
		return sorted[n - 1];
	return sorted[below] + (at - (double)below) * (sorted[below + 1] - sorted[below]);
}

double robust_median(const double *sorted, size_t n)
{
	return robust_quantile(sorted, n, 0.5);
}

double robust_mad(const double *values, size_t n, double centre, double *scratch)
{
	for (size_t i = 0; i < n; i++)
		scratch[i] = fabs(values[i] - centre);
	robust_sort(scratch, n);
	return MAD_TO_SD * robust_median(scratch, n);
}
