/* SPDX-License-Identifier: MIT */
/*
 * Bounds and verdicts.
 */
#include "stats/verdict.h"

#include <errno.h>
#include <math.h>

static const char *const names[VERDICT_MAX] = {
	[VERDICT_UNDECIDED] = "undecided",
	[VERDICT_FASTER] = "faster",
	[VERDICT_SLOWER] = "slower",
	[VERDICT_FASTER_NEGLIGIBLE] = "faster, negligible",
	[VERDICT_SLOWER_NEGLIGIBLE] = "slower, negligible",
	[VERDICT_EQUIVALENT] = "equivalent",
};

void bound_init(struct bound *b, double margin, enum betting_side side, double alpha,
		struct rank_node *nodes, uint32_t capacity)
{
	*b = (struct bound){ .margin = margin, .side = side, .needed = -log(alpha) };
	betting_init(&b->process, nodes, capacity);
}

int bound_add(struct bound *b, double d)
{
	int r;

	if (b->reached)
		return isfinite(d) ? 0 : -EINVAL;
	r = betting_add(&b->process, d - b->margin);
	if (r < 0)
		return r;
	b->most = fmax(b->most, betting_log_e(&b->process, BETTING_PRIMARY, b->side));
	b->reached = b->most >= b->needed;
	return 0;
}

void equivalence_init(struct bound bounds[2], double region, double alpha,
		      struct rank_node *nodes[2], uint32_t capacity)
{
	bound_init(&bounds[0], -region, BETTING_UP, alpha, nodes[0], capacity);
	bound_init(&bounds[1], region, BETTING_DOWN, alpha, nodes[1], capacity);
}

int equivalence_add(struct bound bounds[2], double d)
{
	for (int i = 0; i < 2; i++)
		if (!bounds[i].reached &&
		    bounds[i].process.sizes.n >= bounds[i].process.sizes.capacity)
			return -ENOBUFS;
	for (int i = 0; i < 2; i++) {
		int r = bound_add(&bounds[i], d);

		if (r < 0)
			return r;
	}
	return 0;
}

enum verdict verdict_of(const struct evidence *e)
{
	bool faster = (e->log_e_up > e->log_e_down) == e->higher_is_better;
	bool inside = !e->interval.empty && e->region > 0 && e->interval.low >= -e->region &&
		      e->interval.high <= e->region;
	bool negligible = e->equivalent || inside;

	if (e->rejected && negligible)
		return faster ? VERDICT_FASTER_NEGLIGIBLE : VERDICT_SLOWER_NEGLIGIBLE;
	if (e->rejected)
		return faster ? VERDICT_FASTER : VERDICT_SLOWER;
	return negligible ? VERDICT_EQUIVALENT : VERDICT_UNDECIDED;
}

const char *verdict_to_string(enum verdict v)
{
	return names[v];
}
