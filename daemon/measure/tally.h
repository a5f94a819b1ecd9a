/* SPDX-License-Identifier: MIT */
/*
 * What the samples of a measurement gave, pair by pair, and the JSON of it.
 */
#pragma once

#include <jansson.h>

#include "measure/plan.h"
#include "measure/taint.h"

#define TALLY_FAILURES_MAX 100 /* failed samples whose sentences are kept */

/* All samples of one cell of the plan. */
struct tally_row {
	double *values[BENCH_METRICS_MAX]; /* in the order of the samples */
	size_t n_values[BENCH_METRICS_MAX];
	char why_not[BENCH_METRICS_MAX][BENCH_WHY_NOT_MAX];
	size_t n_samples, n_failed;
	size_t n_tainted; /* samples with at least one taint */
	size_t n_taints[TAINT_MAX];
	int32_t memory_node; /* of the last sample; -1 where it is not known */
};

struct tally_failure {
	size_t cell;
	uint64_t round;
	char *why;
};

struct tally {
	const struct plan *plan;
	struct tally_row *rows; /* one for each cell */
	struct tally_failure *failures;
	size_t n_failures; /* kept ones */
	size_t n_samples, n_failed, n_tainted;
};

int tally_init(struct tally *t, const struct plan *plan);
void tally_clear(struct tally *t);

/* One sample that went well. */
int tally_add(struct tally *t, size_t cell, const struct bench_request *request,
	      const struct bench_result *result);
void tally_add_failure(struct tally *t, size_t cell, uint64_t round, const char *why);

/* One value of one metric; the caller counts the sample. */
int tally_row_add(struct tally_row *row, size_t metric, double value);

/* Whether every cell has at least one good sample. */
bool tally_is_complete(const struct tally *t);

/*
 * Adds to @root:
 *   "benchmarks": [{"spec", "name", "version", "hash", "model"}]
 *   "rows": [{"benchmark": index, "class", "shares", "n_pairs", "pair": [a, b] or null,
 *             "samples", "failed", "tainted", "taints": {name: samples},
 *             "memory_node" or null,
 *             "metrics": {name: {"unit", "better", "headline", "n", "median", "spread", "min", "max",
 *                                "values"}},  spread: 1.4826 x MAD; null for one value
 *             "unavailable": {metric: why}}]
 *   "left_out": [{"benchmark": spec, "class", "why"}] of what was not named and cannot be
 *   "taints": {name: meaning} of those that occur
 *   "failures": [{"benchmark", "class", "pair", "round", "why"}]
 *   "counts": {"samples", "failed", "tainted"}
 */
void tally_to_json(const struct tally *t, json_t *root);

/* The parts of it, for those who have their rows from elsewhere (measure/recall.c). New references. */

/* What a row is of. */
struct tally_row_of {
	size_t benchmark; /* index */
	const char *class_id;
	json_t *shares; /* taken over */
	uint64_t n_pairs;
	bool pinned;
	struct cpu_pair pair;
	const struct bench_metric *metrics;
	size_t n_metrics;
};
json_t *tally_row_to_json(const struct tally_row *row, const struct tally_row_of *of);
/* [[row, benchmark, class, waker, wakee]] of the rows without any sample: at most TALLY_EMPTY_MAX; CPUs of
 * the unpinned are null. */
#define TALLY_EMPTY_MAX 1000
json_t *tally_empty_rows_to_json(const struct tally *t);
json_t *tally_spec_to_json(const struct bench_spec *spec);
json_t *tally_shares_to_json(const struct pair_class *c);
json_t *tally_left_out_to_json(const struct plan *plan);
json_t *tally_failure_to_json(const struct tally_row_of *of, uint64_t round, const char *why);
/* Adds {name: meaning} of the taints that @row has. */
void tally_add_meanings(const struct tally_row *row, json_t *meanings);
json_t *tally_counts_to_json(size_t samples, size_t failed, size_t tainted);
