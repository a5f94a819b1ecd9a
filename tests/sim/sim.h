/* SPDX-License-Identifier: MIT */
/*
 * What simulations share: a program is a table of cells, each a claim about many random runs.
 *
 * Every run has a seed of its own, from the cell's name and the run's number, so a cell gives the same numbers
 * whatever else is simulated and on however many CPUs. Cells run side by side in processes, one a CPU. The
 * results are TAP lines, in the order of the table, and with --table rows of a Markdown table.
 *
 *     sim-NAME [--long] [--table FILE] [--cell PART-OF-A-NAME]
 *
 * Bounds on chances are held by tests at the level 0.001: what a claim allows is never called wrong in more
 * than one of a thousand cells, and never by eye.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/random.h"

#define SIM_VALUES 24
#define SIM_ERRORS 3.29 /* standard errors that normal errors exceed once in 1000 (both sides) */

/* Sums over the runs of one cell, of each of the numbers that a run gives. */
struct sim_tally {
	uint64_t runs;
	double sum[SIM_VALUES], squares[SIM_VALUES];
};

struct sim_cell {
	const char *name;
	const void *setting;
	/* One run. It writes up to SIM_VALUES numbers, zeros before. */
	void (*run)(const void *setting, struct random *random, double *values);
	/* What must hold of them, with sim_check(); and the row of the table, with sim_row(). */
	void (*judge)(const struct sim_cell *cell, const struct sim_tally *tally);
	/* Runs; 0: the usual number. */
	unsigned int short_runs, long_runs;
};

struct sim_program {
	const char *title; /* of the table */
	const char *head;  /* its first row: | a | b | */
	const struct sim_cell *cells;
	size_t n_cells;
};

/*
 * For programs that are no table of cells: a claim a TAP line, then the plan, and the exit status.
 */
void sim_claim(bool holds, const char *format, ...) __attribute__((format(printf, 2, 3)));
int sim_claims_end(void);

#define SIM_LEVEL 0.001 /* of all tests of chances */

/* P(at least @k of @n) at a chance of @p each: the exact binomial tail. */
double sim_tail(uint64_t k, uint64_t n, double p);

/* The whole program: returns its exit status. */
int sim_main(int argc, char **argv, const struct sim_program *program);

/* For judges. The mean of a number, and its standard error. */
double sim_mean(const struct sim_tally *t, int value);
double sim_error(const struct sim_tally *t, int value);

/* Notes a claim about the cell; what it says is shown where it does not hold. */
void sim_check(bool holds, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Cells of the table's row behind the name; shown behind the TAP line too. */
void sim_row(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Whether a share of runs, as counted, may come from a chance of at most (at least) @p: by the exact binomial
 * distribution, at the level 0.001.
 */
bool sim_at_most(const struct sim_tally *t, int value, double p);
bool sim_at_least(const struct sim_tally *t, int value, double p);

/*
 * How far a mean is above @expected, in units of what chance and rounding explain: the mean that was given as
 * @expected came from 8000 runs like these and was rounded to +-@rounding. Beyond 1 or -1 it differs.
 */
double sim_distance(const struct sim_tally *t, int value, double expected, double rounding);
