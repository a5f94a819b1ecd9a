/* SPDX-License-Identifier: MIT */
/*
 * The daemon as a whole: builds every module, wires them, runs the loop.
 */
#pragma once

#include <stdbool.h>

#include "util/fail.h"

/* Where the daemon is to be found. */
enum app_bus { APP_BUS_SYSTEM, APP_BUS_USER, APP_BUS_SOCKET };

struct app_options {
	enum app_bus bus;
	int bus_fd;            /* of APP_BUS_SOCKET: a connected socket to the only client */
	const char *config;    /* NULL: SCHEDLAB_CONF_FILE, if it exists */
	const char *root;      /* root of the kernel's files; NULL: "/" */
	const char *topology;  /* --topology; NULL: below the root */
	const char *worker;    /* a program that plays the worker and the hardware (tests); NULL */
	const char *lock_file; /* NULL: SCHEDLAB_LOCK_FILE */
	const char *state_dir; /* NULL: the service's, or below the user's home */
};

/* Runs until SIGTERM, SIGINT or the end of the bus. Fails with a sentence before the loop only. */
int app_run(const struct app_options *options, struct fail *f);
