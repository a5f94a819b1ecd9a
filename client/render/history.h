/* SPDX-License-Identifier: MIT */
/*
 * Records of the store (schema "schedlab.record/1") as tables.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "util/macro.h"

struct history;

/* All metrics, or the main ones only; a line for each job, or for all together. NULL without memory. */
struct history *history_new(bool all_metrics, bool by_job);
struct history *history_free(struct history *h);
DEFINE_CLEANUP(struct history *, history_free);

/* Adds one record of any kind; they come in the order in which they were kept. -ENOMEM, or 0. */
int history_add(struct history *h, json_t *record);

bool history_is_empty(const struct history *h);

/* The fingerprint @id as the daemon describes it, {"id", "fields"}; a new reference, NULL: not known. */
typedef json_t *(*history_describe)(const char *id, void *userdata);

/* After the last record: a table for each benchmark as it was configured, and what to know about
 * them; then the jobs; then the other kinds. */
void history_print(struct history *h, history_describe describe, void *userdata);

/* Whether a daemon writes the store, so that a job without an end is running; before printing. */
void history_set_written(struct history *h, bool written);

/* Whether it has jobs to print. */
bool history_has_jobs(const struct history *h);
