/* SPDX-License-Identifier: MIT */
/*
 * The grammar of benchmarks: "NAME[:OPTION=VALUE[,OPTION=VALUE...]]".
 */
#pragma once

#include "bench/bench.h"

#define BENCH_SPEC_MAX 1024 /* bytes of a spec in text */

/*
 * Options that are not named have their defaults. A part without '=' continues the value before it
 * with a comma (for values that are lists). Refused by name with what would be accepted: unknown
 * benchmarks, options and values, and an option given twice.
 */
int bench_spec_parse(const char *text, struct bench_spec *ret, struct fail *f);

/* All options with their values, "switch:mode=pipe,as=process,state=none": equal specs have equal
 * texts. The caller frees it; NULL without memory. */
char *bench_spec_format(const struct bench_spec *spec);

/* The value of option @name, as in bench_spec.values; an unknown name is a bug and aborts. */
uint32_t bench_spec_value(const struct bench_spec *spec, const char *name);

/* XXH3 over name, version and all option values: the identity of what is measured. */
uint64_t bench_spec_hash(const struct bench_spec *spec);
