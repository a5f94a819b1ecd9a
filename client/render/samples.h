/* SPDX-License-Identifier: MIT */
/*
 * Samples of the store, sorted into the lines of a table. Of a sample only its numbers are kept.
 *
 *   section: one benchmark with one version and one hash of parameters. Figures of two of them are
 *            never put together.
 *   group:   in it, one class of pairs on one fingerprint, of one arm, and where asked of one job
 *   line:    in it, one metric in one unit
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "util/macro.h"

struct line {
	char *metric, *unit;
	double *values; /* in the order of the records */
	size_t n, room;
};

struct group {
	char *class_id;
	size_t fingerprint;    /* index of struct samples.fingerprints */
	uint64_t job;          /* 0 where jobs are not told apart */
	json_int_t began_usec; /* when the job had its first sample */
	unsigned int arm;      /* of an experiment */
	uint64_t *pairs;       /* of good samples; samples_finish() leaves each once */
	size_t n_pairs, room;
	size_t n_samples, tainted, failed; /* all of them, and those of them */
	bool pinned;
	struct line *lines;
	size_t n_lines;
};

struct section {
	char *benchmark, *parameters;
	char *spec; /* NULL: no longer known */
	json_int_t version;
	double window_min_usec, window_max_usec;
	struct group *groups;
	size_t n_groups;
};

struct samples {
	bool all_metrics, by_job;
	struct section *sections;
	size_t n_sections;
	struct {
		char *id, *kernel; /* NULL: no longer known */
	} * fingerprints;
	size_t n_fingerprints;
	uint64_t *jobs; /* samples_finish() leaves each once */
	size_t n_jobs, room;
	size_t n, tainted, failed;
	json_int_t first_usec, last_usec;
	json_int_t began_usec; /* of the job that the last record is of */
	/* Text to how often: names of taints, why samples failed, why metrics are missing. */
	json_t *taints, *failures, *missing;
};

/* All metrics, or the main ones only. NULL without memory. */
struct samples *samples_new(bool all_metrics, bool by_job);
struct samples *samples_free(struct samples *s);
DEFINE_CLEANUP(struct samples *, samples_free);

/* Adds a record of kind "sample"; what it lacks is taken as unknown. -ENOMEM, or 0. */
int samples_add(struct samples *s, const json_t *record);

/* After the last one: sorts, and counts what is distinct. */
void samples_finish(struct samples *s);
