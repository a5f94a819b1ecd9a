/* SPDX-License-Identifier: MIT */
/*
 * Seeded random values of the shapes that benchmarks have, for tests of statistics.
 */
#pragma once

#include <math.h>

#include "util/random.h"

/* Between 0 and 1, never either. */
static inline double sample_uniform(struct random *r)
{
	return ((double)(random_next(r) >> 11) + 0.5) * 0x1p-53;
}

/* Box and Muller 1958. */
static inline double sample_normal(struct random *r)
{
	double radius = sqrt(-2 * log(sample_uniform(r)));

	return radius * cos(2 * M_PI * sample_uniform(r));
}

static inline double sample_cauchy(struct random *r)
{
	return tan(M_PI * (sample_uniform(r) - 0.5));
}

static inline double sample_exponential(struct random *r)
{
	return -log(sample_uniform(r));
}

/* A value of two modes: near @slow with probability @share, else near @fast; @sd is relative. */
static inline double sample_two_modes(struct random *r, double fast, double slow, double share,
				      double sd)
{
	double centre = sample_uniform(r) < share ? slow : fast;

	return centre * (1 + sd * sample_normal(r));
}

/*
 * The probability that of @n trials at @p at least @hits succeed: a rate is above @p by an exact
 * test where this is small.
 */
static inline double sample_binomial_tail(int n, double p, int hits)
{
	double tail = 0;

	for (int k = hits; k <= n; k++)
		tail += exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(p) +
			    (n - k) * log1p(-p));
	return tail;
}
