/* SPDX-License-Identifier: MIT */
/*
 * What a worker may send: nothing of it is trusted, and what passes is sound.
 */
#include "fuzz.h"

#include <math.h>

#include "bench/spec.h"
#include "bench/wire.h"
#include "measure/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = fuzz_text(data, size);
	struct bench_request request = { .n_cpus = 2, .window_ns = 1000000 }, other;
	struct bench_result result;
	struct fail f;

	fuzz_check(bench_spec_parse("switch", &request.spec, &f) >= 0);
	if (wire_parse_request(text, &other, &f) >= 0)
		fuzz_check(other.spec.bench && (other.n_cpus == 0 || other.n_cpus == 2));
	if (wire_parse_result(text, &request, &result, &f) < 0)
		return 0;
	fuzz_check(result.n_tasks > 0 && result.n_tasks <= BENCH_TASKS_MAX);
	for (size_t i = 0; i < request.spec.bench->n_metrics; i++)
		fuzz_check(!result.metrics[i].known || isfinite(result.metrics[i].value));
	(void)check_result(&request, &result, 2000000, &f);
	return 0;
}
