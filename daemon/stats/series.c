/* SPDX-License-Identifier: MIT */
/*
 * Drift by counting inversions while sorting; slope by counting them for a slope; autocorrelation.
 */
#include "stats/series.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "stats/robust.h"
#include "stats/tail.h"

static bool usable(const double *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!(fabs(values[i]) <= ROBUST_MAX))
			return false;
	return true;
}

/* Merges the sorted @from[0..@middle) and @from[@middle..@n) into @to; how often left > right. */
static uint64_t merge(const double *from, size_t middle, size_t n, double *to)
{
	uint64_t inversions = 0;
	size_t left = 0, right = middle;

	for (size_t i = 0; i < n; i++) {
		if (right == n || (left < middle && from[left] <= from[right])) {
			to[i] = from[left++];
		} else {
			to[i] = from[right++];
			inversions += middle - left;
		}
	}
	return inversions;
}

/* Sorts @values, with @n doubles of @scratch; how many pairs stood in descending order. */
static uint64_t sort_and_count(double *values, size_t n, double *scratch)
{
	uint64_t inversions = 0;

	for (size_t width = 1; width < n; width *= 2) {
		for (size_t i = 0; i < n; i += 2 * width) {
			size_t rest = n - i, size = rest < 2 * width ? rest : 2 * width;

			inversions +=
				merge(values + i, width < size ? width : size, size, scratch + i);
		}
		memcpy(values, scratch, n * sizeof(*values));
	}
	return inversions;
}

struct ties {
	uint64_t pairs;
	double variance; /* the sum of t (t - 1) (2 t + 5) over groups of t */
};

static struct ties count_ties(const double *sorted, size_t n)
{
	struct ties ties = { 0 };

	for (size_t i = 0, end; i < n; i = end) {
		double t;

		for (end = i + 1; end < n && sorted[end] == sorted[i];)
			end++;
		t = (double)(end - i);
		ties.pairs += (uint64_t)(end - i) * (end - i - 1) / 2;
		ties.variance += t * (t - 1) * (2 * t + 5);
	}
	return ties;
}

int series_kendall(const double *values, size_t n, double *scratch, struct series_drift *ret)
{
	uint64_t pairs = n > 0 ? (uint64_t)n * (n - 1) / 2 : 0, falling, rising;
	struct series_drift drift = { .n = n };
	double x = (double)n, score, variance;
	struct ties ties;

	if (!usable(values, n))
		return -EINVAL;
	if (n < 2)
		return -ENODATA;
	memcpy(scratch, values, n * sizeof(*values));
	falling = sort_and_count(scratch, n, scratch + n);
	ties = count_ties(scratch, n);
	if (ties.pairs == pairs)
		return -ENODATA;
	rising = pairs - ties.pairs - falling;
	score = (double)rising - (double)falling;
	drift.tau = score / sqrt((double)pairs) / sqrt((double)(pairs - ties.pairs));
	drift.exact = ties.pairs == 0 && n <= TAIL_EXACT_MAX;
	if (drift.exact) {
		drift.p = 2 * tail_inversions(n, falling < rising ? falling : rising);
	} else {
		variance = (x * (x - 1) * (2 * x + 5) - ties.variance) / 18;
		drift.p = 2 * tail_normal(-fmax(0, fabs(score) - 1) / sqrt(variance));
	}
	drift.p = fmin(1, drift.p);
	*ret = drift;
	return 0;
}

/* How many slopes are at most @slope: the pairs that stand level or fall when it is taken away. */
static uint64_t count_slopes(const double *values, size_t n, double slope, double *scratch)
{
	uint64_t falling;

	for (size_t i = 0; i < n; i++)
		scratch[i] = values[i] - slope * (double)i;
	falling = sort_and_count(scratch, n, scratch + n);
	return falling + count_ties(scratch, n).pairs;
}

/* The @k-th smallest slope, between @low and @high, to the last digit that counting can tell. */
static double select_slope(const double *values, size_t n, uint64_t k, double low, double high,
			   double *scratch)
{
	if (count_slopes(values, n, low, scratch) >= k)
		return low;
	for (;;) {
		double middle = low + 0.5 * (high - low);

		if (!(middle > low && middle < high))
			return high;
		/* Zero is the slope of many equal values, and bisection would only come near it. */
		if (low < 0 && high > 0)
			middle = 0;
		if (count_slopes(values, n, middle, scratch) >= k)
			high = middle;
		else
			low = middle;
	}
}

int series_slope(const double *values, size_t n, double *scratch, double *ret)
{
	uint64_t pairs = n > 0 ? (uint64_t)n * (n - 1) / 2 : 0;
	double low = INFINITY, high = -INFINITY, first, second;

	if (!usable(values, n))
		return -EINVAL;
	if (n < 2)
		return -ENODATA;
	/* No slope is steeper than the steepest between neighbours. */
	for (size_t i = 0; i + 1 < n; i++) {
		low = fmin(low, values[i + 1] - values[i]);
		high = fmax(high, values[i + 1] - values[i]);
	}
	first = select_slope(values, n, (pairs + 1) / 2, low, high, scratch);
	second = pairs % 2 ? first : select_slope(values, n, pairs / 2 + 1, first, high, scratch);
	*ret = first + 0.5 * (second - first);
	return 0;
}

/* What deviations are taken from and measured in, so that no square is too large or too small. */
struct scale {
	double mean, unit;
};

static int find_scale(const double *values, size_t n, struct scale *ret)
{
	struct scale s = { 0, 0 };

	if (!usable(values, n))
		return -EINVAL;
	if (n < 2)
		return -ENODATA;
	/* Around the first value, so that equal values have no deviation at all. */
	for (size_t i = 0; i < n; i++)
		s.mean += (values[i] - values[0]) / (double)n;
	s.mean += values[0];
	for (size_t i = 0; i < n; i++)
		s.unit = fmax(s.unit, fabs(values[i] - s.mean));
	if (s.unit == 0)
		return -ENODATA;
	*ret = s;
	return 0;
}

static double sum_of_products(const double *values, size_t n, size_t lag, const struct scale *s)
{
	double sum = 0;

	for (size_t i = 0; i + lag < n; i++)
		sum += (values[i] - s->mean) / s->unit * ((values[i + lag] - s->mean) / s->unit);
	return sum;
}

int series_autocorrelation(const double *values, size_t n, size_t lag, double *ret)
{
	struct scale s;
	int r = find_scale(values, n, &s);

	if (r < 0)
		return r;
	if (lag >= n)
		return -ENODATA;
	*ret = sum_of_products(values, n, lag, &s) / sum_of_products(values, n, 0, &s);
	return 0;
}

int series_effective_size(const double *values, size_t n, double *ret)
{
	double square, sum = -1, last = INFINITY;
	struct scale s;
	int r = find_scale(values, n, &s);

	if (r < 0)
		return r;
	square = sum_of_products(values, n, 0, &s);
	/* Sums of an even lag and the next one fall and stay above 0 where it is not noise. */
	for (size_t lag = 0; lag + 1 < n && lag < SERIES_LAG_MAX; lag += 2) {
		double both = (sum_of_products(values, n, lag, &s) +
			       sum_of_products(values, n, lag + 1, &s)) /
			      square;

		if (both <= 0)
			break;
		last = fmin(last, both);
		sum += 2 * last;
	}
	*ret = (double)n / fmin((double)n, fmax(1, sum));
	return 0;
}
