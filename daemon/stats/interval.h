/* SPDX-License-Identifier: MIT */
/*
 * The effects that the blocks do not contradict, by inversion of the primary process, and one number
 * for them.
 *
 * The exact set: all shifts m for which the primary process (both sides) on d - m has e < 1 / alpha. If
 * blocks are symmetric around one effect, the chance that it is ever outside is at most alpha.
 *
 *     INTERVAL_SEQUENCE  e was below 1 / alpha after every block so far: a confidence sequence. Valid at
 *                        every stopping time for an alpha fixed before the first block, and further blocks
 *                        never widen it. For a lone hypothesis.
 *     INTERVAL_NOW       e is below 1 / alpha after the last block: valid at every stopping time, and also
 *                        where alpha depends on what was rejected, as with ebh_interval_alpha() (the
 *                        largest e so far is no e-value, so a sequence would not be). It may widen.
 *
 * The search. Processes that bet upwards fall in m and those downwards rise (stats/betting.h). So on all of
 * [a, b] e is at least the mean of e up at b and e down at a, and where that is 1 / alpha, no shift
 * between is in the set. From each end such pieces are cut off, shorter and shorter ones, until they are
 * 2^-16 of the spread of the middle half of d. What remains contains the exact set, and is wider by that
 * much at most but for rounding, which is added to it. A piece never has 0 inside: where 0 is rejected on
 * the outside of the set, the interval ends at 0 or before it.
 *
 * Pure: no input, no output, no allocation.
 */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "stats/rank-tree.h"

enum interval_kind {
	INTERVAL_SEQUENCE,
	INTERVAL_NOW,
};

struct interval {
	double low, high; /* in the unit of d; -INFINITY and INFINITY where there is no bound yet */
	double point;     /* never outside */
	bool empty; /* a sequence that contradicts every shift: blocks do not share one effect */
};

/* Before the first block. */
#define INTERVAL_ALL ((struct interval){ .low = -INFINITY, .high = INFINITY })

/*
 * The interval after @n blocks @d, all finite, for @alpha in (0, 1); for no blocks it stays as it is. A
 * sequence continues from *@interval, which is INTERVAL_ALL or came from fewer of the same blocks at the same
 * alpha or a smaller one: it becomes a part of what it was, and is found the sooner. INTERVAL_NOW does not
 * look at *@interval.
 *
 * The point is the median of the (d_i + d_j) / 2, i <= j (Hodges and Lehmann 1963), or the end of the
 * interval that is nearest to it. Where no shift is left, low, high and point are all that number for the
 * former interval, and empty is set; it stays so.
 *
 * @sorted holds @n doubles and @nodes 2 @n nodes (56 bytes a block), which mean nothing before or after.
 * Time: that of some 100 n calls of betting_add(); 10 ms for 200 blocks, 60 ms for 1000.
 */
void interval_find(const double *d, size_t n, double alpha, enum interval_kind kind,
		   struct interval *interval, double *sorted, struct rank_node *nodes);

/* The point alone; 0 for no blocks. @sorted holds @n doubles. */
double interval_point(const double *d, size_t n, double *sorted);
