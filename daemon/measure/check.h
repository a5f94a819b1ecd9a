/* SPDX-License-Identifier: MIT */
/*
 * Can this result be true? The daemon trusts nothing that comes from a worker.
 */
#pragma once

#include "bench/bench.h"

/*
 * Holds @result against what was asked, against itself, and against @bracket_ns, which the daemon's
 * own clock saw between GO and DONE: CPUs, window, counts of both sides. A negative return comes with
 * what the worker did, as in "reported ...".
 */
int check_result(const struct bench_request *request, const struct bench_result *result,
		 uint64_t bracket_ns, struct fail *f);
