/* SPDX-License-Identifier: MIT */
/*
 * cacheline: two tasks on two CPUs pass one cache line back and forth by compare-and-swap.
 *
 * The model is core-to-core-latency: one word, each task spins on a compare-and-swap until it finds
 * the other's value and replaces it by its own. No kernel is involved. Against the model: the line
 * lies on a chosen node, alone in its page; the value is the median of batches (a mean is pulled by
 * every interruption), with mean, minimum and 99th percentile beside it.
 */
#include <numa.h>
#include <numaif.h>
#include <string.h>
#include <sys/mman.h>

#include "bench/bench.h"
#include "bench/spec.h"
#include "bench/team.h"
#include "util/clock.h"

#define BATCH_TRIPS 1000 /* round trips between two reads of the clock, as in the model */
#define BATCHES_MAX 8192

enum node_word { NODE_WAKER, NODE_WAKEE };
enum { PHASE_WARM_UP, PHASE_WINDOW };
enum { LEADER, PARTNER, N_TASKS };

/* What the line holds: whose turn it is, or that it is over. */
enum turn { TURN_LEADER, TURN_PARTNER, TURN_OVER };

struct bounce {
	void *page;
	atomic_uint *line; /* the first of the page */
	uint32_t n_batches;
	double batch_ns[BATCHES_MAX]; /* one way */
};

static inline bool take_turn(atomic_uint *line, unsigned int from, unsigned int to)
{
	unsigned int seen = from;

	while (!atomic_compare_exchange_strong_explicit(line, &seen, to, memory_order_relaxed,
							memory_order_relaxed)) {
		if (seen == TURN_OVER)
			return false;
		seen = from;
	}
	return true;
}

static void lead_phase(struct team_task *task, struct bounce *b)
{
	uint64_t trips = 0, now, before;

	/* One turn outside the count: then the partner is there. */
	(void)take_turn(b->line, TURN_LEADER, TURN_PARTNER);
	while (atomic_load_explicit(b->line, memory_order_relaxed) != TURN_LEADER)
		;
	team_begin(task);
	before = task->begin_ns;
	b->n_batches = 0;
	do {
		for (unsigned int i = 0; i < BATCH_TRIPS && !team_stopped(task); i++, trips++)
			(void)take_turn(b->line, TURN_LEADER, TURN_PARTNER);
		now = clock_monotonic_ns();
		if (trips % BATCH_TRIPS == 0)
			b->batch_ns[b->n_batches++ % BATCHES_MAX] =
				(double)(now - before) / (2 * BATCH_TRIPS);
		before = now;
	} while (!team_stopped(task));
	team_end(task, trips);
	(void)take_turn(b->line, TURN_LEADER, TURN_OVER);
}

static void follow_phase(struct team_task *task, struct bounce *b)
{
	uint64_t trips = 0;

	while (atomic_load_explicit(b->line, memory_order_relaxed) != TURN_PARTNER)
		;
	team_begin(task);
	(void)take_turn(b->line, TURN_PARTNER, TURN_LEADER);
	while (take_turn(b->line, TURN_PARTNER, TURN_LEADER))
		trips++;
	team_end(task, trips);
	/* For the next phase. */
	atomic_store(b->line, TURN_LEADER);
}

static void loop(struct team_task *task, uint32_t phase, void *userdata)
{
	(void)phase;
	if (task->index == LEADER)
		lead_phase(task, userdata);
	else
		follow_phase(task, userdata);
}

static bool has_memory(int node)
{
	return numa_available() >= 0 && node >= 0 &&
	       numa_bitmask_isbitset(numa_all_nodes_ptr, (unsigned int)node);
}

/* The node that the option asks for; -1 where that of the waker or the wakee has no memory to give,
 * as nodes of CPUs only: then the kernel chooses, and the result says what it chose. */
static int wanted_node(const struct bench_request *request, bool *ret_named, struct fail *f)
{
	uint32_t value = bench_spec_value(&request->spec, "node");
	int node = value >= BENCH_VALUE_NUMBER ? (int)(value - BENCH_VALUE_NUMBER) : -1;

	*ret_named = node >= 0;
	if (node >= 0 && !has_memory(node))
		return fail_set(f, SCHEDLAB_ERROR_FAILED,
				"cacheline:node=%d: there is no memory to be had on that node",
				node);
	if (node < 0 && numa_available() >= 0 && request->n_cpus == 2)
		node = numa_node_of_cpu((int)request->cpus[value == NODE_WAKEE]);
	return has_memory(node) ? node : -1;
}

/* A page on the wanted node, touched; where it really lies is asked from the kernel. */
static int place_line(const struct bench_request *request, struct bounce *b, int32_t *ret_node,
		      struct fail *f)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	bool named = false;
	int node = wanted_node(request, &named, f), actual = -1;
	void *page;

	if (named && node < 0)
		return node;
	page = node >= 0 ? numa_alloc_onnode(size, node) : team_alloc(size);
	if (!page)
		return fail_oom(f);
	memset(page, 0, size);
	if (get_mempolicy(&actual, NULL, 0, page, MPOL_F_NODE | MPOL_F_ADDR) < 0)
		actual = -1;
	if (named && actual >= 0 && actual != node)
		return fail_set(f, SCHEDLAB_ERROR_FAILED,
				"the line was to lie on node %d, but the kernel put it on node %d",
				node, actual);
	b->page = page;
	b->line = page;
	*ret_node = actual;
	return 0;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void set_metrics(const struct bench *bench, struct bench_result *result,
			const struct team *team, struct bounce *b)
{
	static const char *const of_batches[] = { "one-way", "one-way-min", "one-way-p99" };
	const struct team_task *leader = &team->tasks[LEADER];
	uint32_t n = MIN_OF(b->n_batches, (uint32_t)BATCHES_MAX);

	for (uint32_t i = 0; i < N_TASKS; i++)
		result->tasks[i] = team->tasks[i].counts;
	result->n_tasks = N_TASKS;
	result->round_trips = leader->counts.iterations;
	result->elapsed_ns = leader->end_ns - leader->begin_ns;
	bench_set_metric(bench, result, "one-way-mean",
			 (double)result->elapsed_ns /
				 (2 * (double)MAX_OF(result->round_trips, (uint64_t)1)));
	for (size_t i = 0; n == 0 && i < ELEMENTSOF(of_batches); i++)
		bench_set_why_not(bench, result, of_batches[i],
				  "the window was too short for 1000 round trips");
	if (n == 0)
		return;
	qsort(b->batch_ns, n, sizeof(*b->batch_ns), compare_doubles);
	bench_set_metric(bench, result, "one-way", b->batch_ns[n / 2]);
	bench_set_metric(bench, result, "one-way-min", b->batch_ns[0]);
	bench_set_metric(bench, result, "one-way-p99", b->batch_ns[(uint64_t)n * 99 / 100]);
}

static int run_cacheline(struct bench_run *run, struct fail *f)
{
	const struct bench_request *request = run->request;
	struct bounce *b = team_alloc(sizeof(*b));
	struct team *team = NULL;
	int r;

	if (!b)
		return fail_oom(f);
	r = place_line(request, b, &run->result->memory_node, f);
	if (r >= 0)
		r = team_start(request, N_TASKS, false, loop, b, &team, f);
	if (r >= 0 && request->warm_up_ns > 0)
		r = team_run(team, PHASE_WARM_UP, request->warm_up_ns, f);
	if (r >= 0)
		r = run->ready(run, f);
	if (r >= 0)
		r = team_run(team, PHASE_WINDOW, request->window_ns, f);
	if (r >= 0)
		r = run->done(run, f);
	/* After a failure tasks may still use the line; the worker ends now and frees all. */
	if (r < 0)
		return r;
	set_metrics(request->spec.bench, run->result, team, b);
	team_free(team);
	team_release(b->page, (size_t)sysconf(_SC_PAGESIZE));
	team_release(b, sizeof(*b));
	return 0;
}

static int check_place(const struct bench_spec *spec, enum bench_place place, struct fail *f)
{
	(void)spec;
	if (place == BENCH_PLACE_PAIR)
		return 0;
	return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
			"cacheline needs two CPUs: tasks that spin on one (class 'self'; in "
			"'unpinned' the scheduler may choose it) would measure the time slice");
}

static int check_result(const struct bench_spec *spec, const struct bench_result *result,
			struct fail *f)
{
	int r = bench_check_counts(result, f);

	return r < 0 ? r
		     : bench_check_metric(
			       spec->bench, result, "one-way-mean",
			       (double)result->elapsed_ns / (2 * (double)result->round_trips), f);
}

static const struct bench_metric metrics[] = {
	{ "one-way", "ns", METRIC_LOWER, true,
	  "median over batches of 1000 round trips, half a round trip" },
	{ "one-way-mean", "ns", METRIC_LOWER, false,
	  "the whole window over its round trips, halved" },
	{ "one-way-min", "ns", METRIC_LOWER, false, "the fastest batch" },
	{ "one-way-p99", "ns", METRIC_LOWER, false, "the slowest batch but one percent" },
};

static const char *const nodes[] = { "waker", "wakee", NULL };

static const struct bench_option options[] = {
	{ "node", BENCH_OPTION_NODE, nodes, "the NUMA node whose memory holds the line" },
};

extern const struct bench bench_cacheline;
const struct bench bench_cacheline = {
	.name = "cacheline",
	.version = 1,
	.summary = "two CPUs pass one cache line by compare-and-swap",
	.model = "core-to-core-latency",
	.metrics = metrics,
	.n_metrics = ELEMENTSOF(metrics),
	.options = options,
	.n_options = ELEMENTSOF(options),
	.spins = true,
	.check_place = check_place,
	.run = run_cacheline,
	.check_result = check_result,
};
