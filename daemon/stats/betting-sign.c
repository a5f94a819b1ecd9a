/* SPDX-License-Identifier: MIT */
/*
 * The sign process: the Krichevsky-Trofimov mixture, and its halves.
 *
 * With k signs up and l down, e = 2^(k+l) B(k + 1/2, l + 1/2) / pi, where B is the beta function. Of the
 * bets with p > 1/2 only, weights doubled, e is 2 e I(l + 1/2, k + 1/2), where I is the regularised
 * incomplete beta function at 1/2. By its continued fraction F (NIST Digital Library of Mathematical
 * Functions 8.17.22) the powers of 2 and the beta functions cancel: what remains is
 * F(l + 1/2, k + 1/2) / (pi (l + 1/2)). It converges fast where l > k; the other side follows, for the
 * mean of both is the mixture.
 */
#include "stats/betting.h"

#include <float.h>
#include <math.h>

#define FRACTION_MAX 1000000 /* terms; for 10^6 blocks it takes some thousand */

/* The mixture over all bets. */
static double mixture(double k, double l)
{
	int sign;

	return (k + l) * M_LN2 + lgamma_r(k + 0.5, &sign) + lgamma_r(l + 0.5, &sign) -
	       lgamma_r(k + l + 1, &sign) - log(M_PI);
}

/* F(a, b) at 1/2, for a > b (evaluated forwards: Lentz 1976). */
static double fraction(double a, double b)
{
	double c = 1, d = 0, f = 1;

	for (int i = 1; i < FRACTION_MAX; i++) {
		double m = i >> 1, t, step;

		if (i % 2)
			t = -(a + m) * (a + b + m) / 2 / ((a + 2 * m) * (a + 2 * m + 1));
		else
			t = m * (b - m) / 2 / ((a + 2 * m - 1) * (a + 2 * m));
		d = 1 / (1 + t * d);
		c = 1 + t / c;
		step = c * d;
		f *= step;
		if (fabs(step - 1) < DBL_EPSILON)
			break;
	}
	return 1 / f;
}

double betting_sign_log_e(uint64_t positive, uint64_t negative, enum betting_side side)
{
	double k = (double)(side == BETTING_DOWN ? negative : positive);
	double l = (double)(side == BETTING_DOWN ? positive : negative);
	double both = mixture(k, l), minor, more, ret;

	if (side == BETTING_BOTH || positive == negative)
		return both;
	more = fmax(k, l) + 0.5;
	minor = log(fraction(more, fmin(k, l) + 0.5) / (M_PI * more));
	if (k < l)
		return minor;
	ret = both + M_LN2;
	return ret + log1p(-exp(minor - ret));
}
