/* SPDX-License-Identifier: MIT */
/*
 * A token that one task hands to another: wake and wait, by each mechanism that people use.
 *
 * A channel goes one way. Its two ends may be threads or processes (made before they start).
 */
#pragma once

#include <semaphore.h>
#include <stdatomic.h>

#include <schedlab/units.h>

#include "util/fail.h"

struct token_channel {
	_Alignas(CACHELINE_APART) atomic_uint word; /* futex: 1 while the token is here */
	_Alignas(CACHELINE_APART) sem_t semaphore;
	int read_fd, write_fd; /* pipe, or twice the eventfd */
};

struct token_kind {
	const char *name;
	int (*open)(struct token_channel *c, struct fail *f);
	/* Hands the token over, waking the other end if it sleeps. */
	void (*wake)(struct token_channel *c);
	/* Sleeps until the token is here, and takes it. */
	void (*wait)(struct token_channel *c);
	void (*close)(struct token_channel *c);
};

extern const struct token_kind token_pipe, token_futex, token_eventfd, token_sem;
