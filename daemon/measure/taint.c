/* SPDX-License-Identifier: MIT */
/*
 * What makes a sample doubtful, by what the worker's tasks saw.
 */
#include "measure/taint.h"

#define LOST_MAX          0.05 /* of the window; less is the noise of any machine */
#define INVOLUNTARY_MAX   0.01 /* of a task's switches */
#define SWITCHES_MIN      0.99 /* of those that the round trips are taken for */
#define LONG_WINDOW_RATIO 1.5

static const struct {
	const char *name, *meaning;
} taints[TAINT_MAX] = {
	[TAINT_DISTURBED] = { "disturbed", "others ran on these CPUs, or the hypervisor took them "
					   "away, for more "
					   "than 5 % of the window" },
	[TAINT_FEW_SWITCHES] = { "few-switches",
				 "some waits ended before the task slept, so that a round trip was "
				 "fewer context switches than it is taken for" },
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

static double run_time(const struct bench_task *t)
{
	return (double)(t->user_ns + t->system_ns);
}

/* One of two tasks on one CPU always runs, and a task that spins always does: what is missing of the
 * window was somebody else's. */
static bool lost_time(const struct bench_request *request, const struct bench_result *result)
{
	double elapsed = (double)result->elapsed_ns, sum = 0;
	bool lost = false;

	for (uint32_t i = 0; i < result->n_tasks; i++) {
		sum += run_time(&result->tasks[i]);
		lost |= run_time(&result->tasks[i]) < (1 - LOST_MAX) * elapsed;
	}
	if (request->spec.bench->spins)
		return lost;
	return sum < (1 - LOST_MAX) * elapsed;
}

/*
 * Tasks that sleep and wake on two CPUs wait a little with every wakeup, and where the scheduler put
 * both on one CPU they preempt each other. So both signs must agree: switches that a task did not ask
 * for, and waiting; and the two together did not fill the window.
 */
static bool was_preempted(const struct bench_result *result)
{
	double elapsed = (double)result->elapsed_ns, sum = 0;
	bool preempted = false;

	for (uint32_t i = 0; i < result->n_tasks; i++) {
		const struct bench_task *t = &result->tasks[i];
		double switches = (double)(t->voluntary + t->involuntary);

		sum += run_time(t);
		preempted |= (double)t->involuntary > INVOLUNTARY_MAX * switches &&
			     (t->run_delay_ns < 0 || (double)t->run_delay_ns > LOST_MAX * elapsed);
	}
	return preempted && sum < (1 - LOST_MAX) * elapsed;
}

static bool has_few_switches(const struct bench_request *request, const struct bench_result *result)
{
	double expected =
		(double)request->spec.bench->switches_per_trip * (double)result->round_trips;
	double real = 0;

	for (uint32_t i = 0; i < result->n_tasks; i++)
		real += (double)(result->tasks[i].voluntary + result->tasks[i].involuntary);
	return real < SWITCHES_MIN * expected;
}

uint32_t taint_find(const struct bench_request *request, const struct bench_result *result)
{
	bool alone = request->spec.bench->spins || bench_request_place(request) == BENCH_PLACE_SELF;
	uint32_t found = 0;

	if (alone ? lost_time(request, result) : was_preempted(result))
		found |= 1U << TAINT_DISTURBED;
	if (has_few_switches(request, result))
		found |= 1U << TAINT_FEW_SWITCHES;
	if ((double)result->elapsed_ns > LONG_WINDOW_RATIO * (double)request->window_ns)
		found |= 1U << TAINT_LONG_WINDOW;
	return found;
}
