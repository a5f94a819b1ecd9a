/* SPDX-License-Identifier: MIT */
/*
 * What was kept, as JSON: single records, and whole jobs as they were shown when they ended.
 */
#pragma once

#include <jansson.h>

#include "store/store.h"

#define RECALL_LOST \
	"its end is not kept: the daemon ended before the job did, or could not write it"

/* Reads what records refer to, and remembers it from one record to the next. */
struct recall;

int recall_new(const struct store_view *v, struct recall **ret, struct fail *f);
struct recall *recall_free(struct recall *r);
DEFINE_CLEANUP(struct recall *, recall_free);

/*
 * One record, schema "schedlab.record/1"; a new reference, NULL without memory.
 *   {"schema", "sequence", "kind", "time_usec", "boot", "boottime_usec", "job", "fingerprint",
 *    "kernel": null where no longer known}
 *   of a job: {"state", "title", "why", "lost": its end was written later, by another daemon}
 *   else: {"experiment": or null, "block", "arm", "round", "benchmark", "version", "parameters",
 *    "spec": null where no longer known, "class", "pair": [a, b] or null,
 *    "window_usec": or null, as of a failed sample,
 *    "taints": [name], "failed": sentence or null, "memory_node": or null,
 *    "metrics": {name: {"value", "unit", "better", "headline"}}, "unavailable": {name: why}}
 */
json_t *recall_record(struct recall *r, const struct record *record);

/* Calls @visit with the id and text of each fingerprint that is kept: {"id", "fields", ...}. */
void recall_each_fingerprint(const struct recall *r,
			     void (*visit)(uint64_t id, const json_t *fingerprint, void *userdata),
			     void *userdata);

/* The text of one; a new reference, NULL where it is not kept. */
json_t *recall_fingerprint(const struct recall *r, const char *id);

/*
 * A job as measure/measure.h has it, from its records alone. Where some of its samples are no longer kept,
 * "store" has their number in "gone". Of a job without an end, rows without any sample are not known; it is
 * "running" where another daemon writes the store, and else "failed", as its daemon was killed.
 * NoSuchJob; StoreUnavailable where what it was asked is no longer kept.
 */
int recall_job(const struct store_view *v, uint64_t job, json_t **ret, struct fail *f);

/* store_open(), and where the store has just been opened, the end of a job that its last writer could not
 * write: "failed", as the daemon ended before the job did. */
int recall_open(struct store *s, struct fail *f);
