/* SPDX-License-Identifier: MIT */
/*
 * switch: two tasks hand a token back and forth; each round trip is two context switches.
 *
 * The model is context_switch2 (and the strict loop of `perf bench sched pipe` before perf 6.15, and
 * UnixBench's context1): the leader wakes the partner and sleeps until it is woken. Against the
 * model: each direction has a line of its own, both sides count, the switches that really took place
 * stand beside those that a round trip is taken for (with a futex across CPUs the token may be there
 * before the waiter has gone to sleep), there is a warm-up, and the clock is monotonic.
 *
 * The wake call is timed in a phase of its own at the end of the warm-up, so that the window's loop
 * holds nothing but the loop. With mode=yield nobody is woken: both tasks yield on one CPU, and a
 * yield that the scheduler answers by running the same task again is no switch: see real-switches.
 */
#include <sched.h>

#include "bench/bench.h"
#include "bench/spec.h"
#include "bench/team.h"
#include "bench/token.h"
#include "util/clock.h"

#define WAKE_CALLS_MAX 4096 /* timed wake calls whose median is the metric */

enum mode { MODE_PIPE, MODE_FUTEX, MODE_EVENTFD, MODE_YIELD, MODE_SEM };
enum state { STATE_NONE, STATE_FP, STATE_VECTOR };
enum phase { PHASE_WARM_UP, PHASE_WAKE_CALLS, PHASE_WINDOW };

enum { LEADER, PARTNER, N_TASKS };

struct ping_pong {
	struct token_channel to_partner, to_leader;
	const struct token_kind *token; /* NULL: yield */
	enum state state;
	_Alignas(CACHELINE_APART)
		atomic_bool quit; /* the phase ends: the partner does not answer */
	uint32_t n_wake_calls;
	uint32_t wake_call_ns[WAKE_CALLS_MAX];
};

/* Makes the kernel save and restore the state of the floating point or vector unit. */
static inline void touch_state(enum state state)
{
	if (state == STATE_FP) {
		static _Thread_local volatile double x = 1.0;

		x = x * 1.0000001;
	} else if (state == STATE_VECTOR) {
#if defined(__x86_64__)
		/* Upper halves in use, so that no optimisation of XSAVE skips them. */
		if (__builtin_cpu_supports("avx"))
			__asm__ volatile("vxorps %%ymm15, %%ymm15, %%ymm15\n\t"
					 "vcmpps $0xf, %%ymm15, %%ymm15, %%ymm15" ::
						 : "xmm15");
#else
		typedef uint32_t vector __attribute__((vector_size(16)));
		static _Thread_local volatile vector v = { 1, 2, 3, 4 };

		v = v + v;
#endif
	}
}

/* The leader's part: returns its round trips. */
static uint64_t lead(struct team_task *task, struct ping_pong *p)
{
	uint64_t trips = 0;

	do {
		touch_state(p->state);
		p->token->wake(&p->to_partner);
		p->token->wait(&p->to_leader);
		trips++;
	} while (!team_stopped(task));
	return trips;
}

/* The same with a clock around each wake call. */
static uint64_t lead_timed(struct team_task *task, struct ping_pong *p)
{
	uint64_t trips = 0;

	p->n_wake_calls = 0;
	do {
		uint64_t before, after;

		touch_state(p->state);
		before = clock_monotonic_ns();
		p->token->wake(&p->to_partner);
		after = clock_monotonic_ns();
		p->token->wait(&p->to_leader);
		/* The newest are kept: the oldest are the coldest. */
		p->wake_call_ns[p->n_wake_calls++ % WAKE_CALLS_MAX] =
			(uint32_t)MIN_OF(after - before, (uint64_t)UINT32_MAX);
		trips++;
	} while (!team_stopped(task));
	return trips;
}

static void lead_phase(struct team_task *task, uint32_t phase, struct ping_pong *p)
{
	uint64_t trips;

	/* One trip outside the count: then the partner has begun too. */
	atomic_store(&p->quit, false);
	p->token->wake(&p->to_partner);
	p->token->wait(&p->to_leader);
	team_begin(task);
	trips = phase == PHASE_WAKE_CALLS ? lead_timed(task, p) : lead(task, p);
	team_end(task, trips);
	atomic_store(&p->quit, true);
	p->token->wake(&p->to_partner);
}

static void follow_phase(struct team_task *task, struct ping_pong *p)
{
	uint64_t trips = 0;

	p->token->wait(&p->to_partner);
	team_begin(task);
	p->token->wake(&p->to_leader);
	for (;;) {
		p->token->wait(&p->to_partner);
		if (atomic_load_explicit(&p->quit, memory_order_relaxed))
			break;
		touch_state(p->state);
		trips++;
		p->token->wake(&p->to_leader);
	}
	team_end(task, trips);
}

static void yield_phase(struct team_task *task, struct ping_pong *p)
{
	uint64_t yields = 0;

	team_begin(task);
	while (!team_stopped(task)) {
		touch_state(p->state);
		(void)sched_yield();
		yields++;
	}
	team_end(task, yields);
}

static void loop(struct team_task *task, uint32_t phase, void *userdata)
{
	struct ping_pong *p = userdata;

	if (!p->token)
		yield_phase(task, p);
	else if (task->index == LEADER)
		lead_phase(task, phase, p);
	else
		follow_phase(task, p);
}

static int compare_u32(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static void set_wake_call(const struct bench *b, struct bench_result *result, struct ping_pong *p)
{
	uint32_t n = MIN_OF(p->n_wake_calls, (uint32_t)WAKE_CALLS_MAX), middle = n / 2;

	if (!p->token) {
		bench_set_why_not(b, result, "wake-call", "with mode=yield nobody is woken");
		return;
	}
	if (n == 0) {
		bench_set_why_not(b, result, "wake-call", "there was no warm-up to time it in");
		return;
	}
	qsort(p->wake_call_ns, n, sizeof(*p->wake_call_ns), compare_u32);
	bench_set_metric(b, result, "wake-call", p->wake_call_ns[middle]);
}

static void set_metrics(const struct bench *b, struct bench_result *result, const struct team *team,
			struct ping_pong *p)
{
	const struct team_task *leader = &team->tasks[LEADER];
	uint64_t trips = leader->counts.iterations;
	double seconds = (double)(leader->end_ns - leader->begin_ns) / NSEC_PER_SEC;
	double real = 0;

	for (uint32_t i = 0; i < N_TASKS; i++) {
		result->tasks[i] = team->tasks[i].counts;
		real += (double)(result->tasks[i].voluntary + result->tasks[i].involuntary);
	}
	result->n_tasks = N_TASKS;
	result->round_trips = trips;
	result->elapsed_ns = leader->end_ns - leader->begin_ns;
	bench_set_metric(b, result, "switches", 2 * (double)trips / seconds);
	bench_set_metric(b, result, "round-trip", seconds * NSEC_PER_SEC / (double)trips);
	bench_set_metric(b, result, "real-switches", real / (double)trips);
	set_wake_call(b, result, p);
}

static int measure(struct bench_run *run, struct team *team, struct ping_pong *p, struct fail *f)
{
	const struct bench_request *request = run->request;
	int r = 0;

	if (request->warm_up_ns > 0)
		r = team_run(team, PHASE_WARM_UP, request->warm_up_ns / 2, f);
	if (r >= 0 && request->warm_up_ns > 0 && p->token)
		r = team_run(team, PHASE_WAKE_CALLS, request->warm_up_ns / 2, f);
	if (r >= 0)
		r = run->ready(run, f);
	if (r >= 0)
		r = team_run(team, PHASE_WINDOW, request->window_ns, f);
	if (r >= 0)
		r = run->done(run, f);
	if (r >= 0)
		set_metrics(request->spec.bench, run->result, team, p);
	return r;
}

static int run_switch(struct bench_run *run, struct fail *f)
{
	static const struct token_kind *const kinds[] = {
		[MODE_PIPE] = &token_pipe,       [MODE_FUTEX] = &token_futex,
		[MODE_EVENTFD] = &token_eventfd, [MODE_YIELD] = NULL,
		[MODE_SEM] = &token_sem,
	};
	const struct bench_spec *spec = &run->request->spec;
	bool processes = bench_spec_value(spec, "as") == 0;
	struct ping_pong *p = team_alloc(sizeof(*p));
	struct team *team = NULL;
	int r = 0;

	if (!p)
		return fail_oom(f);
	p->token = kinds[bench_spec_value(spec, "mode")];
	p->state = (enum state)bench_spec_value(spec, "state");
	p->to_partner.read_fd = p->to_partner.write_fd = -1;
	p->to_leader.read_fd = p->to_leader.write_fd = -1;
	if (p->token)
		r = p->token->open(&p->to_partner, f);
	if (r >= 0 && p->token)
		r = p->token->open(&p->to_leader, f);
	if (r >= 0)
		r = team_start(run->request, N_TASKS, processes, loop, p, &team, f);
	if (r >= 0)
		r = measure(run, team, p, f);
	/* After a failure tasks may still use the channels; the worker ends now and frees all. */
	if (r < 0)
		return r;
	team_free(team);
	if (p->token) {
		p->token->close(&p->to_partner);
		p->token->close(&p->to_leader);
	}
	team_release(p, sizeof(*p));
	return 0;
}

static int check_place(const struct bench_spec *spec, enum bench_place place, struct fail *f)
{
	if (bench_spec_value(spec, "mode") == MODE_YIELD && place != BENCH_PLACE_SELF)
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
				"switch:mode=yield needs both tasks on one CPU (class 'self'): "
				"elsewhere a yield switches to nobody");
	return 0;
}

static int check_result(const struct bench_spec *spec, const struct bench_result *result,
			struct fail *f)
{
	double trips = (double)result->round_trips, ns = (double)result->elapsed_ns;
	int r = 0;

	/* Yields are not handed over: each side has its own count of them. */
	if (bench_spec_value(spec, "mode") != MODE_YIELD)
		r = bench_check_counts(result, f);
	if (r >= 0)
		r = bench_check_metric(spec->bench, result, "switches", 2e9 * trips / ns, f);
	return r < 0 ? r : bench_check_metric(spec->bench, result, "round-trip", ns / trips, f);
}

static const struct bench_metric metrics[] = {
	{ "round-trip", "ns", METRIC_LOWER, true,
	  "from one wake call to the next of the same task: two switches" },
	{ "switches", "switches/s", METRIC_HIGHER, true,
	  "two for each round trip, as the models count; see real-switches" },
	{ "wake-call", "ns", METRIC_LOWER, true,
	  "median time inside the call that wakes the other task, timed right before the window; "
	  "one "
	  "reading of the clock, and its steps, are in it" },
	{ "real-switches", "switches/trip", METRIC_NEITHER, true,
	  "context switches of both tasks by getrusage, voluntary and involuntary" },
};

static const char *const modes[] = { "pipe", "futex", "eventfd", "yield", "sem", NULL };
static const char *const kinds_of_task[] = { "process", "thread", NULL };
static const char *const states[] = { "none", "fp", "vector", NULL };

static const struct bench_option options[] = {
	{ "mode", BENCH_OPTION_WORD, modes, "how the other task is woken" },
	{ "as", BENCH_OPTION_WORD, kinds_of_task, "what the two tasks are" },
	{ "state", BENCH_OPTION_WORD, states, "which unit's state each switch has to save" },
};

extern const struct bench bench_switch;
const struct bench bench_switch = {
	.name = "switch",
	.version = 1,
	.summary = "two tasks wake each other in turn",
	.model = "context_switch2, perf bench sched pipe (before 6.15), UnixBench context1",
	.metrics = metrics,
	.n_metrics = ELEMENTSOF(metrics),
	.options = options,
	.n_options = ELEMENTSOF(options),
	.switches_per_trip = 2,
	.check_place = check_place,
	.run = run_switch,
	.check_result = check_result,
};
