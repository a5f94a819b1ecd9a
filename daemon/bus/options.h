/* SPDX-License-Identifier: MIT */
/*
 * Options a{sv} of acting methods: known keys with their types, all others refused by name.
 */
#pragma once

#include <systemd/sd-bus.h>

#include "measure/plan.h"

/* What Measure's options can hold, beside what a plan takes. */
struct measure_call {
	struct plan_options plan;
	bool detach;
	/* What plan points to. */
	const char **benchmarks, **classes;
	struct cpu_pair *pairs;
	struct cpuset *cpus;
};

/*
 * Reads "as benchmarks, as classes, a{sv} options". Keys: duration-usec t, rounds u, seed t,
 * pairs a(uu), cpus s, pairs-per-class u, detach b. InvalidArgument for an unknown key, a key given
 * twice, or one with another type. Texts belong to @call.
 */
int options_read_measure(sd_bus_message *call, struct measure_call *ret, struct fail *f);
void options_clear_measure(struct measure_call *m);
