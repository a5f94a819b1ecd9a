/* SPDX-License-Identifier: MIT */
/*
 * The t process, shown beside the primary one. It decides nothing: it assumes independent normal blocks, and
 * without them its false positives are not bounded.
 *
 * For n >= 4, ln e = -ln(1 + n) / 2 + n/2 [ln(1 + t^2 / (n - 1)) - ln(1 + t^2 / ((n - 1) (1 + n)))] with
 * t^2 = n mean^2 / variance: the Bayes factor of Goenen, Johnson, Lu, Westfall 2005 (The Bayesian two-sample
 * t test, Am. Stat. 59), with prior effects of variance g = 1 in units of the noise.
 */
#pragma once

#include <stdint.h>

/* 24 bytes; zeroed before the first block. Mean and squares after Welford 1962. */
struct t_bet {
	uint64_t n;
	double mean, squares; /* squares: the sum of squared differences from the mean */
};

/* Takes in the next block. -EINVAL where @d is not finite: nothing changes then. */
int t_bet_add(struct t_bet *t, double d);

/*
 * ln e; 0 for n < 4. Where all d are the same it is (n - 1) / 2 ln(1 + n), the limit for no noise, or
 * -ln(1 + n) / 2 where all are 0.
 */
double t_bet_log_e(const struct t_bet *t);
