/* SPDX-License-Identifier: MIT */
/*
 * Results that cannot be true.
 */
#include "measure/check.h"

#include "util/parse.h"

/* Less than this share of the window was measured: the tasks were not there in time. */
#define WINDOW_SHARE_MIN 0.5

static int check_cpus(const struct bench_request *request, const struct bench_result *result,
		      struct fail *f)
{
	for (uint32_t i = 0; i < request->n_cpus && i < result->n_tasks; i++) {
		const struct bench_task *t = &result->tasks[i];

		if (t->cpu_before != (int32_t)request->cpus[i] ||
		    t->cpu_after != (int32_t)request->cpus[i])
			return fail_set(
				f, SCHEDLAB_ERROR_FAILED,
				"reported that task %u ran on CPU %d and CPU %d, not on CPU %u", i,
				t->cpu_before, t->cpu_after, request->cpus[i]);
	}
	return 0;
}

static int check_window(const struct bench_request *request, const struct bench_result *result,
			uint64_t bracket_ns, struct fail *f)
{
	if (bracket_ns < request->window_ns)
		return fail_set(f, SCHEDLAB_ERROR_FAILED, "was DONE after %s of a window of %s",
				FORMAT_TIME(bracket_ns), FORMAT_TIME(request->window_ns));
	if (result->elapsed_ns > bracket_ns)
		return fail_set(f, SCHEDLAB_ERROR_FAILED,
				"reported a window of %s, but was DONE after %s",
				FORMAT_TIME(result->elapsed_ns), FORMAT_TIME(bracket_ns));
	if ((double)result->elapsed_ns < WINDOW_SHARE_MIN * (double)request->window_ns)
		return fail_set(
			f, SCHEDLAB_ERROR_FAILED,
			"measured for only %s of a window of %s: its tasks did not get to run",
			FORMAT_TIME(result->elapsed_ns), FORMAT_TIME(request->window_ns));
	return 0;
}

int check_result(const struct bench_request *request, const struct bench_result *result,
		 uint64_t bracket_ns, struct fail *f)
{
	const struct bench *b = request->spec.bench;
	int r;

	r = check_window(request, result, bracket_ns, f);
	if (r < 0)
		return r;
	r = check_cpus(request, result, f);
	if (r < 0)
		return r;
	if (result->round_trips == 0)
		return fail_set(f, SCHEDLAB_ERROR_FAILED, "reported not one round trip");
	return b->check_result ? b->check_result(&request->spec, result, f) : 0;
}
