/* SPDX-License-Identifier: MIT */
/*
 * Counts of signs for each pair of classes, and what they are evidence of.
 *
 * Only counts are kept: the processes are functions of them, computed when somebody asks.
 */
#include "stats/order.h"

#include <errno.h>
#include <math.h>

#include "stats/betting.h"

/* Half of the larger of the two processes: that of the sign seen more often. */
static double ln_evidence(const uint32_t dearer[2])
{
	uint32_t more = dearer[dearer[1] > dearer[0]], less = dearer[dearer[1] <= dearer[0]];

	return betting_sign_log_e(more, less, BETTING_UP) - M_LN2;
}

/* The place of (@low, @high), @low < @high, among pairs in the order 0-1, 0-2, 1-2, 0-3, ... */
static size_t place(size_t low, size_t high)
{
	return high * (high - 1) / 2 + low;
}

int order_init(struct order *o, size_t n_classes, const bool *few)
{
	if (n_classes == 0 || n_classes > ORDER_CLASSES_MAX)
		return -EINVAL;
	*o = (struct order){ .n_classes = n_classes };
	for (size_t i = 0; few && i < n_classes; i++)
		o->few[i] = few[i];
	return 0;
}

int order_add(struct order *o, const double *values)
{
	for (size_t i = 0; i < o->n_classes; i++)
		if (isinf(values[i]))
			return -ERANGE;
	/* Comparisons with NaN are false, so a class that is missing counts nowhere. */
	for (size_t j = 1; j < o->n_classes; j++)
		for (size_t i = 0; i < j; i++) {
			uint32_t *dearer = o->dearer[place(i, j)];

			dearer[0] += values[i] > values[j];
			dearer[1] += values[j] > values[i];
			o->ties[place(i, j)] += values[i] == values[j];
		}
	o->blocks++;
	return 0;
}

size_t order_hypotheses(const struct order *o)
{
	return o->n_classes * (o->n_classes - 1) / 2;
}

void order_pair(const struct order *o, size_t i, size_t j, struct order_pair *ret)
{
	size_t at = i < j ? place(i, j) : place(j, i);
	const uint32_t *dearer = o->dearer[at];

	*ret = (struct order_pair){
		.first_dearer = dearer[i > j],
		.second_dearer = dearer[i < j],
		.ties = o->ties[at],
		.ln_e = ln_evidence(dearer),
		.of_pairs = o->few[i] || o->few[j],
	};
	if (ret->first_dearer != ret->second_dearer)
		ret->leaning = ret->first_dearer > ret->second_dearer ? ORDER_FIRST_DEARER
								      : ORDER_SECOND_DEARER;
}

double order_bar(const struct order *o, double alpha, size_t others)
{
	size_t n = order_hypotheses(o), k = n, enough;
	double evidence[ORDER_PAIRS_MAX], bar;

	if (n == 0)
		return INFINITY;
	for (size_t i = 0; i < n; i++)
		evidence[i] = ln_evidence(o->dearer[i]);
	/* Downwards to the largest k that holds: a bar that is met by fewer than k cannot be that of any
	 * number between. */
	for (;;) {
		bar = log((double)(n + others) / (alpha * (double)k));
		enough = 0;
		for (size_t i = 0; i < n; i++)
			enough += evidence[i] >= bar;
		if (enough >= k || k == 1)
			return bar;
		k = enough > 0 ? enough : 1;
	}
}

enum order_relation order_relation(const struct order *o, size_t i, size_t j, double bar)
{
	struct order_pair p;

	order_pair(o, i, j, &p);
	return p.ln_e >= bar ? p.leaning : ORDER_NOT_DISTINGUISHABLE;
}

enum order_verdict order_verdict(const struct order *o, const double *rank, size_t i, size_t j,
				 double bar)
{
	enum order_relation found = order_relation(o, i, j, bar);

	if (rank[i] == rank[j])
		return ORDER_NOTHING_EXPECTED;
	if (found == ORDER_NOT_DISTINGUISHABLE)
		return ORDER_UNDECIDED;
	return (found == ORDER_SECOND_DEARER) == (rank[i] < rank[j]) ? ORDER_AGREES
								     : ORDER_INVERTED;
}

static void note_inversion(const struct order *o, const double *rank, size_t i, size_t j,
			   double *most, struct order_summary *ret)
{
	struct order_pair p;

	order_pair(o, i, j, &p);
	if (p.ln_e <= *most)
		return;
	*most = p.ln_e;
	ret->nearer = rank[i] < rank[j] ? i : j;
	ret->dearer_than = rank[i] < rank[j] ? j : i;
	ret->of_pairs = p.of_pairs;
}

void order_summarize(const struct order *o, const double *rank, double bar,
		     struct order_summary *ret)
{
	double most = -INFINITY;

	*ret = (struct order_summary){ 0 };
	for (size_t j = 1; j < o->n_classes; j++)
		for (size_t i = 0; i < j; i++)
			switch (order_verdict(o, rank, i, j, bar)) {
			case ORDER_NOTHING_EXPECTED:
				ret->nothing_expected++;
				break;
			case ORDER_UNDECIDED:
				ret->undecided++;
				break;
			case ORDER_AGREES:
				ret->agree++;
				break;
			case ORDER_INVERTED:
				ret->inverted++;
				note_inversion(o, rank, i, j, &most, ret);
				break;
			}
}

uint64_t order_needed(uint64_t n, double bar)
{
	uint64_t low = n / 2, high = n;

	if (n == 0 || betting_sign_log_e(n, 0, BETTING_UP) - M_LN2 < bar)
		return 0;
	/* More signs of one kind are more evidence: halve between too few (low) and enough (high). */
	while (high - low > 1) {
		uint64_t middle = low + (high - low) / 2;

		if (betting_sign_log_e(middle, n - middle, BETTING_UP) - M_LN2 >= bar)
			high = middle;
		else
			low = middle;
	}
	return high;
}
