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
