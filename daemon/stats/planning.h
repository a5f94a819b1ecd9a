/* SPDX-License-Identifier: MIT */
/*
 * How long an experiment will take, before it runs: blocks until the primary e-process reaches a
 * verdict, and the least effect that so many blocks would find. Pure: no input, no output, no
 * allocation, nothing kept between calls.
 *
 * Units: effects, regions and standard deviations are of d = ln(B / A), so that 0.03 is 3 %; signs
 * of effects do not matter. A verdict is e >= K / alpha, K being the hypotheses of the whole plan: what
 * e-BH asks of one that is rejected alone (Wang, Ramdas 2022). It is an estimate for planning only: no
 * verdict depends on it. It is made for normal d. Heavy tails need fewer blocks than their standard
 * deviation says, so give 1.4826 MAD (stats/robust.h) as @sd: for differences of t3 values the plan is then
 * up to 15 % too short, where the standard deviation would make it 20 to 80 % too long.
 *
 * Method: each bet of the primary process (sign, Huber flip, signed rank) grows by its mean logarithm
 * under normal d (Kelly 1956; found by numeric integration), the mixture is the mean over all bets, and
 * the expected block is where it crosses ln(K / alpha). The boundary is moved by two known amounts: a
 * mixture follows its best bet in hindsight and so gains half a unit (the chi-square term of a Bayes
 * factor), and a walk with steps of standard deviation s overshoots by 0.583 s (Siegmund 1979). The
 * spread of the number of blocks is that of the first passage of a walk with drift (Wald 1947).
 * Against 8000 simulated runs of the process itself it is within 10 % for effects of 0.2 sd and
 * more (tests/unit/test-planning.c).
 */
#pragma once

#include <stdint.h>

#define PLANNING_BLOCKS_MAX 30000 /* a night and more: beyond it is "never" */

enum planning_design {
	PLANNING_AB,   /* a sample of each arm */
	PLANNING_ABBA, /* two of each, mirrored: no drift is left in d */
};

struct planning {
	double sd;         /* of d over blocks, >= 0: see planning_sd() */
	double alpha;      /* share of false verdicts allowed, above 0 and at most 0.2 */
	double hypotheses; /* K >= 1 */
};

/*
 * The standard deviation of d from that of the logarithm of one sample (its relative standard deviation
 * where that is small), samples being independent: sqrt(2) times it for AB, once for ABBA.
 */
double planning_sd(double sd_of_sample, enum planning_design design);

/*
 * Blocks until a verdict on an effect of @effect, on average, to *@ret; INFINITY where that is more than
 * PLANNING_BLOCKS_MAX, and for no effect. With @sd 0 all signs agree: the fewest blocks there can be.
 * -EINVAL, and *@ret untouched, where a number is not finite or out of its range.
 */
int planning_blocks(const struct planning *p, double effect, double *ret);

/*
 * The blocks within which four of five such experiments have their verdict. As planning_blocks().
 */
int planning_blocks_80(const struct planning *p, double effect, double *ret);

/*
 * The least effect that @blocks blocks find with a chance of 80 %, to *@ret: the answer to "what could
 * have been seen?" where nothing was. INFINITY where they are too few for any effect; 0 where @sd is 0
 * and they are enough. -EINVAL as above.
 */
int planning_detectable(const struct planning *p, double blocks, double *ret);

/*
 * Blocks until both one-sided processes say that d lies within -@region..+@region, on average, where
 * there is no effect at all. INFINITY and -EINVAL as above, also for a @region of 0.
 */
int planning_equivalence(const struct planning *p, double region, double *ret);

/*
 * What @blocks blocks take: each sample has its window, its warm-up, and the time in which the machine
 * settles after a flip. Nanoseconds; UINT64_MAX where it does not fit, or @blocks is not finite.
 */
uint64_t planning_time(double blocks, unsigned arms, enum planning_design design,
		       uint64_t window_ns, uint64_t warmup_ns, uint64_t settle_ns);
