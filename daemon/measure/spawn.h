/* SPDX-License-Identifier: MIT */
/*
 * Starting a worker: a process group of its own, with one socket and nothing else of ours.
 */
#pragma once

#include <sys/types.h>

#include "util/fail.h"

struct worker {
	pid_t pid; /* 0: it is not ours (a client started it) */
	int pidfd; /* -1 where pid is 0 */
	int fd;    /* our end of the socket pair, not blocking */
};

#define WORKER_NONE ((struct worker){ .pidfd = -1, .fd = -1 })

/*
 * Starts @program. The caller must have blocked SIGCHLD (the child gets an empty signal mask), and
 * must be the thread that lives as long as the process: the worker dies with it.
 */
int worker_spawn(const char *program, struct worker *ret, struct fail *f);

/* Kills the worker's whole process group, if it is ours. */
void worker_kill(const struct worker *w);

/* Closes what is open. The process must have been reaped. */
void worker_close(struct worker *w);
