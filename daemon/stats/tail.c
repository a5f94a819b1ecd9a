/* SPDX-License-Identifier: MIT */
/*
 * Tail probabilities: sums of few terms, small tables on the stack, or the normal distribution.
 *
 * The rank distributions are symmetric, so that only their lower half is ever counted.
 */
#include "stats/tail.h"

#include <math.h>

/* The lower half, middle included, of the largest table: inversions, signed ranks, then pairs. */
#define TABLE (TAIL_EXACT_MAX * TAIL_EXACT_MAX / 2 + 1)
_Static_assert(TAIL_EXACT_MAX *(TAIL_EXACT_MAX + 1) / 4 < TABLE, "signed ranks fit the table");

/* So that 1 of 20 is at most (1 - 0.9) / 2, whichever way the last digit went. */
#define SLACK (1 + 1e-12)

double tail_normal(double z)
{
	return 0.5 * erfc(-z / M_SQRT2);
}

uint64_t tail_binomial(size_t n, double p, double a, double *ret_mass)
{
	double ln_odds = log(p) - log1p(-p), ln_term = (double)n * log1p(-p), mass = 0;
	uint64_t k = 0;

	while (k <= n && mass + exp(ln_term) <= a * SLACK) {
		mass += exp(ln_term);
		ln_term += log((double)(n - k)) - log((double)(k + 1)) + ln_odds;
		k++;
	}
	*ret_mass = mass;
	return k;
}

/* The answer from a table of probabilities. */
static uint64_t largest(const double *table, size_t size, double a, double *ret_mass)
{
	double mass = 0;
	uint64_t k = 0;

	while (k < size && mass + table[k] <= a * SLACK)
		mass += table[k++];
	*ret_mass = mass;
	return k;
}

/* The answer from the normal distribution; only the half below @mean is looked at. */
static uint64_t largest_normal(double mean, double sd, double a, double *ret_mass)
{
	uint64_t low = 0, high = (uint64_t)mean;

	/* P(T < k) is read off at k - 1/2. */
	while (low < high) {
		uint64_t k = high - (high - low) / 2;

		if (tail_normal(((double)k - 0.5 - mean) / sd) <= a)
			low = k;
		else
			high = k - 1;
	}
	*ret_mass = low > 0 ? tail_normal(((double)low - 0.5 - mean) / sd) : 0;
	return low;
}

uint64_t tail_signed_rank(size_t n, double a, double *ret_mass)
{
	double x = (double)n, mean = x * (x + 1) / 4, table[TABLE] = { 1 };
	size_t size = (size_t)mean + 1;

	if (n > TAIL_EXACT_MAX)
		return largest_normal(mean, sqrt(x * (x + 1) * (2 * x + 1) / 24), a, ret_mass);
	/* A rank is in the sum or not: the generating function is the product of (1 + q^i) / 2. */
	for (size_t i = 1; i <= n; i++)
		for (size_t s = size; s-- > 0;)
			table[s] = 0.5 * (table[s] + (s >= i ? table[s - i] : 0));
	return largest(table, size, a, ret_mass);
}

/* Multiplies by (1 - q^@up) / (1 - q^@down), as counts, whose factor @scale makes probabilities. */
static void multiply(double *table, size_t size, size_t up, size_t down, double scale)
{
	for (size_t s = size; s-- > up;)
		table[s] -= table[s - up];
	for (size_t s = down; s < size; s++)
		table[s] += table[s - down];
	for (size_t s = 0; s < size; s++)
		table[s] *= scale;
}

uint64_t tail_rank_sum(size_t n, size_t m, double a, double *ret_mass)
{
	double x = (double)n, y = (double)m, mean = x * y / 2, table[TABLE] = { 1 };
	size_t size;

	if (n > TAIL_EXACT_MAX || m > TAIL_EXACT_MAX)
		return largest_normal(mean, sqrt(x * y * (x + y + 1) / 12), a, ret_mass);
	size = n * m / 2 + 1;
	/* The Gaussian binomial coefficient of n + m over n, over the ordinary one. */
	for (size_t i = 1; i <= n; i++)
		multiply(table, size, m + i, i, (double)i / (double)(m + i));
	return largest(table, size, a, ret_mass);
}

double tail_inversions(size_t n, uint64_t k)
{
	double table[TABLE] = { 1 }, mass = 0;
	uint64_t most = n > 0 ? (uint64_t)n * (n - 1) / 2 : 0;
	/* At most k is not at least k + 1, which is as likely as at most this. */
	uint64_t other = k < most ? most - k - 1 : 0;
	size_t size = (size_t)(most / 2 + 1);

	if (k >= most)
		return 1;
	for (size_t i = 2; i <= n; i++)
		multiply(table, size, i, 1, 1 / (double)i);
	for (size_t s = 0; s <= (k < other ? k : other); s++)
		mass += table[s];
	return k <= other ? mass : 1 - mass;
}
