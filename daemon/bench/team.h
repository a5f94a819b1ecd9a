/* SPDX-License-Identifier: MIT */
/*
 * The tasks of a benchmark: threads or processes, each on its CPU, that park between phases.
 *
 * A team has a controller (the worker's main thread, kept off the CPUs that are measured where there
 * are others) and tasks. The tasks sleep until the controller starts a phase; then all run the
 * benchmark's loop; when all have begun, the controller sleeps for the phase's time, raises the stop
 * flag, and waits until all are parked again. What they count lies in memory that all share, a line of its own for each
 * writer.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include <schedlab/units.h>

#include "bench/bench.h"

struct team;

/* What one task sees; it lies in shared memory. */
struct team_task {
	_Alignas(CACHELINE_APART) struct team *team;
	uint32_t index;
	struct bench_task counts;  /* filled in by team_begin() and team_end() and by the loop */
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC, by team_begin() and team_end() */
	struct fail fail;          /* why it could not start */
	atomic_bool failed;
	pthread_t thread;
	int pid;
};

/* The loop of one task in one phase: runs until team_stopped(), or as the benchmark's protocol says. */
typedef void (*team_loop)(struct team_task *task, uint32_t phase, void *userdata);

/* All of it is in shared memory. */
struct team {
	_Alignas(CACHELINE_APART) atomic_uint round; /* futex: rises with each phase */
	uint32_t phase; /* what to run; TEAM_PHASE_QUIT ends the tasks */
	_Alignas(CACHELINE_APART) atomic_bool stop;
	_Alignas(CACHELINE_APART) atomic_uint parked; /* futex: tasks that sleep */
	_Alignas(CACHELINE_APART) atomic_uint begun;  /* futex: tasks in the measured part */
	_Alignas(CACHELINE_APART) uint32_t n_tasks;
	bool processes;
	const struct bench_request *request;
	team_loop loop;
	void *userdata;
	struct team_task tasks[BENCH_TASKS_MAX];
};

/*
 * Starts @n_tasks tasks for @request, in threads or in processes of their own, and waits until each
 * is on its CPU and parked. @userdata must be in shared memory where tasks are processes.
 */
int team_start(const struct bench_request *request, uint32_t n_tasks, bool processes,
	       team_loop loop, void *userdata, struct team **ret, struct fail *f);

/* Runs one phase for @duration_ns. Fails where a task has died or does not stop. */
int team_run(struct team *team, uint32_t phase, uint64_t duration_ns, struct fail *f);

/* Ends the tasks (kills those that do not come back) and frees the team. Returns NULL. */
struct team *team_free(struct team *team);
DEFINE_CLEANUP(struct team *, team_free);

/* For loops. */
static inline bool team_stopped(const struct team_task *task)
{
	return atomic_load_explicit(&task->team->stop, memory_order_relaxed);
}

/* The measured part of a loop lies between these two: they read the clock, and what the task cost. */
void team_begin(struct team_task *task);
void team_end(struct team_task *task, uint64_t iterations);

/* Memory that threads and processes of the worker share, zeroed; NULL without memory. */
void *team_alloc(size_t size);
void team_release(void *memory, size_t size);
