/* SPDX-License-Identifier: MIT */
/*
 * Small graphs of text.
 */
#include "render/spark.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "render/table.h"
#include "stats/robust.h"
#include "util/macro.h"

#define MIDDLE  3
#define NO_NEWS 0.005

static const char *const blocks[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
static const char *const digits[] = { "1", "2", "3", "4", "5", "6", "7", "8" };

static void find_medians(double *medians, size_t n_buckets, double *scratch, const double *values,
			 size_t n)
{
	for (size_t i = 0; i < n_buckets; i++) {
		size_t from = i * n / n_buckets, to = (i + 1) * n / n_buckets;

		memcpy(scratch, values + from, (to - from) * sizeof(*values));
		robust_sort(scratch, to - from);
		medians[i] = robust_median(scratch, to - from);
	}
}

/* Differences that small are no news, and would look like some. */
static bool is_flat(const double *medians, size_t n, double range)
{
	double sorted[SPARK_BUCKETS];

	memcpy(sorted, medians, n * sizeof(*medians));
	robust_sort(sorted, n);
	return !isfinite(range) || range <= NO_NEWS * fabs(robust_median(sorted, n));
}

const char *spark(char buffer[SPARK_MAX], const double *values, size_t n)
{
	const char *const *heights = output_is_utf8() ? blocks : digits;
	size_t n_buckets = MIN_OF(n, SPARK_BUCKETS);
	double medians[SPARK_BUCKETS], least = INFINITY, greatest = -INFINITY;
	_cleanup_free_ double *scratch = calloc(n + 1, sizeof(*scratch));
	char *end = buffer;
	bool flat;

	*buffer = '\0';
	if (!scratch || n < SPARK_VALUES_MIN)
		return buffer;
	find_medians(medians, n_buckets, scratch, values, n);
	for (size_t i = 0; i < n_buckets; i++) {
		least = fmin(least, medians[i]);
		greatest = fmax(greatest, medians[i]);
	}
	flat = is_flat(medians, n_buckets, greatest - least);
	for (size_t i = 0; i < n_buckets; i++) {
		long height = flat ? MIDDLE : lround((medians[i] - least) / (greatest - least) * 7);

		end = stpcpy(end, heights[height]);
	}
	return buffer;
}
