/* SPDX-License-Identifier: MIT */
/*
 * What was kept, as JSON: single records, and whole jobs as they were shown when they ended.
 */
#pragma once

#include <jansson.h>

#include "store/store.h"

/* Reads what records refer to, and remembers it from one record to the next. */
struct recall;

int recall_new(const struct store_view *v, struct recall **ret, struct fail *f);
struct recall *recall_free(struct recall *r);
DEFINE_CLEANUP(struct recall *, recall_free);

/*
 * One record, schema "schedlab.record/1"; a new reference, NULL without memory.
 *   {"schema", "sequence", "kind", "time_usec", "boot", "boottime_usec", "job", "fingerprint",
 *    "kernel": null where no longer known}
 *   of a job: {"state", "title", "why"}
 *   else: {"experiment": or null, "block", "arm", "round", "benchmark", "version", "parameters",
 *    "spec": null where no longer known, "class", "pair": [a, b] or null, "window_usec",
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
 * A job as measure/measure.h has it, from its records alone. Of a job whose end is not among them the
 * daemon was killed: its state is "failed", with that reason. Rows without any sample are not known.
 * NoSuchJob; StoreUnavailable where what it was asked is no longer kept.
 */
int recall_job(const struct store_view *v, uint64_t job, json_t **ret, struct fail *f);
