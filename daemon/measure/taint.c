/* SPDX-License-Identifier: MIT */
/*
 * What makes a sample doubtful, by what the worker's tasks saw.
 */
#include "measure/taint.h"

#define SHARE_MAX         0.01 /* of switches, and of the window: more is no accident */
#define LONG_WINDOW_RATIO 1.5

static const struct {
	const char *name, *meaning;
} taints[TAINT_MAX] = {
	[TAINT_PREEMPTED] = { "preempted",
			      "other tasks ran on the CPUs that were measured for more than 1 % of "
			      "the window" },
	[TAINT_LONG_WINDOW] = { "long-window",
				"the window took more than 1.5 times as long as asked: the machine "
				"was overloaded or stood still" },
};

const char *taint_name(enum taint taint)
{
	return taints[taint].name;
}

const char *taint_meaning(enum taint taint)
{
	return taints[taint].meaning;
}

/*
 * Two tasks that hand over a token wait for a CPU a little with every wakeup, and on one CPU they
 * preempt each other. So only on two CPUs, and only where both signs agree: switches the task did
 * not ask for, and waiting.
 */
static bool was_preempted(const struct bench_task *t, uint64_t elapsed_ns)
{
	double switches = (double)(t->voluntary + t->involuntary);

	if ((double)t->involuntary <= SHARE_MAX * switches)
		return false;
	return t->run_delay_ns < 0 || (double)t->run_delay_ns > SHARE_MAX * (double)elapsed_ns;
}

uint32_t taint_find(const struct bench_request *request, const struct bench_result *result)
{
	uint32_t found = 0;

	if (bench_request_place(request) == BENCH_PLACE_PAIR)
		for (uint32_t i = 0; i < result->n_tasks; i++)
			if (was_preempted(&result->tasks[i], result->elapsed_ns))
				found |= 1U << TAINT_PREEMPTED;
	if ((double)result->elapsed_ns > LONG_WINDOW_RATIO * (double)request->window_ns)
		found |= 1U << TAINT_LONG_WINDOW;
	return found;
}
