/* SPDX-License-Identifier: MIT */
/*
 * What a benchmark is. A new one is one file and one line in registry.c.
 *
 * A benchmark runs in a worker process of its own, once, and gives one value for each of its
 * metrics. What it counts and how never changes under one version: a record carries the version and
 * a hash of all option values, and records with different hashes are never compared.
 *
 * The life of a run():
 *
 *  1. Set-up: channels, memory, tasks, each on its CPU (team.h). Warm-up.
 *  2. run->ready(): all tasks are parked. The daemon kicks the CPUs and reads its probes; the call
 *     returns when it says GO.
 *  3. The window: CLOCK_MONOTONIC around it; the loop ends by a shared flag and reads no clock inside
 *     unless latency is what it measures.
 *  4. run->done(): all tasks are parked again. The daemon reads its probes; the call returns when it
 *     says BYE.
 *  5. The result is filled in: metrics, and what each task counted and cost.
 *
 * Anything that goes wrong is a negative return with a sentence: that sample has failed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/fail.h"

#define BENCH_METRICS_MAX 12 /* slots of a record in the store */
#define BENCH_OPTIONS_MAX 16
#define BENCH_TASKS_MAX   2
#define BENCH_CPUS_MAX    2

enum metric_better { METRIC_LOWER, METRIC_HIGHER, METRIC_NEITHER };

struct bench_metric {
	const char *name; /* "round-trip" */
	const char *unit; /* "ns" */
	enum metric_better better;
	bool headline; /* shown unless all metrics are asked for */
	const char *meaning;
};

enum bench_option_type {
	BENCH_OPTION_WORD, /* one of words */
	BENCH_OPTION_NODE, /* one of words, or the number of a NUMA node */
};

struct bench_option {
	const char *name;
	enum bench_option_type type;
	const char *const *words; /* ends with NULL; the first is the default */
	const char *meaning;
};

/* Where a benchmark can run. */
enum bench_place {
	BENCH_PLACE_PAIR = 1 << 0,     /* on two CPUs */
	BENCH_PLACE_SELF = 1 << 1,     /* both tasks on one CPU */
	BENCH_PLACE_UNPINNED = 1 << 2, /* wherever the scheduler puts them */
};

struct bench_result;
struct bench_run;
struct bench_spec;

struct bench {
	const char *name;
	uint32_t version; /* rises whenever the meaning of a metric changes */
	const char *summary;
	const char *model; /* the benchmark that it is modelled on */
	const struct bench_metric *metrics;
	size_t n_metrics;
	const struct bench_option *options;
	size_t n_options;
	bool spins;                 /* its tasks never sleep */
	uint32_t switches_per_trip; /* context switches that a round trip is taken for; 0: none */
	/* Whether @spec can run at @place; a negative return comes with a sentence that says why not. */
	int (*check_place)(const struct bench_spec *spec, enum bench_place place, struct fail *f);
	int (*run)(struct bench_run *run, struct fail *f);
	/* In the daemon: whether the counts of @result agree with each other and with its metrics. A
	 * sentence begins with what the worker did, "reported ...". May be NULL. */
	int (*check_result)(const struct bench_spec *spec, const struct bench_result *result,
			    struct fail *f);
};

/* A benchmark with a value for each option, in the order of its options. */
struct bench_spec {
	const struct bench *bench;
	/* The index of a word; of BENCH_OPTION_NODE also BENCH_VALUE_NUMBER + the number. */
	uint32_t values[BENCH_OPTIONS_MAX];
};

#define BENCH_VALUE_NUMBER 0x10000

/* One sample's order. */
struct bench_request {
	struct bench_spec spec;
	uint32_t n_cpus;               /* 2, or 0 for unpinned */
	uint32_t cpus[BENCH_CPUS_MAX]; /* of the waker, of the wakee; equal ones are "self" */
	uint64_t warm_up_ns;
	uint64_t window_ns;
	uint64_t seed;
};

/* What one task of the benchmark counted and cost within the window. */
struct bench_task {
	int32_t cpu_before, cpu_after; /* where it ran at both ends */
	uint64_t iterations;
	uint64_t voluntary, involuntary; /* context switches, getrusage(2) */
	uint64_t user_ns, system_ns;
	int64_t run_delay_ns; /* waiting for a CPU; -1 where the kernel does not count it */
};

#define BENCH_WHY_NOT_MAX 128

struct bench_value {
	bool known;
	double value;
	char why_not[BENCH_WHY_NOT_MAX]; /* where it is not known */
};

struct bench_result {
	struct bench_value metrics[BENCH_METRICS_MAX]; /* in the order of the benchmark's metrics */
	uint64_t elapsed_ns;                           /* of the window, by the worker's clock */
	uint64_t round_trips; /* the loop's own count: rates of probes are divided by it */
	struct bench_task tasks[BENCH_TASKS_MAX];
	uint32_t n_tasks;
	int32_t memory_node; /* where the memory that is measured lies; -1 where that is not known */
};

/* The run in the worker. Both calls return a negative errno when the daemon has gone. */
struct bench_run {
	const struct bench_request *request;
	struct bench_result *result; /* zeroed before; memory_node -1 */
	int (*ready)(struct bench_run *run, struct fail *f);
	int (*done)(struct bench_run *run, struct fail *f);
	void *userdata;
};

/* All benchmarks, in the order of registry.c. */
size_t bench_count(void);
const struct bench *bench_get(size_t i);
/* By name; NoSuchBenchmark with near misses. */
int bench_find(const char *name, const struct bench **ret, struct fail *f);

/* The place that a request asks for. */
enum bench_place bench_request_place(const struct bench_request *request);

/* For check_result(): both tasks counted the same round trips, give or take one that was under way,
 * and they are the result's. */
int bench_check_counts(const struct bench_result *result, struct fail *f);

/* For check_result(): metric @name is @expected within one part in a thousand, or is not known. */
int bench_check_metric(const struct bench *b, const struct bench_result *result, const char *name,
		       double expected, struct fail *f);

/* Fills in a metric by name; a name that the benchmark has not is a bug and aborts. */
void bench_set_metric(const struct bench *b, struct bench_result *result, const char *name,
		      double value);
void bench_set_why_not(const struct bench *b, struct bench_result *result, const char *name,
		       const char *why_not);
