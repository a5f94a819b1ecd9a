/* SPDX-License-Identifier: MIT */
/*
 * Hartigan's dip, by the way of its paper: shrink the part where the mode may be until it stays.
 *
 * A distribution with one mode is convex before it and concave behind. So the nearest one follows
 * the greatest convex function below the values' own steps up to the mode, and the least concave
 * one above them from there on. Whoever lies between those two furthest apart is a mode's end; the
 * dip is the largest distance of the steps from the parts that were settled on the way. All in
 * steps of one value: the dip times 2 n.
 *
 * Its p. Hartigan and Hartigan take uniform values for the worst case, but simulation here shows
 * worse: a peak that holds a seventh of the values at one end of a uniform plain, which is one
 * mode, has p <= 0.05 for every fourth sample of 100. The peak leaves no choice where the mode is.
 * So the p here is that of
 *
 *     W = half of the largest distance between the steps of n uniform values
         and their least concave majorant
 *
 * For a density that falls from a place m on, with any part of the values at m itself, the dip is
 * at most W: let d be half the distance of the values' steps behind m from their own majorant. That
 * majorant less d, but never below 0, has one mode and is within d of the steps. Stretched by the
 * convex quantile function, the majorant of the uniform values behind theirs stays concave, so d is
 * no larger than theirs; and fewer values have less. Of the densities that rise and fall none worse
 * than W is known; a peak in the middle of a plain is no worse than the plain.
 */
#include <math.h>
#include <stdbool.h>

#include "stats/modes-internal.h"

/* Whether @b lies on or above the line from @a to @c, as (position, number) points. */
static bool is_above(const struct modes_work *w, size_t a, size_t b, size_t c)
{
	return (double)(b - a) * (w[c].at - w[b].at) >= (double)(c - b) * (w[b].at - w[a].at);
}

static bool is_below(const struct modes_work *w, size_t a, size_t b, size_t c)
{
	return (double)(b - a) * (w[c].at - w[b].at) <= (double)(c - b) * (w[b].at - w[a].at);
}

/* For each value the one before it on the convex function that ends there, and after it on the
 * concave one. */
static void link_values(struct modes_work *w, size_t n)
{
	w[0].convex = 0;
	for (size_t i = 1; i < n; i++) {
		size_t k = i - 1;

		while (k > 0 && is_above(w, w[k].convex, k, i))
			k = w[k].convex;
		w[i].convex = k;
	}
	w[n - 1].concave = n - 1;
	for (size_t i = n - 1; i-- > 0;) {
		size_t k = i + 1;

		while (k < n - 1 && is_below(w, i, k, w[k].concave))
			k = w[k].concave;
		w[i].concave = k;
	}
}

/* Number of the line from @a to @b at position @at. */
static double line(const struct modes_work *w, size_t a, size_t b, double at)
{
	double width = w[b].at - w[a].at;

	return (double)a + (width > 0 ? (double)(b - a) * (at - w[a].at) / width : 0);
}

/* The convex function's corners in @low..@high, linked forwards. */
static void link_forwards(struct modes_work *w, size_t low, size_t high)
{
	for (size_t i = high; i > low; i = w[i].convex)
		w[w[i].convex].next = i;
}

/* How far apart the two functions are at most, and which corners of theirs that lies between. */
static double furthest(const struct modes_work *w, size_t low, size_t high, size_t *ret_low,
		       size_t *ret_high)
{
	size_t convex = low, concave = low;
	double most = 0;

	/* Both are walked together, corner by corner; at each the other one is a line. At both ends
	 * they meet. */
	while (convex < high) {
		size_t below = w[convex].next, above = w[concave].concave;
		double apart;

		if (below <= above) {
			apart = line(w, concave, above, w[below].at) - (double)below + 1;
			convex = below;
			if (apart > most && below < high) {
				most = apart;
				*ret_low = below;
				*ret_high = above;
			}
			continue;
		}
		apart = (double)above - line(w, convex, below, w[above].at) + 1;
		if (apart > most) {
			most = apart;
			*ret_low = convex;
			*ret_high = above;
		}
		concave = above;
	}
	return most;
}

/* How far the steps rise above the convex function from corner @low to corner @to. */
static double above_convex(const struct modes_work *w, size_t low, size_t to)
{
	double most = 0;

	for (size_t a = low; a < to; a = w[a].next)
		for (size_t i = a + 1; i < w[a].next; i++)
			most = fmax(most, (double)i + 1 - line(w, a, w[a].next, w[i].at));
	return most;
}

/* And how far they lie below the concave one. */
static double below_concave(const struct modes_work *w, size_t from, size_t high)
{
	double most = 0;

	for (size_t a = from; a < high; a = w[a].concave)
		for (size_t i = a + 1; i < w[a].concave; i++)
			most = fmax(most, line(w, a, w[a].concave, w[i].at) - (double)i + 1);
	return most;
}

double modes_dip_of(struct modes_work *w, size_t n)
{
	size_t low = 0, high = n - 1;
	double dip = 1;

	if (n < 2 || w[0].at == w[n - 1].at)
		return 1 / (2 * (double)n);
	link_values(w, n);
	for (;;) {
		size_t to = low, from = high;
		double apart;

		link_forwards(w, low, high);
		apart = furthest(w, low, high, &to, &from);
		if (apart <= dip)
			break;
		dip = fmax(dip, fmax(above_convex(w, low, to), below_concave(w, from, high)));
		if (to == low && from == high)
			break;
		low = to;
		high = from;
	}
	return dip / (2 * (double)n);
}

double modes_dip(const double *sorted, size_t n, struct modes_work *work)
{
	for (size_t i = 0; i < n; i++)
		work[i].at = sorted[i];
	return modes_dip_of(work, n);
}

/* p from one row: 1 above its first level, its last level beyond that, in between by ln p. */
static double p_of(const struct modes_table_row *row, double root_dip)
{
	size_t i = 0;
	double part;

	while (i < MODES_TABLE_LEVELS && row->dip[i] <= root_dip)
		i++;
	if (i == 0)
		return 1;
	if (i == MODES_TABLE_LEVELS)
		return modes_table_level[i - 1];
	part = (root_dip - row->dip[i - 1]) / (row->dip[i] - row->dip[i - 1]);
	return modes_table_level[i - 1] *
	       exp(part * log(modes_table_level[i] / modes_table_level[i - 1]));
}

double modes_dip_p(size_t n, double dip)
{
	double root_dip = sqrt((double)n) * dip, p;
	size_t i = 0;

	if (n < modes_table[0].n)
		return 1;
	while (i + 1 < modes_table_rows && modes_table[i + 1].n <= n)
		i++;
	p = p_of(&modes_table[i], root_dip);
	if (modes_table[i].n < n && i + 1 < modes_table_rows)
		p = fmax(p, p_of(&modes_table[i + 1], root_dip));
	return p;
}
