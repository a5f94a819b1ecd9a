/* SPDX-License-Identifier: MIT */
/*
 * The benchmarks as JSON, schema "schedlab.benchmarks/1".
 */
#pragma once

#include <jansson.h>

#include "bench/bench.h"

/*
 * {"schema", "benchmarks": [{"name", "version", "summary", "model",
 *   "metrics": [{"name", "unit", "better", "headline", "meaning"}],
 *   "options": [{"name", "accepted", "default", "meaning"}]}]}; a new reference.
 */
json_t *bench_all_to_json(void);

/* "lower", "higher", "neither". */
const char *bench_better_name(enum metric_better better);

/* "pipe, futex, eventfd": the default first. The caller frees it; NULL without memory. */
char *bench_option_accepted(const struct bench_option *o);
