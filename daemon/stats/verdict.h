/* SPDX-License-Identifier: MIT */
/*
 * From processes to words: bounds on the effect, and the verdict on one hypothesis.
 *
 * A bound is one process that bets to one side on d - margin. "Not worse than 2 %" is one bound;
 * equivalence is two, one for each end of the region of practical equivalence, both reached (intersection and
 * union: Berger 1982). Where the effect is at the margin or beyond, the chance that a bound is ever
 * reached is at most alpha, for noise that is symmetric around the effect. Each bound has an alpha of its own:
 * for many at once the caller divides it among them.
 *
 * Margins and regions are in the unit of d: 1 % is ln(1.01) where d is a logarithm. Pure: no input, no
 * output, no allocation.
 */
#pragma once

#include <stdbool.h>

#include "stats/betting.h"
#include "stats/interval.h"

struct bound {
	struct betting process; /* on d - margin */
	double margin;
	enum betting_side
		side;  /* BETTING_UP: to show that the effect is above the margin; or _DOWN */
	double needed; /* ln e at which it is reached */
	double most;   /* the largest ln e so far, at least 0 */
	bool reached;  /* ever: blocks after that take nothing back */
};

/* @alpha in (0, 1). @nodes as for betting_init(): 24 bytes a block, the caller's. */
void bound_init(struct bound *b, double margin, enum betting_side side, double alpha,
		struct rank_node *nodes, uint32_t capacity);

/* Takes in the next block; fails as betting_add() does. Nothing to do once it is reached. */
int bound_add(struct bound *b, double d);

/* Equivalence: bound[0] up from -@region, bound[1] down from @region > 0, each with @capacity nodes. */
void equivalence_init(struct bound bounds[2], double region, double alpha,
		      struct rank_node *nodes[2], uint32_t capacity);

/* Takes in the next block for both; both are as they were where it fails. */
int equivalence_add(struct bound bounds[2], double d);

static inline bool equivalence_holds(const struct bound bounds[2])
{
	return bounds[0].reached && bounds[1].reached;
}

enum verdict {
	VERDICT_UNDECIDED,
	VERDICT_FASTER, /* B than A, and more than the region or not known to be less */
	VERDICT_SLOWER,
	VERDICT_FASTER_NEGLIGIBLE, /* there is an effect, and it is inside the region */
	VERDICT_SLOWER_NEGLIGIBLE,
	VERDICT_EQUIVALENT, /* inside the region, whether there is an effect or not */
	VERDICT_MAX,
};

/* What a verdict rests on. */
struct evidence {
	double log_e_up, log_e_down; /* the primary process, by side, when it stopped or now */
	bool rejected;               /* "no effect" is: by ebh(), or e >= 1 / alpha where K = 1 */
	bool equivalent;             /* equivalence_holds() */
	struct interval interval;    /* at a level of its own; INTERVAL_ALL: none */
	double region;         /* the effect is negligible within -region .. region; 0: none is */
	bool higher_is_better; /* of what is compared: rates. Else lower is: times */
};

/*
 * The verdict, with d = B minus A (ln, or sign). The side is that with more evidence: at e >= 1 / alpha of
 * both sides it has e >= 1 / alpha alone, so a wrong side has a chance of at most alpha too. An effect
 * is negligible where equivalence holds or the interval, not empty, lies in the region.
 */
enum verdict verdict_of(const struct evidence *e);

/* "faster", "slower, negligible", ... */
const char *verdict_to_string(enum verdict v);
