/* SPDX-License-Identifier: MIT */
/*
 * Do values come from two modes rather than one, which, and what goes with each?
 *
 * Two tests of "one mode" (the density rises up to some place and falls from there on), of which
 * the better p counts twice. Of 100 values of which each lies near 100k with probability 0.1, else
 * near 12k, the valley finds the modes in 0.99 of all samples and the dip in 0.03; of two normal
 * hills 5 sd apart the valley in 0.00, the dip in 0.80.
 *
 * The valley, our own. Say that g lies right of the only mode. There the density falls, so that the
 * values right of g, as fractions of the way from g to one of them, lie no higher than uniform ones
 * would: a density that falls has a convex quantile function, and puts each of n values at no
 * larger fraction than n uniform values at the same time. So a group that stands crowded far from g
 * has a p: that so many uniform values are together so near the end. The same from the other side
 * if g lies left of the mode. g in a gap, with groups crowded away from it on both sides, speaks
 * against a mode anywhere; p is the larger of the two, weighted by Bonferroni for all the gaps and
 * ends that could have been chosen. Nothing is simulated or approximated: at level alpha it is
 * wrong at most alpha of the time for every density with one mode, heavy tails, skew and cusps and
 * every number of values included.
 *
 * The dip (Hartigan and Hartigan 1985): how far the values lie from the nearest distribution with
 * one mode. Its p is not that of uniform values, as usual, since a peak at the end of a plain has
 * larger dips (p <= 0.05 for every fourth sample of 100); it is that of the worst case, which is
 * proven for densities that only fall or only rise, peaks included, and the worst known for others;
 * by a table (modes-dip.c says more).
 *
 * Together, at 0.05, wrong in at most 0.02 of all samples of 8 to 1000 values, of some hundred shapes
 * with one mode; right in (the first number is the probability of the second mode; sd 2 % of each):
 *
 *     n                               10    20    30    50    100   300
 *     0.5: 12k and 100k              .75  1.00  1.00  1.00  1.00  1.00
 *     0.1: 12k and 100k              .02   .14   .36   .73   .99  1.00
 *     0.03: 12k and 100k             .00   .01   .03   .08   .38   .97
 *     0.4: 238k and 247k, sd 0.2 %   .01   .70   .97  1.00  1.00  1.00
 *     0.5: normal, 4 sd apart        .00   .00   .00   .00   .08   .82
 *     0.5: normal, 6 sd apart        .00   .01   .05   .40   .97  1.00
 *
 * Values of a clock come in steps, and each step would be a mode. So equal values are spread over
 * their step first: values in steps with one mode then have a density with one mode.
 */
#pragma once

#include <stddef.h>

/* What the test works in, one for each value; the caller need not know what is in it. */
struct modes_work {
	double at, sum;
	size_t convex, concave, next;
};

struct mode {
	size_t n;
	double weight; /* its share of the values */
	double centre; /* their median */
	double spread; /* their median absolute deviation times 1.4826 */
};

struct modes {
	double p; /* that one mode would look so much like two: at most this; 1: nothing */
	double valley, dip;  /* p of each test alone; the dip's is never below 0.0005 */
	double split;        /* values up to here are of the first mode */
	struct mode mode[2]; /* in ascending order; filled in whatever p is */
};

/*
 * Tests @sorted, and cuts it in two: where the valley is, or where the dip's p is the lower, so
 * that the distances from the two medians have the least sum. @step is what the values are
 * multiples of, as far as the caller knows (1 for whole nanoseconds); with 0 it is the smallest
 * distance between two of them, which is the safe answer, but makes two values that repeat count as
 * neighbours. @work holds @n.
 *
 * O(n) up to a few logarithms of it: some 10 ms for 10^5 values. -EINVAL for values that are not as
 * robust.h wants them or a @step that is negative or not finite, -ENODATA unless there are two
 * different values.
 */
int modes_find(const double *sorted, size_t n, double step, struct modes_work *work,
	       struct modes *ret);

/* Hartigan's dip of @sorted, 1 / (2 n) to 1 / 4, for @n > 0; equal values are not spread. */
double modes_dip(const double *sorted, size_t n, struct modes_work *work);

/* P(the dip of @n values with one mode >= @dip), at worst; between rows of the table the larger. */
double modes_dip_p(size_t n, double dip);

/*
 * Does B change how often the second mode comes? 1 for a block where only B is above @split, -1
 * where only A is, 0 where both are on one side. Where the setting changes nothing, random order
 * makes 1 and -1 a fair coin: the sign bet of stats/betting.h. @split must not know which value was
 * whose: it comes from blocks before these, or from the values of both together.
 */
int modes_discordant(double a, double b, double split);

/* How many of @n blocks are 1, and how many -1. */
void modes_count_discordant(const double *a, const double *b, size_t n, double split,
			    size_t *ret_up, size_t *ret_down);
