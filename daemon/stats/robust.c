/* SPDX-License-Identifier: MIT */
/*
 * Medians, quantiles and the median absolute deviation.
 */
#include "stats/robust.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "stats/tail.h"

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

double robust_mad_sorted(const double *sorted, size_t n)
{
	double centre = robust_median(sorted, n), last = 0, before = 0;
	size_t up = n / 2, down = up;

	/* Outwards from the middle the deviations ascend on either side: they are merged, up to
	 * half. */
	for (size_t taken = 0; taken <= n / 2; taken++) {
		before = last;
		if (down == 0 || (up < n && sorted[up] - centre < centre - sorted[down - 1]))
			last = fabs(sorted[up++] - centre);
		else
			last = fabs(centre - sorted[--down]);
	}
	return MAD_TO_SD * (n % 2 ? last : before + 0.5 * (last - before));
}

bool robust_are_sorted(const double *values, size_t n)
{
	/* Comparisons are written so that NaN fails them. */
	for (size_t i = 0; i < n; i++)
		if (!(fabs(values[i]) <= ROBUST_MAX) || (i > 0 && !(values[i - 1] <= values[i])))
			return false;
	return true;
}

int robust_quantile_interval(const double *sorted, size_t n, double p, double level,
			     struct robust_interval *ret)
{
	double below, above;
	uint64_t lower, upper;

	if (!(p > 0 && p < 1 && level > 0 && level < 1) || !robust_are_sorted(sorted, n))
		return -EINVAL;
	/* From above the quantile is that at 1 - p. */
	lower = tail_binomial(n, p, (1 - level) / 2, &below);
	upper = tail_binomial(n, 1 - p, (1 - level) / 2, &above);
	if (lower == 0 || upper == 0)
		return -ENODATA;
	*ret = (struct robust_interval){ sorted[lower - 1], sorted[n - upper], 1 - below - above };
	return 0;
}
