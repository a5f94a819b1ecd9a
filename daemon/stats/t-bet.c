/* SPDX-License-Identifier: MIT */
/*
 * The t process.
 */
#include "stats/t-bet.h"

#include <errno.h>
#include <math.h>

int t_bet_add(struct t_bet *t, double d)
{
	double from = d - t->mean;

	if (!isfinite(d))
		return -EINVAL;
	t->n++;
	t->mean += from / (double)t->n;
	t->squares += from * (d - t->mean);
	return 0;
}

double t_bet_log_e(const struct t_bet *t)
{
	double n = (double)t->n, ratio;

	if (t->n < 4)
		return 0;
	/* t^2 / (n - 1), which may be infinite. */
	ratio = t->mean == 0 ? 0 : n * pow(t->mean / sqrt(t->squares), 2);
	if (isinf(ratio))
		return (n - 1) / 2 * log1p(n);
	return -log1p(n) / 2 + n / 2 * (log1p(ratio) - log1p(ratio / (1 + n)));
}
