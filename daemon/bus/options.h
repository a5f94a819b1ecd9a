/* SPDX-License-Identifier: MIT */
/*
 * Options a{sv} of acting methods: known keys with their types, all others refused by name.
 */
#pragma once

#include <systemd/sd-bus.h>

#include "measure/plan.h"

#define OPTIONS_MAX 32 /* in a table */

struct options_option {
	const char *key, *type;
	/* Reads the value that comes next. */
	int (*read)(sd_bus_message *call, void *userdata, struct fail *f);
};

struct options_table {
	const struct options_option *options;
	size_t n;
};

/* Reads one a{sv}. InvalidArgument for an unknown key, a key given twice, or one with another type. */
int options_read(sd_bus_message *call, const struct options_table *table, void *userdata,
		 struct fail *f);

/* Reads one "as": at most @max texts, which stay the message's own; the array is the caller's. */
int options_read_texts(sd_bus_message *call, size_t max, const char *what, const char ***ret,
		       size_t *ret_n, struct fail *f);

/* For arguments that cannot be read: a sentence for @r. */
int options_fail(int r, struct fail *f);

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
