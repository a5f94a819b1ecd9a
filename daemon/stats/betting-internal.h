/* SPDX-License-Identifier: MIT */
/*
 * What the files of betting share.
 */
#pragma once

#include <stddef.h>

#include "stats/betting.h"

/* ln of the mean of e^values, without overflow (log-sum-exp). @n > 0; a value may be -infinity. */
double betting_log_mean(const double *values, size_t n);

/*
 * Takes in @d, finite and with room for it, and bets on one @side only (BETTING_BOTH: both). ln e of a
 * side that did not bet from the first block on means nothing.
 */
void betting_bet(struct betting *b, double d, enum betting_side side);

/* A number that ln e of the primary process on one side is not above; much cheaper than that. */
double betting_log_e_limit(const struct betting *b, enum betting_side side);
