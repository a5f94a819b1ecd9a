/* SPDX-License-Identifier: MIT */
/*
 * The median of pairs, by bisection over the doubles.
 */
#include "stats/hodges-lehmann.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "stats/tail.h"

/* All pairs: means within @a where @b is NULL, else differences b - a. */
struct pairs {
	const double *a, *b;
	size_t n, m;
};

static uint64_t pairs_count(const struct pairs *p)
{
	return p->b ? (uint64_t)p->n * p->m : (uint64_t)p->n * (p->n + 1) / 2;
}

/* Halved before they are added: as exact, and never too large. */
static double mean_of(double x, double y)
{
	return 0.5 * x + 0.5 * y;
}

/* How many means are at most @v; the smallest above it goes to *@ret_next. */
static uint64_t walk_means(const struct pairs *p, double v, double *ret_next)
{
	double next = INFINITY;
	uint64_t count = 0;
	size_t end =
		p->n; /* of the columns i..end-1 that are at most @v; never grows from row to row */

	for (size_t i = 0; i < end; i++) {
		while (end > i && mean_of(p->a[i], p->a[end - 1]) > v) {
			next = fmin(next, mean_of(p->a[i], p->a[end - 1]));
			end--;
		}
		count += end - i;
	}
	*ret_next = next;
	return count;
}

static uint64_t walk_differences(const struct pairs *p, double v, double *ret_next)
{
	double next = INFINITY;
	uint64_t count = 0;
	size_t end = 0;

	for (size_t i = 0; i < p->n; i++) {
		while (end < p->m && p->b[end] - p->a[i] <= v)
			end++;
		if (end < p->m)
			next = fmin(next, p->b[end] - p->a[i]);
		count += end;
	}
	*ret_next = next;
	return count;
}

static uint64_t walk(const struct pairs *p, double v, double *ret_next)
{
	return p->b ? walk_differences(p, v, ret_next) : walk_means(p, v, ret_next);
}

/* Doubles as integers in the same order, and back. IEEE 754 keeps sign and magnitude. */
static int64_t to_key(double v)
{
	int64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return bits < 0 ? INT64_MIN - bits : bits;
}

static double from_key(int64_t key)
{
	int64_t bits = key < 0 ? INT64_MIN - key : key;
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

/* The @k-th smallest, counted from 1. The one after it goes to *@ret_next. */
static double select_pair(const struct pairs *p, uint64_t k, double *ret_next)
{
	double least = p->b ? p->b[0] - p->a[p->n - 1] : p->a[0];
	double most = p->b ? p->b[p->m - 1] - p->a[0] : p->a[p->n - 1];
	int64_t low = to_key(least), high = to_key(most);
	double v, next;

	while (low < high) {
		/* Of opposite signs their distance may not fit an integer. */
		int64_t middle = (low & high) + ((low ^ high) >> 1);

		if (walk(p, from_key(middle), &next) >= k)
			high = middle;
		else
			low = middle + 1;
	}
	v = from_key(low);
	*ret_next = walk(p, v, &next) > k ? v : next;
	return v;
}

static double median_of(const struct pairs *p)
{
	uint64_t count = pairs_count(p);
	double next, v = select_pair(p, (count + 1) / 2, &next);

	return count % 2 ? v : mean_of(v, next);
}

/* From the @k-th smallest to the @k-th largest, each tail of which has probability @mass. */
static int interval_of(const struct pairs *p, uint64_t k, double mass, struct robust_interval *ret)
{
	double next;

	if (k == 0)
		return -ENODATA;
	*ret = (struct robust_interval){
		.lower = select_pair(p, k, &next),
		.upper = select_pair(p, pairs_count(p) + 1 - k, &next),
		.coverage = 1 - 2 * mass,
	};
	return 0;
}

int hodges_lehmann_one(const double *sorted, size_t n, double *ret)
{
	if (!robust_are_sorted(sorted, n))
		return -EINVAL;
	if (n == 0)
		return -ENODATA;
	*ret = median_of(&(struct pairs){ .a = sorted, .n = n });
	return 0;
}

int hodges_lehmann_one_interval(const double *sorted, size_t n, double level,
				struct robust_interval *ret)
{
	uint64_t k;
	double mass;

	if (!(level > 0 && level < 1) || !robust_are_sorted(sorted, n))
		return -EINVAL;
	if (n == 0)
		return -ENODATA;
	k = tail_signed_rank(n, (1 - level) / 2, &mass);
	return interval_of(&(struct pairs){ .a = sorted, .n = n }, k, mass, ret);
}

int hodges_lehmann_two(const double *a, size_t n, const double *b, size_t m, double *ret)
{
	if (!robust_are_sorted(a, n) || !robust_are_sorted(b, m))
		return -EINVAL;
	if (n == 0 || m == 0)
		return -ENODATA;
	*ret = median_of(&(struct pairs){ .a = a, .n = n, .b = b, .m = m });
	return 0;
}

int hodges_lehmann_two_interval(const double *a, size_t n, const double *b, size_t m, double level,
				struct robust_interval *ret)
{
	uint64_t k;
	double mass;

	if (!(level > 0 && level < 1) || !robust_are_sorted(a, n) || !robust_are_sorted(b, m))
		return -EINVAL;
	if (n == 0 || m == 0)
		return -ENODATA;
	k = tail_rank_sum(n, m, (1 - level) / 2, &mass);
	return interval_of(&(struct pairs){ .a = a, .n = n, .b = b, .m = m }, k, mass, ret);
}
