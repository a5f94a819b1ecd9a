/* SPDX-License-Identifier: MIT */
/*
 * Taints: named reasons to distrust a sample. A tainted sample is kept and shown as such.
 *
 * They are found by what the tasks themselves saw, which has its limits: that others ran on the CPUs
 * of two tasks that sleep most of the time shows only where they preempted each other's work.
 */
#pragma once

#include "bench/bench.h"

enum taint {
	TAINT_DISTURBED,    /* others ran, or the CPU was away, where the tasks were to run alone */
	TAINT_FEW_SWITCHES, /* some waits ended before the task slept */
	TAINT_LONG_WINDOW, /* the window took half as long again as asked: the machine stood still */
	TAINT_MAX,
};

/* "disturbed", ...; what it means, for readers. */
const char *taint_name(enum taint taint);
const char *taint_meaning(enum taint taint);

/* Bits (1 << taint) of all that hold for a result that check_result() let pass. */
uint32_t taint_find(const struct bench_request *request, const struct bench_result *result);
