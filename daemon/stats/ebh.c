/* SPDX-License-Identifier: MIT */
/*
 * The step-up procedure of Benjamini and Hochberg on e-values.
 */
#include "stats/ebh.h"

#include <math.h>

static double threshold(size_t k, size_t n, double alpha)
{
	return log((double)n / (alpha * (double)k));
}

/*
 * The largest k such that k hypotheses reach the threshold for k, where @sure counts as reaching any.
 *
 * From above: as many as reach the threshold of a k that is too large are never fewer than the k sought,
 * for that one's threshold is higher.
 */
static size_t largest(const double *log_e, size_t n, double alpha, size_t sure)
{
	size_t k = n;

	while (k > 0) {
		double least = threshold(k, n, alpha);
		size_t reached = 0;

		for (size_t i = 0; i < n; i++)
			reached += i == sure || log_e[i] >= least;
		if (reached >= k)
			break;
		k = reached;
	}
	return k;
}

size_t ebh(const double *log_e, size_t n_hypotheses, double alpha, bool *ret_rejected)
{
	size_t k = largest(log_e, n_hypotheses, alpha, n_hypotheses);

	for (size_t i = 0; ret_rejected && i < n_hypotheses; i++)
		ret_rejected[i] = k > 0 && log_e[i] >= threshold(k, n_hypotheses, alpha);
	return k;
}

double ebh_needed(const double *log_e, size_t n_hypotheses, double alpha, size_t i)
{
	return threshold(largest(log_e, n_hypotheses, alpha, i), n_hypotheses, alpha);
}

double ebh_interval_alpha(size_t n_rejected, size_t n_hypotheses, double alpha)
{
	return alpha * (double)(n_rejected ? n_rejected : 1) / (double)n_hypotheses;
}
