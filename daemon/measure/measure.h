/* SPDX-License-Identifier: MIT */
/*
 * Measuring pair classes, as a job: samples in random order, round after round.
 */
#pragma once

#include <systemd/sd-event.h>

#include "config/config.h"
#include "job/job.h"
#include "measure/plan.h"
#include "store/store.h"
#include "topology/fingerprint.h"

/* What a user did not say. */
struct measure_defaults {
	uint64_t duration_ns, warm_up_ns, rounds, pairs_per_class;
	uint64_t grace_ns; /* beyond its time, that a worker gets */
};

extern const struct config_spec measure_config_spec;

/* The defaults of the configuration; @c may be NULL. */
int measure_defaults_load(const struct config *c, struct measure_defaults *ret, struct fail *f);

/* What measuring needs; made by app, outlives all jobs. */
struct measure_context {
	sd_event *event;
	struct topology *topology;
	const struct fingerprint *fingerprint;
	struct job_queue *queue;
	struct store *store; /* where samples are kept */
	struct measure_defaults defaults;
	const char *worker;    /* path of the program */
	bool worker_stands_in; /* --worker: another program plays the hardware (tests) */
	const char *lock_file; /* NULL where nothing real is measured */
	int lock_fd;           /* -1 while no job runs */
};

/* Fills in what @options leave to the defaults: times, rounds and pairs of 0, seed of UINT64_MAX. */
void measure_fill_in(const struct measure_context *context, struct plan_options *options);

/*
 * Plans and queues a measurement. Fails before anything runs: with NotHere for another machine's
 * topology, with Busy (and the holder's name) where another daemon measures on this machine, and with
 * all that plan_new() refuses.
 */
int measure_submit(struct measure_context *context, const struct plan_options *options,
		   bool detached, struct job **ret, struct fail *f);

/*
 * The result of such a job (schema "schedlab.measure/1"):
 *   {"schema", "job", "state", "why", "machine": as machine_to_json(),
 *    "options": {"duration_usec", "warm_up_usec", "rounds", "seed", "cpus"}, "rounds_done",
 *    "store": {"kept", "unkept": samples, "why"}, and what tally_to_json() adds}
 * A job that has ended long ago has the same by measure/recall.h.
 */
