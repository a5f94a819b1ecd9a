/* SPDX-License-Identifier: MIT */
/*
 * Records of the store that are no samples, as tables: jobs, and all other kinds by what they share.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

/* Adds a record of kind "job" to @jobs, an object: of each job the last one stays. */
void events_add_job(json_t *jobs, json_t *record);

/* @written: a daemon writes the store, so that the last job, if it has no end, is running. */
void events_print_jobs(json_t *jobs, bool written);
/* @records is an array. */
void events_print_others(const json_t *records);
