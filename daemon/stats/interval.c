/* SPDX-License-Identifier: MIT */
/*
 * Inversion of the primary process.
 */
#include "stats/interval.h"

#include <float.h>

#include "stats/betting-internal.h"
#include "stats/hodges-lehmann.h"
#include "stats/robust.h"

#define RESOLUTION 0x1p-16 /* of the spread of the middle half of d */
#define FAR        12      /* ends are looked for up to 4^12 times the spread of d beyond it */
#define SLACK      1e-9    /* on ln e, for what its sums were rounded by */

/* One end; the upper one is the lower one of -d. */
struct search {
	const double *d;
	size_t n;
	double sign; /* 1 for the lower end, -1 for the upper one */
	double threshold;
	enum interval_kind kind;
	struct rank_node *nodes;
	double first, last, step; /* least and greatest of sign * d, and the resolution */
};

/* Whether no shift from @a to @b is in the set. @a may be -INFINITY. */
static bool contradicted(const struct search *s, double a, double b)
{
	struct betting up, down;

	betting_init(&up, s->nodes, (uint32_t)s->n);
	betting_init(&down, s->nodes + s->n, (uint32_t)s->n);
	for (size_t i = 0; i < s->n; i++) {
		double d = s->sign * s->d[i], sides[2] = { 0, -INFINITY };

		betting_bet(&up, d - b, BETTING_UP);
		if (isfinite(a))
			betting_bet(&down, d - a, BETTING_DOWN);
		if (s->kind == INTERVAL_NOW && i + 1 < s->n)
			continue;
		if (betting_log_e_limit(&up, BETTING_UP) < s->threshold &&
		    (isinf(a) || betting_log_e_limit(&down, BETTING_DOWN) < s->threshold))
			continue;
		sides[0] = betting_log_e(&up, BETTING_PRIMARY, BETTING_UP);
		if (isfinite(a))
			sides[1] = betting_log_e(&down, BETTING_PRIMARY, BETTING_DOWN);
		if (betting_log_mean(sides, 2) >= s->threshold)
			return true;
	}
	return false;
}

/* A shift with none of the set below it. */
static double begin(const struct search *s)
{
	double far = s->last > s->first ? s->last - s->first : s->step;

	for (int i = 0; i <= FAR; i++) {
		if (contradicted(s, -INFINITY, s->first - far))
			return s->first - far;
		far *= 4;
	}
	return -INFINITY;
}

/*
 * From @at, with none of the set below it, towards @stop: the last shift found with none of the set below
 * it. That is @stop where nothing is left.
 */
static double cut(const struct search *s, double at, double stop)
{
	double step = (stop - at) / 4;
	int streak = 0;

	while (at < stop) {
		double end = fmin(at + step, stop);

		if (at < 0 && end > 0)
			end = 0;
		/* Far out numbers are not as fine as the step. */
		if (end <= at)
			break;
		if (contradicted(s, at, end)) {
			at = end;
			/* Twice in a row: the piece that was too long has been passed. */
			if (++streak % 2 == 0)
				step *= 2;
		} else if (step <= s->step) {
			break;
		} else {
			step = (end - at) / 2;
			streak = 0;
		}
	}
	return at;
}

static double point_of_sorted(const double *sorted, size_t n)
{
	double point = 0;

	/* Finite numbers beyond what it takes (1e300) are nobody's effects. */
	if (hodges_lehmann_one(sorted, n, &point) < 0)
		return sorted[n / 2];
	return point;
}

static void copy_sorted(const double *d, size_t n, double *sorted)
{
	for (size_t i = 0; i < n; i++)
		sorted[i] = d[i];
	robust_sort(sorted, n);
}

double interval_point(const double *d, size_t n, double *sorted)
{
	if (n == 0)
		return 0;
	copy_sorted(d, n, sorted);
	return point_of_sorted(sorted, n);
}

/* How fine to search: 2^-16 of the spread of the middle half, but no finer than numbers are. */
static double resolution(const double *sorted, size_t n)
{
	double top = fmax(fabs(sorted[0]), fabs(sorted[n - 1]));
	double half = robust_quantile(sorted, n, 0.75) - robust_quantile(sorted, n, 0.25);

	return fmax(fmax(RESOLUTION * half, 0x1p-40 * (sorted[n - 1] - sorted[0])),
		    fmax(0x1p-46 * top, DBL_MIN));
}

/* Mirrors what is looked at, for the end of @sign. */
static void face(struct search *s, double sign, const double *sorted)
{
	s->sign = sign;
	s->first = sign > 0 ? sorted[0] : -sorted[s->n - 1];
	s->last = sign > 0 ? sorted[s->n - 1] : -sorted[0];
}

/*
 * The lower end of what is left of (@from, @to), mirrored as @s is; below @from nothing is. False where
 * nothing is left.
 */
static bool find_end(const struct search *s, double from, double to, double *end)
{
	double stop = isfinite(to) ? to : s->last + 2 * (s->last - s->first) + 2 * s->step;
	double top = fmax(fabs(s->first), fabs(s->last));

	*end = from;
	if (isinf(from))
		return true;
	*end = cut(s, from, stop);
	if (*end >= stop && isfinite(to))
		return false;
	if (*end != 0)
		*end = fmax(from, *end - 4 * DBL_EPSILON * fmax(top, fabs(*end)));
	return true;
}

void interval_find(const double *d, size_t n, double alpha, enum interval_kind kind,
		   struct interval *interval, double *sorted, struct rank_node *nodes)
{
	struct interval in = kind == INTERVAL_NOW ? INTERVAL_ALL : *interval;
	struct search s = {
		.d = d, .n = n, .threshold = -log(alpha) + SLACK, .kind = kind, .nodes = nodes
	};
	double low, high;

	if (n == 0 || in.empty)
		return;
	copy_sorted(d, n, sorted);
	s.step = resolution(sorted, n);
	face(&s, 1, sorted);
	low = isinf(in.low) ? begin(&s) : in.low;
	face(&s, -1, sorted);
	high = isinf(in.high) ? -begin(&s) : in.high;
	face(&s, 1, sorted);
	in.empty = !find_end(&s, low, high, &low);
	face(&s, -1, sorted);
	in.empty |= !find_end(&s, -high, -low, &high);
	in.point = fmin(fmax(point_of_sorted(sorted, n), in.low), in.high);
	if (in.empty) {
		in.low = in.high = in.point;
	} else {
		in.low = low;
		in.high = 0 - high;
		in.point = fmin(fmax(in.point, in.low), in.high);
	}
	*interval = in;
}
