/* SPDX-License-Identifier: MIT */
/*
 * Prints the rows of daemon/stats/modes-table.c: quantiles of the worst dip, times root n.
 *
 * That is half the largest distance of n uniform values' steps from the least concave function
 * above them (see daemon/stats/modes-dip.c). A row has 10^6 samples up to 300 values, 2 x 10^5 up
 * to 5000, then 40000; its seed is its size. Each entry is taken three standard errors of its rank
 * to the safe side, so that the p that is read off is too large if anything. Some ten minutes. With
 * a number: only the row of so many values.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "stats/modes-internal.h"
#include "stats/robust.h"
#include "util/macro.h"
#include "util/random.h"

static const size_t sizes[] = { 4,   5,   6,   7,   8,    9,    10,   11,    12,    14,
				16,  18,  20,  25,  30,   40,   50,   70,    100,   150,
				200, 300, 500, 700, 1000, 2000, 5000, 20000, 100000 };

/* Sorted uniform values behind a 0: sums of exponential ones, as parts of their total. */
static void draw(struct random *random, double *values, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i <= n; i++) {
		values[i] = sum;
		sum -= log(((double)(random_next(random) >> 11) + 0.5) * 0x1p-53);
	}
	for (size_t i = 0; i <= n; i++)
		values[i] /= sum;
}

/* The dip by the least concave function above the points (value, number), its corners kept. */
static double worst_dip(const double *values, size_t n, size_t *corner)
{
	double most = 0;
	size_t m = 0;

	for (size_t i = 0; i <= n; corner[m++] = i++)
		while (m >= 2 && (double)(corner[m - 1] - corner[m - 2]) *
						 (values[i] - values[corner[m - 1]]) <=
					 (double)(i - corner[m - 1]) *
						 (values[corner[m - 1]] - values[corner[m - 2]]))
			m--;
	for (size_t k = 0; k + 1 < m; k++) {
		size_t a = corner[k], b = corner[k + 1];
		double slope = (double)(b - a) / (values[b] - values[a]);

		/* A step of value i begins at number i - 1. */
		for (size_t i = a + 1; i <= b; i++)
			most = fmax(most,
				    (double)a + slope * (values[i] - values[a]) - (double)i + 1);
	}
	return most / (2 * (double)n);
}

static void print_row(size_t n)
{
	size_t samples = n <= 300 ? 1000000 : n <= 5000 ? 200000 : 40000;
	_cleanup_free_ double *values = calloc(n + 1, sizeof(*values));
	_cleanup_free_ size_t *corner = calloc(n + 1, sizeof(*corner));
	_cleanup_free_ double *dips = calloc(samples, sizeof(*dips));
	struct random random = { n };

	if (!values || !corner || !dips)
		abort();
	for (size_t i = 0; i < samples; i++) {
		draw(&random, values, n);
		dips[i] = worst_dip(values, n, corner);
	}
	robust_sort(dips, samples);
	printf("	{ %zu,\n	  {", n);
	for (size_t i = 0; i < MODES_TABLE_LEVELS; i++) {
		double level = modes_table_level[i], all = (double)samples;
		size_t rank = (size_t)ceil(all * (1 - level) + 3 * sqrt(all * level * (1 - level)));

		printf(" %.5f%s", sqrt((double)n) * dips[MIN_OF(rank, samples) - 1] + 0.000005,
		       i + 1 < MODES_TABLE_LEVELS ? "," : " } },\n");
	}
	(void)fflush(stdout);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		print_row((size_t)strtoul(argv[1], NULL, 10));
	for (size_t i = 0; argc == 1 && i < ELEMENTSOF(sizes); i++)
		print_row(sizes[i]);
	return 0;
}
