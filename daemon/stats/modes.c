/* SPDX-License-Identifier: MIT */
/*
 * The valley between two modes, what lies on its sides, and both tests together.
 */
#include "stats/modes.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "stats/modes-internal.h"
#include "stats/robust.h"

/* Bonferroni's shares. A group's falls with its size, an end's with the values beyond it: see
 * weigh_*(). */
#define GROUP_SHARE 4.0
#define END_SHARE   1.0

/* No value stands nearer to its group's end than this part of the way: the rest is rounding. */
#define NEAREST 1e-6

/*
 * ln of what P(the sum of @m uniform values <= @s) is at most. Two bounds: the simplex, s^m / m!,
 * exact up to s = 1; and Chernoff's, whose parameter may be any, so that Cohen's (1991) rational
 * approximation to the inverse of Langevin's function gives a good one.
 */
static double ln_crowded(double m, double s)
{
	double y = 1 - 2 * s / m, t = 2 * y * (3 - y * y) / (1 - y * y);
	double simplex, chernoff;
	int sign;

	if (y <= 0)
		return 0;
	simplex = m * log(s) - lgamma_r(m + 1, &sign);
	chernoff = t * s + m * log(-expm1(-t) / t);
	return fmin(0, fmin(simplex, chernoff));
}

/* Shares a / ((i + a) (i + a + 1)) sum to 1 over i = 0, 1, ... whatever a is. */
static double ln_share(double a, double i)
{
	return log(a) - log((i + a) * (i + a + 1));
}

/* Each gap is known by the size of the smaller group, from 2 on, and its side. */
static double ln_gap_share(size_t smaller)
{
	return ln_share(GROUP_SHARE, (double)smaller - 2) - log(2);
}

/* What was tried. Positions are from the median; sums of those before one begin there too. */
struct valley {
	const struct modes_work *work;
	size_t n;
	double ln_p; /* the least so far */
	size_t split;
};

static double sum_between(const struct valley *v, size_t from, size_t to)
{
	return v->work[to].sum - v->work[from].sum;
}

/*
 * ln p that the group right of @g, from value @split on, is crowded at its end; and the mirror
 * image. The end is the last value, or an earlier one: a group may have outliers, or be a hill.
 */
static double ln_right(const struct valley *v, size_t split, double g)
{
	size_t size = v->n - split;
	double best = 0, i = 0;

	for (size_t beyond = 0; beyond + 2 <= size && beyond <= size / 4 * 3;
	     beyond = beyond > 0 ? 2 * beyond : 1) {
		size_t end = v->n - 1 - beyond;
		double m = (double)(end - split), from = v->work[end].at;
		double s = (m * from - sum_between(v, split, end)) / (from - g);

		/* Positions so near that they are equal tell nothing. */
		if (!(from > g))
			break;
		best = fmin(best, ln_crowded(m, fmax(s, m * NEAREST)) - ln_share(END_SHARE, i++));
	}
	return best;
}

static double ln_left(const struct valley *v, size_t split, double g)
{
	size_t size = split;
	double best = 0, i = 0;

	for (size_t beyond = 0; beyond + 2 <= size && beyond <= size / 4 * 3;
	     beyond = beyond > 0 ? 2 * beyond : 1) {
		double m = (double)(split - 1 - beyond), from = v->work[beyond].at;
		double s = (sum_between(v, beyond + 1, split) - m * from) / (g - from);

		if (!(from < g))
			break;
		best = fmin(best, ln_crowded(m, fmax(s, m * NEAREST)) - ln_share(END_SHARE, i++));
	}
	return best;
}

/*
 * The gap before value @split. Any g in it will do: the values right of g are no more crowded than
 * from the mode on, if that is left of g. The one that makes both sides most alike is looked for.
 */
static void try_gap(struct valley *v, size_t split)
{
	double left = v->work[split - 1].at, right = v->work[split].at;
	double low = 0, high = 1, best = 0;
	size_t smaller = split < v->n - split ? split : v->n - split;

	for (int i = 0; i < 8; i++) {
		double part = 0.5 * (low + high), g = left + part * (right - left);
		double of_left = ln_left(v, split, g), of_right = ln_right(v, split, g);

		best = fmin(best, fmax(of_left, of_right));
		if (of_left > of_right)
			low = part;
		else
			high = part;
	}
	/* Wrong are those that hold against the side where the mode is not: one of two sides. */
	best += log(2) - ln_gap_share(smaller);
	if (best < v->ln_p) {
		v->ln_p = best;
		v->split = split;
	}
}

/* The widest gap of those that leave @from..@to - 1 values on the left, or on the right. */
static void try_widest(struct valley *v, size_t from, size_t to, bool on_left)
{
	double widest = -1;
	size_t split = 0;

	for (size_t i = from; i < to; i++) {
		size_t here = on_left ? i : v->n - i;
		double gap = v->work[here].at - v->work[here - 1].at;

		if (gap > widest) {
			widest = gap;
			split = here;
		}
	}
	try_gap(v, split);
}

/* All gaps have a share, but of many that leave groups of much the same size only the widest is
 * tried. */
static double find_valley(const struct modes_work *work, size_t n, size_t *ret_split)
{
	struct valley v = { .work = work, .n = n };

	for (size_t from = 2, to; from <= n / 2; from = to) {
		to = from < 8 ? from + 1 : from + from / 4;
		if (to > n / 2 + 1)
			to = n / 2 + 1;
		try_widest(&v, from, to, true);
		try_widest(&v, from, to, false);
	}
	*ret_split = v.split;
	return exp(v.ln_p);
}

static double smallest_gap(const double *sorted, size_t n)
{
	double least = INFINITY;

	for (size_t i = 1; i < n; i++)
		if (sorted[i] > sorted[i - 1])
			least = fmin(least, sorted[i] - sorted[i - 1]);
	return least;
}

/*
 * Positions, from the median and at most 1 in magnitude, equal values spread evenly over a step
 * that has them in its middle; and the sums before each.
 */
static void spread(const double *sorted, size_t n, double step, struct modes_work *work)
{
	double median = robust_median(sorted, n);
	double unit = fmax(sorted[n - 1] - median, median - sorted[0]) + step;

	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && sorted[end] == sorted[i];)
			end++;
		for (size_t k = i; k < end; k++) {
			double part = ((double)(k - i) + 0.5) / (double)(end - i) - 0.5;

			work[k].at = (sorted[i] - median) / unit + part * (step / unit);
		}
	}
	/* From the middle outwards, so that what lies far out on one side costs no digits on the
	 * other. */
	work[n / 2].sum = 0;
	for (size_t i = n / 2 + 1; i < n; i++)
		work[i].sum = work[i - 1].sum + work[i - 1].at;
	for (size_t i = n / 2; i-- > 0;)
		work[i].sum = work[i + 1].sum - work[i].at;
}

/*
 * Cuts so that the distances of the values from the median of their own part have the least sum,
 * each part having at least @least of them. A part's sum follows from the sums of its halves.
 */
static size_t cut_by_distance(const struct modes_work *work, size_t n, size_t least)
{
	struct valley v = { .work = work, .n = n };
	double best = INFINITY;
	size_t split = n / 2;

	for (size_t i = least; i + least <= n && i < n; i++) {
		size_t size = n - i;
		double inside = sum_between(&v, i - i / 2, i) - sum_between(&v, 0, i / 2) +
				sum_between(&v, n - size / 2, n - 1) + work[n - 1].at -
				sum_between(&v, i, i + size / 2);

		if (inside < best) {
			best = inside;
			split = i;
		}
	}
	return split;
}

/* Values that are equal stay together: the nearest place between two different ones. */
static size_t between_values(const double *sorted, size_t n, size_t split)
{
	for (size_t away = 0;; away++) {
		if (split > away && sorted[split - away - 1] < sorted[split - away])
			return split - away;
		if (split + away < n && sorted[split + away - 1] < sorted[split + away])
			return split + away;
	}
}

static struct mode describe(const double *sorted, size_t n, size_t of)
{
	return (struct mode){ .n = n,
			      .weight = (double)n / (double)of,
			      .centre = robust_median(sorted, n),
			      .spread = robust_mad_sorted(sorted, n) };
}

int modes_find(const double *sorted, size_t n, double step, struct modes_work *work,
	       struct modes *ret)
{
	struct modes found;
	double gap, dip;
	size_t split;

	if (!robust_are_sorted(sorted, n) || !(step >= 0 && step <= ROBUST_MAX))
		return -EINVAL;
	if (n < 2 || sorted[0] == sorted[n - 1])
		return -ENODATA;
	gap = smallest_gap(sorted, n);
	spread(sorted, n, step > 0 ? fmin(step, gap) : gap, work);
	found.valley = find_valley(work, n, &split);
	dip = modes_dip_of(work, n);
	found.dip = modes_dip_p(n, dip);
	found.p = fmin(1, 2 * fmin(found.valley, found.dip));
	/* A dip is at most about half the share of the smaller mode. */
	if (split == 0 || found.dip < found.valley)
		split = cut_by_distance(work, n, (size_t)(dip * (double)n) + 2);
	split = between_values(sorted, n, split);
	found.split = sorted[split - 1] + 0.5 * (sorted[split] - sorted[split - 1]);
	found.mode[0] = describe(sorted, split, n);
	found.mode[1] = describe(sorted + split, n - split, n);
	*ret = found;
	return 0;
}

int modes_discordant(double a, double b, double split)
{
	return (b > split) - (a > split);
}

void modes_count_discordant(const double *a, const double *b, size_t n, double split,
			    size_t *ret_up, size_t *ret_down)
{
	size_t up = 0, down = 0;

	for (size_t i = 0; i < n; i++) {
		int d = modes_discordant(a[i], b[i], split);

		up += d > 0;
		down += d < 0;
	}
	*ret_up = up;
	*ret_down = down;
}
