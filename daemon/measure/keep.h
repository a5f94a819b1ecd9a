/* SPDX-License-Identifier: MIT */
/*
 * Keeping a measurement: a record for its begin, each sample and its end; and what they refer to.
 *
 * In the side file, each once:
 *   a benchmark's description: {"spec", "name", "version", "hash", "model",
 *     "metrics": [{"name", "unit", "better", "headline"}] in the order of a record's metrics}
 *   the plan: {"machine": as machine_to_json(), "benchmarks": [description], "left_out",
 *     "classes": [{"id", "shares", "n_pairs"}]}
 *   the fingerprint: as fingerprint_to_json()
 *   of a job's begin and end: {"kind", "title", "state", "why", "options", "n_rows", "rounds_done", "store",
 *     at the end "empty_rows": [[row, benchmark, class, waker, wakee]] of those without any sample}
 *   of a failed sample a JSON string, of missing metrics {name: why}
 * measure/recall.h reads it all back.
 */
#pragma once

#include <jansson.h>

#include "measure/plan.h"
#include "store/store.h"
#include "topology/fingerprint.h"

struct keep {
	struct store *store;
	const struct plan *plan;
	const struct fingerprint *fp;
	uint64_t job, fingerprint, plan_key;
	uint64_t spec_keys[MEASURE_BENCHMARKS_MAX];
	json_t *machine;
	size_t kept, unkept; /* samples */
	struct fail why;     /* why some are not kept: the last reason */
};

/* Takes over @machine and @about, the job's text. Never fails: then samples are not kept. The store must have
 * been opened before the job got its number (recall_open()): here it is not, as numbers would meet again. */
void keep_begin(struct keep *k, struct store *store, const struct plan *plan,
		const struct fingerprint *fp, uint64_t job, json_t *machine, json_t *about);

/* @result is NULL for a sample that failed; then @why says why. */
void keep_sample(struct keep *k, size_t cell, uint64_t round, const struct bench_result *result,
		 uint32_t taints, const char *why);

/* Before the end: what was kept in files that are no longer there was not. */
void keep_settle(struct keep *k);

/* The end of the job; takes over @about. Has all synced, and does not wait for it. */
void keep_end(struct keep *k, json_t *about);

void keep_clear(struct keep *k);

/* {"kept", "unkept", "why"}; a new reference. */
json_t *keep_to_json(const struct keep *k);
