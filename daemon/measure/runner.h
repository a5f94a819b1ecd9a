/* SPDX-License-Identifier: MIT */
/*
 * One sample: drives a worker through the handshake, and makes a sentence of all that goes wrong.
 *
 * The life of a sample:
 *
 *  1. runner_start(): the worker is spawned (or a client's is taken over its socket) and gets the
 *     request. State "starting", until READY.
 *  2. READY: before_window() is called: CPUs are kicked, probes are read. GO is sent. "running".
 *  3. DONE: after_window() is called: probes are read. BYE is sent. "ending", until RESULT.
 *  4. RESULT is checked. "leaving", until the process has ended with status 0.
 *  5. done() is called, once, from the event loop.
 *
 * Each state has a deadline: the time the worker was told to take, and a grace on top. A worker that
 * dies, closes its socket, says the wrong thing or nothing in time, sends a result that cannot be
 * true, or ends with another status, has failed the sample: its process group is killed, and done()
 * comes when it has been reaped.
 */
#pragma once

#include <systemd/sd-event.h>

#include "bench/bench.h"
#include "measure/spawn.h"

struct runner;

struct runner_order {
	struct bench_request request;
	const char *program; /* the worker to spawn; NULL: use @client_fd */
	int client_fd;       /* a worker that a client started; taken over by runner_start() */
	uint64_t grace_ns;
};

struct runner_handlers {
	/* Around the window. A negative return of before_window() fails the sample. May be NULL. */
	int (*before_window)(void *userdata, struct fail *f);
	void (*after_window)(void *userdata);
	/* @result is NULL where the sample failed; then @why says why. Both belong to the runner,
	 * which may be freed now. */
	void (*done)(const struct bench_result *result, const struct fail *why, void *userdata);
	void *userdata;
};

int runner_start(sd_event *event, const struct runner_order *order,
		 const struct runner_handlers *handlers, struct runner **ret, struct fail *f);

/* Stops the sample: done() comes with Cancelled when the worker has ended. */
void runner_cancel(struct runner *r, const char *why);

/* Kills and reaps what is left without calling done(). */
struct runner *runner_free(struct runner *r);
DEFINE_CLEANUP(struct runner *, runner_free);
