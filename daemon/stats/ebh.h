/* SPDX-License-Identifier: MIT */
/*
 * Many hypotheses at once: which of K are rejected so that, on average, at most a share alpha of the
 * rejected ones is true.
 *
 * e-BH (Wang and Ramdas 2022, False discovery rate control with e-values, J. R. Stat. Soc. B 84): the k with
 * the largest e are rejected, for the largest k of which each has e >= K / (alpha k). No assumption on how the
 * hypotheses depend on each other: classes and metrics of the same samples may.
 *
 * How to stop. K is fixed in the plan. After each block, ebh() over all K, those that have stopped with the e
 * they stopped at (not the largest they ever had: that is no e-value). Rejected ones stop together, so
 * none of them is ever taken back. The others go on, to their equivalence bound or the budget. None
 * stops at e >= 1 / alpha when K > 1: then no lone effect could ever be found, for it needs K / alpha.
 *
 * Pure: no input, no output, no allocation. Here e is always given as ln e.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Returns how many of the @n_hypotheses are rejected at @alpha, and writes to @ret_rejected which (NULL: not
 * wanted). Equal e share their fate. Time O(n) for each of a few rounds, at most n.
 */
size_t ebh(const double *log_e, size_t n_hypotheses, double alpha, bool *ret_rejected);

/*
 * The ln e that hypothesis @i needs, or needed, to be rejected while all others stay as they are. Between
 * ln(1 / alpha), where all others are rejected, and ln(K / alpha), where none is.
 */
double ebh_needed(const double *log_e, size_t n_hypotheses, double alpha, size_t i);

/*
 * The alpha for the interval (INTERVAL_NOW) of each rejected one when @n_rejected are: alpha n_rejected / K.
 * At most a share alpha of the intervals reported so misses, on average (e-BY: Xu, Wang, Ramdas 2022,
 * arXiv 2203.12572). Where none is rejected, that for one.
 */
double ebh_interval_alpha(size_t n_rejected, size_t n_hypotheses, double alpha);
