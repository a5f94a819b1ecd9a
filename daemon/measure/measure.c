/* SPDX-License-Identifier: MIT */
/*
 * The measuring job: a state machine that is fed by runner.c.
 */
#include "measure/measure.h"

#include <inttypes.h>
#include <schedlab/names.h>
#include <string.h>

#include "bench/spec.h"
#include "measure/keep.h"
#include "measure/machine.h"
#include "measure/recall.h"
#include "measure/runner.h"
#include "measure/tally.h"
#include "util/clock.h"
#include "util/lock.h"
#include "util/log.h"
#include "util/parse.h"
#include "util/random.h"

#define GRACE_DEFAULT_NS  (30 * NSEC_PER_SEC)
#define GRACE_MAX_NS      (3600 * NSEC_PER_SEC)
#define SAMPLE_COST_NS    (15 * NSEC_PER_MSEC) /* process and set-up; the first estimate only */
#define CELL_FAILURES_MAX 3 /* a pair that has never worked is given up after as many tries */

struct measurement {
	struct measure_context *context;
	struct plan *plan;
	struct tally tally;
	struct keep keep;
	struct runner *runner;
	bool syncing; /* the next sample waits for the disk */
	struct job *job;
	struct random random;
	struct scheduling scheduling;
	size_t *order;  /* of the cells in this round */
	size_t at;      /* in order */
	uint64_t round; /* 0 .. rounds - 1 */
	uint64_t samples_begun, start_ns;
};

static const char *const config_keys[] = { "duration", "pairs-per-class", "rounds", "warm-up",
					   "worker-grace" };

const struct config_spec measure_config_spec = {
	.section = "measure",
	.keys = config_keys,
	.n_keys = ELEMENTSOF(config_keys),
};

int measure_defaults_load(const struct config *c, struct measure_defaults *ret, struct fail *f)
{
	struct measure_defaults d = {
		.duration_ns = PLAN_DURATION_DEFAULT_NS,
		.warm_up_ns = PLAN_WARM_UP_DEFAULT_NS,
		.rounds = PLAN_ROUNDS_DEFAULT,
		.pairs_per_class = CLASS_PAIRS_DEFAULT,
		.grace_ns = GRACE_DEFAULT_NS,
	};
	int r;

	r = config_get_time(c, "measure", "duration", MEASURE_DURATION_MIN_NS,
			    MEASURE_DURATION_MAX_NS, &d.duration_ns, f);
	if (r >= 0)
		r = config_get_time(c, "measure", "warm-up", 0, MEASURE_DURATION_MAX_NS,
				    &d.warm_up_ns, f);
	if (r >= 0)
		r = config_get_u64(c, "measure", "rounds", 1, MEASURE_ROUNDS_MAX, &d.rounds, f);
	if (r >= 0)
		r = config_get_u64(c, "measure", "pairs-per-class", 1, MEASURE_PAIRS_PER_CLASS_MAX,
				   &d.pairs_per_class, f);
	if (r >= 0)
		r = config_get_time(c, "measure", "worker-grace", NSEC_PER_MSEC, GRACE_MAX_NS,
				    &d.grace_ns, f);
	if (r >= 0)
		*ret = d;
	return r;
}

void measure_fill_in(const struct measure_context *context, struct plan_options *options)
{
	const struct measure_defaults *d = &context->defaults;

	if (options->duration_ns == 0)
		options->duration_ns = d->duration_ns;
	if (options->rounds == 0)
		options->rounds = d->rounds;
	if (options->pairs_per_class == 0)
		options->pairs_per_class = d->pairs_per_class;
	if (options->seed == UINT64_MAX)
		options->seed = random_seed();
	options->warm_up_ns = d->warm_up_ns;
}

static void measurement_free(void *work)
{
	struct measurement *m = work;
	struct measure_context *context = m->context;

	runner_free(m->runner);
	store_forget(context->store, m);
	keep_clear(&m->keep);
	if (m->plan)
		tally_clear(&m->tally);
	plan_free(m->plan);
	free(m->order);
	free(m);
	/* The machine is free for others as soon as no measurement waits. */
	if (job_queue_is_idle(context->queue))
		context->lock_fd = fd_close(context->lock_fd);
}

static int take_machine(struct measure_context *context, struct fail *f)
{
	if (!context->lock_file || context->lock_fd >= 0)
		return 0;
	return lock_take(context->lock_file,
			 "is measuring on this machine, and two at a time would measure each other",
			 &context->lock_fd, f);
}

static void next_sample(struct measurement *m);

static json_t *options_to_json(const struct measurement *m)
{
	const struct plan *plan = m->plan;

	return json_pack("{s:I, s:I, s:I, s:I, s:s?}", "duration_usec",
			 (json_int_t)(plan->duration_ns / NSEC_PER_USEC), "warm_up_usec",
			 (json_int_t)(plan->warm_up_ns / NSEC_PER_USEC), "rounds",
			 (json_int_t)plan->rounds, "seed", (json_int_t)plan->seed, "cpus",
			 plan->cpus);
}

static json_t *describe_machine(const struct measurement *m)
{
	return machine_to_json(m->context->topology, m->context->fingerprint, &m->scheduling);
}

/* What the store holds of the job's begin and end. */
static json_t *about_to_json(const struct measurement *m, enum job_state state, const char *why)
{
	return json_pack("{s:s, s:s, s:s, s:s?, s:o, s:I, s:I, s:o}", "kind", m->job->kind->name,
			 "title", m->job->title, "state", job_state_name(state), "why", why,
			 "options", options_to_json(m), "n_rows", (json_int_t)m->plan->n_cells,
			 "rounds_done", (json_int_t)m->round, "store", keep_to_json(&m->keep));
}

/* @m is gone afterwards. */
static void end_as(struct measurement *m, enum job_state state, const struct fail *why)
{
	const char *sentence = why ? why->message : m->job->why.message;

	json_t *about;

	keep_settle(&m->keep);
	about = about_to_json(m, state, sentence[0] != '\0' ? sentence : NULL);
	json_object_set_new(about, "empty_rows", tally_empty_rows_to_json(&m->tally));
	keep_end(&m->keep, about);
	job_end(m->job, state, why);
}

/* Ends the job; @m is gone afterwards. */
static void end(struct measurement *m)
{
	struct fail why = { 0 };

	if (tally_is_complete(&m->tally)) {
		end_as(m, JOB_DONE, NULL);
		return;
	}
	(void)fail_set(&why, SCHEDLAB_ERROR_FAILED, "%s",
		       m->tally.n_failures > 0 ? m->tally.failures[0].why : "no sample went well");
	end_as(m, JOB_FAILED, &why);
}

static void take_failure(struct measurement *m, size_t index, const char *why)
{
	log_info("a sample failed: %s", why);
	tally_add_failure(&m->tally, index, m->round, why);
	keep_sample(&m->keep, index, m->round, NULL, 0, why);
}

/* Counts one sample and begins the next; @m may be gone afterwards. */
static void take_sample(struct measurement *m, const struct bench_result *result,
			const struct fail *why)
{
	size_t index = m->order[m->at];
	struct bench_request request;

	if (job_cancel_asked(m->job)) {
		end_as(m, JOB_CANCELLED, NULL);
		return;
	}
	if (result) {
		plan_request(m->plan, &m->plan->cells[index], 0, &request);
		if (tally_add(&m->tally, index, &request, result) < 0)
			result = NULL;
	}
	if (result)
		keep_sample(&m->keep, index, m->round, result, taint_find(&request, result), NULL);
	else
		take_failure(m, index, why->message[0] ? why->message : "out of memory");
	m->at++;
	next_sample(m);
}

static void on_sample(const struct bench_result *result, const struct fail *why, void *userdata)
{
	struct measurement *m = userdata;
	/* What it tells lives as long as it does. */
	struct runner *told = TAKE_PTR(m->runner);

	take_sample(m, result, why);
	runner_free(told);
}

static uint64_t estimate_remaining_ns(const struct measurement *m)
{
	uint64_t all = m->plan->n_cells * m->plan->rounds;
	uint64_t each = m->plan->duration_ns + m->plan->warm_up_ns + SAMPLE_COST_NS;

	if (m->samples_begun > 0)
		each = (clock_monotonic_ns() - m->start_ns) / m->samples_begun;
	return each * (all - m->round * m->plan->n_cells - m->at);
}

static void report(struct measurement *m, const struct plan_cell *cell)
{
	uint64_t all = m->plan->n_cells * m->plan->rounds;
	uint64_t begun = m->round * m->plan->n_cells + m->at;
	char pair[32] = "";

	if (cell->pinned)
		(void)snprintf(pair, sizeof(pair), " on %u-%u", cell->pair.waker, cell->pair.wakee);
	job_report(m->job, (double)begun / (double)all, estimate_remaining_ns(m) / NSEC_PER_USEC,
		   "round %" PRIu64 " of %" PRIu64 ": %s, class %s%s", m->round + 1,
		   m->plan->rounds, m->plan->specs[cell->benchmark].bench->name,
		   cell->pair_class->id, pair);
}

static bool is_given_up(const struct measurement *m, size_t index)
{
	const struct tally_row *row = &m->tally.rows[index];

	return row->n_samples == 0 && row->n_failed >= CELL_FAILURES_MAX;
}

/* Moves on to the next cell that is still tried; false at the end of the last round. */
static bool advance(struct measurement *m)
{
	for (;;) {
		if (m->at == m->plan->n_cells) {
			m->at = 0;
			m->round++;
			if (m->round < m->plan->rounds)
				random_order(&m->random, m->order, m->plan->n_cells);
		}
		if (m->round == m->plan->rounds)
			return false;
		if (!is_given_up(m, m->order[m->at]))
			return true;
		m->at++;
	}
}

static int start_sample(struct measurement *m, const struct plan_cell *cell, struct fail *f)
{
	struct runner_order order = {
		.program = m->context->worker,
		.client_fd = -1,
		.grace_ns = m->context->defaults.grace_ns,
	};
	struct runner_handlers handlers = { .done = on_sample, .userdata = m };

	plan_request(m->plan, cell, random_next(&m->random) >> 11, &order.request);
	return runner_start(m->context->event, &order, &handlers, &m->runner, f);
}

/* Begins the next sample, or ends the job: then @m is gone. */
static void begin_sample(struct measurement *m)
{
	while (advance(m)) {
		size_t index = m->order[m->at];
		struct fail f = { 0 };

		report(m, &m->plan->cells[index]);
		m->samples_begun++;
		if (start_sample(m, &m->plan->cells[index], &f) >= 0)
			return;
		take_failure(m, index, f.message);
		m->at++;
	}
	end(m);
}

static void on_synced(void *userdata)
{
	struct measurement *m = userdata;

	m->syncing = false;
	begin_sample(m);
}

/* Between samples, and never within one, the disk has its time. */
static void next_sample(struct measurement *m)
{
	m->syncing = store_sync_is_due(m->context->store) &&
		     store_sync(m->context->store, on_synced, m) > 0;
	if (!m->syncing)
		begin_sample(m);
}

static int measurement_start(struct job *job, void *work, struct fail *f)
{
	struct measurement *m = work;
	int r = take_machine(m->context, f);

	if (r < 0)
		return r;
	m->job = job;
	m->start_ns = clock_monotonic_ns();
	random_order(&m->random, m->order, m->plan->n_cells);
	keep_begin(&m->keep, m->context->store, m->plan, m->context->fingerprint, job->id,
		   describe_machine(m), about_to_json(m, JOB_RUNNING, NULL));
	next_sample(m);
	return 0;
}

static void measurement_cancel(struct job *job, void *work)
{
	struct measurement *m = work;

	if (m->runner)
		runner_cancel(m->runner, job->why.message);
	else if (m->syncing)
		end_as(m, JOB_CANCELLED, NULL);
}

static json_t *measurement_to_json(const struct job *job, const void *work)
{
	const struct measurement *m = work;
	json_t *root = json_pack("{s:s, s:I, s:s, s:o, s:o, s:I, s:o}", "schema",
				 SCHEDLAB_SCHEMA("measure"), "job", (json_int_t)job->id, "state",
				 job_state_name(job->state), "machine", describe_machine(m),
				 "options", options_to_json(m), "rounds_done", (json_int_t)m->round,
				 "store", keep_to_json(&m->keep));

	if (!root)
		return NULL;
	if (job->why.message[0] != '\0')
		json_object_set_new(root, "why", json_string(job->why.message));
	tally_to_json(&m->tally, root);
	return root;
}

static const struct job_kind measure_kind = {
	.name = "measure",
	.start = measurement_start,
	.cancel = measurement_cancel,
	.to_json = measurement_to_json,
	.free = measurement_free,
};

static int check_here(const struct measure_context *context, struct fail *f)
{
	if (context->topology->source == TOPOLOGY_THIS || context->worker_stands_in)
		return 0;
	return fail_set(f, SCHEDLAB_ERROR_NOT_HERE,
			"%s describes another machine: it can be looked at, but not measured here",
			context->topology->source_name);
}

/* With a title like "switch, cacheline: 4 pairs, 5 rounds of 200 ms". */
static int add_job(struct measurement *m, bool detached, struct job **ret, struct fail *f)
{
	const struct plan *plan = m->plan;
	char title[JOB_TITLE_MAX];
	size_t used = 0;
	int r;

	for (size_t i = 0; i < plan->n_specs && used < sizeof(title); i++)
		used += (size_t)snprintf(title + used, sizeof(title) - used, "%s%s", i ? ", " : "",
					 plan->specs[i].bench->name);
	if (used < sizeof(title))
		(void)snprintf(title + used, sizeof(title) - used,
			       ": %zu row%s, %" PRIu64 " round%s of %s", plan->n_cells,
			       plan->n_cells == 1 ? "" : "s", plan->rounds,
			       plan->rounds == 1 ? "" : "s", FORMAT_TIME(plan->duration_ns));
	r = job_add(m->context->queue, &measure_kind, title, m, detached, ret, f);
	if (r >= 0)
		(*ret)->remaining_usec = estimate_remaining_ns(m) / NSEC_PER_USEC;
	return r;
}

int measure_submit(struct measure_context *context, const struct plan_options *options,
		   bool detached, struct job **ret, struct fail *f)
{
	struct measurement *m;
	int r = check_here(context, f);

	if (r < 0)
		return r;
	m = calloc(1, sizeof(*m));
	if (!m)
		return fail_oom(f);
	m->context = context;
	m->random.state = options->seed;
	m->scheduling = scheduling_now();
	r = plan_new(context->topology, options, &m->plan, f);
	if (r >= 0) {
		m->order = calloc(m->plan->n_cells, sizeof(*m->order));
		if (tally_init(&m->tally, m->plan) < 0 || !m->order)
			r = fail_oom(f);
	}
	if (r >= 0)
		r = take_machine(context, f);
	if (r >= 0) {
		/* Not while another measures. Without a store it goes on, and says so. */
		if (job_queue_is_idle(context->queue))
			(void)recall_open(context->store, NULL);
		job_queue_continue_after(context->queue, store_highest_job(context->store));
		r = add_job(m, detached, ret, f);
	}
	if (r < 0)
		measurement_free(m);
	return r;
}
