/* SPDX-License-Identifier: MIT */
/*
 * What a measurement will do: benchmarks x pairs, checked as a whole before anything runs.
 */
#pragma once

#include <schedlab/limits.h>

#include "bench/bench.h"
#include "topology/class.h"

#define PLAN_DURATION_DEFAULT_NS (200 * NSEC_PER_MSEC)
#define PLAN_WARM_UP_DEFAULT_NS  (50 * NSEC_PER_MSEC)
#define PLAN_ROUNDS_DEFAULT      5

/* What was asked for. Texts and arrays belong to the caller. */
struct plan_options {
	const char *const *benchmarks; /* specs; none: every benchmark with its defaults */
	size_t n_benchmarks;
	const char *const *classes; /* ids; none: every class that the benchmark can run in */
	size_t n_classes;
	const struct cpu_pair *pairs; /* instead of the representatives of classes */
	size_t n_pairs;
	const struct cpuset
		*cpus; /* only pairs among these; may name isolated CPUs; NULL: usable */
	size_t pairs_per_class;
	uint64_t duration_ns, warm_up_ns;
	uint64_t rounds;
	uint64_t seed;
};

/* One benchmark on one pair of CPUs. */
struct plan_cell {
	size_t benchmark;                    /* index into specs */
	const struct pair_class *pair_class; /* belongs to the plan's class table */
	bool pinned;
	struct cpu_pair pair; /* where pinned */
};

/* What was not named and cannot be: a benchmark in a class, with the reason. */
struct plan_omission {
	char *benchmark; /* as bench_spec_format() */
	const char *class_id;
	char *why;
};

struct plan {
	struct bench_spec specs[MEASURE_BENCHMARKS_MAX];
	size_t n_specs;
	struct class_table *classes;
	struct plan_cell *cells;
	size_t n_cells;
	struct plan_omission *omissions;
	size_t n_omissions;
	uint64_t duration_ns, warm_up_ns, rounds, seed;
	char *cpus; /* the list that was asked for; NULL */
};

/*
 * Checks all of @options and makes the plan. Refuses by name: unknown benchmarks, options and
 * classes, pairs of CPUs that cannot be used, a class or pair that a benchmark cannot run in where it
 * was asked for, nodes that are not there, times and numbers out of range, nothing to do.
 */
int plan_new(struct topology *t, const struct plan_options *options, struct plan **ret,
	     struct fail *f);
struct plan *plan_free(struct plan *plan);
DEFINE_CLEANUP(struct plan *, plan_free);

/* The request for one cell. */
void plan_request(const struct plan *plan, const struct plan_cell *cell, uint64_t seed,
		  struct bench_request *ret);
