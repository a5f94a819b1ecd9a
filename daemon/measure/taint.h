/* SPDX-License-Identifier: MIT */
/*
 * Taints: named reasons to distrust a sample. A tainted sample is kept and shown as such.
 */
#pragma once

#include "bench/bench.h"

enum taint {
	TAINT_PREEMPTED,   /* another task ran where this one was to run alone */
	TAINT_LONG_WINDOW, /* the window took half as long again as asked: the machine stood still */
	TAINT_MAX,
};

/* "preempted", "long-window"; what it means, for readers. */
const char *taint_name(enum taint taint);
const char *taint_meaning(enum taint taint);

/* Bits (1 << taint) of all that hold for a result that check_result() let pass. */
uint32_t taint_find(const struct bench_request *request, const struct bench_result *result);
