/* SPDX-License-Identifier: MIT */
/*
 * The filter a{sv} of QueryPage and Query, and what the text keys of it mean.
 */
#pragma once

#include <systemd/sd-bus.h>

#include "measure/recall.h"
#include "util/macro.h"

/* What was asked for. It keeps its own texts: a query may go on when its message has gone. */
struct filter {
	struct query_filter query;
	char benchmark[RECORD_BENCHMARK + 1];
	char **classes; /* ends with NULL */
	struct query_pair *pairs;
	char *kernel; /* a release or a shell pattern; NULL */
	bool by_id;
	uint64_t id; /* of a fingerprint */
	uint64_t *fingerprints;
};

/*
 * Reads one a{sv}. Keys: since-usec t, until-usec t, kinds as, benchmark s (a name, or a spec: exactly
 * those options), classes as, pairs a(uu), arm u, job t, experiment t, fingerprint s, kernel s, parameters s.
 * InvalidArgument, NoSuchBenchmark.
 */
int filter_read(sd_bus_message *call, struct filter *ret, struct fail *f);
void filter_clear(struct filter *filter);

/* Finds the fingerprints of the kernels that are asked for: before each page, as new ones may come. */
int filter_resolve(struct filter *filter, const struct recall *recall, struct fail *f);
