/* SPDX-License-Identifier: MIT */
/*
 * A series of measurements against a baseline: has its level or its spread changed, and when? Pure: no
 * input, no output, no allocation.
 *
 * What is promised. Where baseline and later values are exchangeable (independent draws of one law,
 * which may have any shape: skew, heavy tails, two modes, ties), the average run length, the number of
 * later values until an alarm, is at least the bar; and an alarm within T values has a chance of at most
 * T / bar. Both are over baselines and values, exact for each size of baseline, and hold again after
 * each change_restart().
 *
 * What breaks it: values that depend on those before them (autocorrelation), a drift, day against
 * night: such a series does change, and the detector says so. A baseline chosen for its values breaks it
 * too. Measured with a baseline of 100 and a bar of 10000 (tests/sim/sim-change.c): a run length of
 * 16000 where values were independent, 1000 with AR(0.3), 38 with AR(0.9). The remedy is to give
 * medians of blocks (struct change_block) of some four times (1 + r) / (1 - r) values, r being the
 * correlation of neighbours: 14000 in blocks of 8 at 0.3, 13500 in blocks of 64 at 0.9.
 *
 * Method. The baseline's m values cut the line into m + 1 cells. Under exchangeability the next value
 * falls into a cell with a chance of exactly (1 + values seen there) / (m + 1 + values seen): Polya's
 * urn, so nothing about the law need be known, and the reference grows with what is seen. That gives an
 * interval of [0, 1] for each value in which its conformal p-value lies, independent of all before (Vovk,
 * Nouretdinov, Gammerman 2003, testing exchangeability on-line); equal values are ordered by coins from
 * @seed. Bets are densities on [0, 1], averaged over that interval: normal scores (van der Waerden
 * 1952) moved or stretched, and straight lines that favour one end, both ends or the middle (Wilcoxon's
 * and Ansari and Bradley's scores), each with a tenth of wealth kept back, so that single odd values do
 * not ruin it. The detector is the mean over bets of the Shiryaev-Roberts sum R = (R + 1) x factor, an
 * e-detector: R minus the number of values is a martingale, from which both bounds follow (Shin, Ramdas,
 * Rinaldo 2024).
 *
 * How soon, with that bar, after 200 quiet values: a level 10 % higher at an sd of 5 % in 8 values where
 * they are normal, 14 with t3, 32 with Cauchy, 18 with two modes; twice the spread in 23, 52, 117, 56.
 * After a change the new values enter the reference too, so a change is found fastest after a long quiet
 * time: k values that lie above all of m before them are as rare as 1 in (m + k choose k), whatever is
 * bet.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/random.h"

#define CHANGE_BASELINE_MAX 256 /* values: more would only make the cells finer */
#define CHANGE_RECENT_MAX   256 /* values kept to say how large a change is */
#define CHANGE_BLOCK_MAX    256
#define CHANGE_BETS         12

enum change_kind { CHANGE_UP, CHANGE_DOWN, CHANGE_WIDER, CHANGE_NARROWER, CHANGE_KINDS };

struct change_bet {
	double sum;     /* Shiryaev-Roberts */
	double best;    /* CUSUM: the product since the best time to begin */
	uint64_t since; /* that time */
};

/* 9 KiB; its parts are for change.c. */
struct change {
	double bar;
	size_t n_baseline;
	double baseline[CHANGE_BASELINE_MAX];   /* sorted */
	double coins[CHANGE_BASELINE_MAX];      /* which of two equal values is the lower */
	uint64_t seen[CHANGE_BASELINE_MAX + 1]; /* later values in each cell */
	uint64_t n;                             /* later values */
	double recent[CHANGE_RECENT_MAX];       /* value i at i mod CHANGE_RECENT_MAX */
	struct change_bet bets[CHANGE_BETS];
	struct random random;
};

struct change_report {
	bool alarm;      /* the evidence is at the bar */
	double evidence; /* the detector: its mean is the number of values where nothing changed */
	enum change_kind kind; /* with most evidence, whether enough or not */
	uint64_t since; /* the first changed value, if one is: 0 is the first after the baseline */
	size_t n_before, n_after;           /* values the rest is from: baseline and recent ones */
	double level_before, level_after;   /* medians, in the values' unit */
	double spread_before, spread_after; /* 1.4826 MAD */
};

/*
 * The bar for at most one false alarm in @days days on average over @series series (all those of an
 * installation), each of @per_day values a day: their product, at least 1.
 */
double change_bar(double per_day, double series, double days);

/*
 * Begins with @m values of @baseline (1..CHANGE_BASELINE_MAX; 30 and more are useful, 100 good), in any
 * order. -EINVAL for another @m, a @bar that is below 1 or not finite; -ERANGE for a value that is not
 * finite. The same @seed gives the same answers. O(m log m).
 */
int change_init(struct change *c, const double *baseline, size_t m, double bar, uint64_t seed);

/*
 * The next value. 1: an alarm, and again with each value until change_restart(); 0: none. -ERANGE, and
 * nothing is counted, where it is not finite: what did not run is no value. O(m).
 */
int change_add(struct change *c, double value);

/* What is known now. Of a change longer ago than CHANGE_RECENT_MAX values only those are looked at. */
void change_report(const struct change *c, struct change_report *ret);

/*
 * Forgets the evidence and keeps the baseline, with all later values in its reference: after a false
 * alarm. After a true one begin anew, with a baseline from the new regime.
 */
void change_restart(struct change *c);

/* Medians of @size successive values, in place of them; the last, unfinished block is for nobody. */
struct change_block {
	size_t size, n;
	double values[CHANGE_BLOCK_MAX];
};

/* -EINVAL where @size is 0 or above CHANGE_BLOCK_MAX. */
int change_block_init(struct change_block *b, size_t size);

/* 1 and the median to *@ret where @value fills a block; 0 where not. Divide the bar by the size. */
int change_block_add(struct change_block *b, double value, double *ret);
