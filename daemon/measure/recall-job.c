/* SPDX-License-Identifier: MIT */
/*
 * A job from its records.
 */
#include <inttypes.h>
#include <schedlab/limits.h>
#include <schedlab/names.h>
#include <string.h>

#include "measure/recall.h"
#include "measure/tally.h"

/* One row of the job's table. */
struct recalled_row {
	size_t benchmark; /* index into the plan's */
	char class_id[RECORD_CLASS + 1];
	bool pinned;
	struct cpu_pair pair;
	struct tally_row row;
};

struct recalled_job {
	const struct store_view *view;
	json_t *plan, *about; /* NULL: not found yet */
	struct recalled_row **rows;
	size_t n_rows;
	json_t *failures;
	size_t n_samples, n_failed, n_tainted;
	uint64_t last_round, n_in_last_round;
	bool any, oom;
};

static void recalled_job_clear(struct recalled_job *j)
{
	for (size_t i = 0; i < j->n_rows; i++) {
		for (size_t m = 0; j->rows[i] && m < BENCH_METRICS_MAX; m++)
			free(j->rows[i]->row.values[m]);
		free(j->rows[i]);
	}
	free(j->rows);
	json_decref(j->plan);
	json_decref(j->about);
	json_decref(j->failures);
}

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

/* The plan's benchmark with these parameters; -1 where there is none. */
static long find_benchmark(const struct recalled_job *j, uint64_t parameters)
{
	char hash[17];
	size_t i;
	json_t *benchmark;

	(void)snprintf(hash, sizeof(hash), "%016" PRIx64, parameters);
	json_array_foreach (json_object_get(j->plan, "benchmarks"), i, benchmark)
		if (strcmp(text_of(benchmark, "hash"), hash) == 0)
			return (long)i;
	return -1;
}

/* What the row with this number is of, the first time; NULL: no memory, or a number that cannot be. */
static struct recalled_row *get_row(struct recalled_job *j, uint64_t number,
				    const struct recalled_row *of)
{
	struct recalled_row *row;

	if (number >= MEASURE_SAMPLES_MAX)
		return NULL;
	if (number >= j->n_rows) {
		size_t n = (size_t)number + 1;
		struct recalled_row **larger =
			reallocarray(j->rows, n, sizeof(struct recalled_row *));

		if (!larger)
			return NULL;
		for (size_t i = j->n_rows; i < n; i++)
			larger[i] = NULL;
		j->rows = larger;
		j->n_rows = n;
	}
	if (j->rows[number])
		return j->rows[number];
	row = calloc(1, sizeof(*row));
	if (!row)
		return NULL;
	*row = *of;
	row->row.memory_node = -1;
	j->rows[number] = row;
	return row;
}

static struct recalled_row *get_row_of(struct recalled_job *j, const struct record *record)
{
	struct recalled_row of = { .pinned = record->waker != RECORD_NO_CPU,
				   .pair = { record->waker, record->wakee } };
	long benchmark = find_benchmark(j, record->parameters);

	if (benchmark < 0)
		return NULL;
	of.benchmark = (size_t)benchmark;
	memcpy(of.class_id, record->class_id, sizeof(of.class_id));
	return get_row(j, record->row, &of);
}

/* The rows that nothing was measured in. */
static void add_empty_rows(struct recalled_job *j)
{
	json_t *empty;
	size_t i;

	json_array_foreach (json_object_get(j->about, "empty_rows"), i, empty) {
		const char *id = json_string_value(json_array_get(empty, 2));
		const json_t *waker = json_array_get(empty, 3), *wakee = json_array_get(empty, 4);
		struct recalled_row of = {
			.benchmark = (size_t)json_integer_value(json_array_get(empty, 1)),
			.pinned = json_is_integer(waker),
			.pair = { (uint32_t)json_integer_value(waker),
				  (uint32_t)json_integer_value(wakee) },
		};

		(void)snprintf(of.class_id, sizeof(of.class_id), "%s", id ? id : "");
		(void)get_row(j, (uint64_t)json_integer_value(json_array_get(empty, 0)), &of);
	}
}

static struct tally_row_of describe(const struct recalled_row *row)
{
	return (struct tally_row_of){ .benchmark = row->benchmark,
				      .class_id = row->class_id,
				      .pinned = row->pinned,
				      .pair = row->pair };
}

static void add_failure(struct recalled_job *j, struct recalled_row *row,
			const struct record *record)
{
	_cleanup_(json_decrefp) json_t *why = store_view_json(j->view, record->text_key);
	struct tally_row_of of = describe(row);

	row->row.n_failed++;
	j->n_failed++;
	if (json_array_size(j->failures) < TALLY_FAILURES_MAX)
		json_array_append_new(
			j->failures, tally_failure_to_json(
					     &of, record->round,
					     json_is_string(why) ? json_string_value(why)
								 : "the reason is no longer kept"));
}

/* The names of the metrics stand in the plan. */
static void add_reasons(struct recalled_job *j, struct recalled_row *row,
			const struct record *record)
{
	_cleanup_(json_decrefp) json_t *reasons = store_view_json(j->view, record->reasons_key);
	const json_t *metrics = json_object_get(
		json_array_get(json_object_get(j->plan, "benchmarks"), row->benchmark), "metrics");

	for (size_t i = 0; i < BENCH_METRICS_MAX; i++) {
		const char *why = text_of(reasons, text_of(json_array_get(metrics, i), "name"));

		if (*why)
			(void)snprintf(row->row.why_not[i], sizeof(row->row.why_not[i]), "%s", why);
	}
}

static void add_sample(struct recalled_job *j, struct recalled_row *row,
		       const struct record *record)
{
	for (size_t i = 0; i < RECORD_METRICS && i < BENCH_METRICS_MAX; i++)
		if (record->metrics[i].unit != 0 &&
		    tally_row_add(&row->row, i, record->metrics[i].value) < 0)
			j->oom = true;
	for (size_t i = 0; i < TAINT_MAX; i++)
		row->row.n_taints[i] += record->taints >> i & 1;
	row->row.memory_node = (int32_t)record->memory_node_plus_one - 1;
	row->row.n_samples++;
	j->n_samples++;
	row->row.n_tainted += record->taints != 0;
	j->n_tainted += record->taints != 0;
	if (record->reasons_key != 0)
		add_reasons(j, row, record);
}

static int add_record(const struct record *record, void *userdata)
{
	struct recalled_job *j = userdata;
	struct recalled_row *row;

	j->any = true;
	if (!j->plan)
		j->plan = store_view_json(j->view, record->plan_key);
	if (record->kind == RECORD_JOB) {
		json_t *about = store_view_json(j->view, record->text_key);

		if (about) {
			json_decref(j->about);
			j->about = about;
		}
		return 0;
	}
	if (record->kind != RECORD_SAMPLE)
		return 0;
	if (record->round > j->last_round) {
		j->last_round = record->round;
		j->n_in_last_round = 0;
	}
	j->n_in_last_round++;
	row = get_row_of(j, record);
	if (row && record->flags & RECORD_FAILED)
		add_failure(j, row, record);
	else if (row)
		add_sample(j, row, record);
	return 0;
}

static enum metric_better read_better(const char *name)
{
	return strcmp(name, "lower") == 0    ? METRIC_LOWER
	       : strcmp(name, "higher") == 0 ? METRIC_HIGHER
					     : METRIC_NEITHER;
}

/* As a benchmark of today would have them; the texts belong to the plan. */
static size_t read_metrics(const json_t *benchmark, struct bench_metric metrics[BENCH_METRICS_MAX])
{
	const json_t *list = json_object_get(benchmark, "metrics");
	size_t n = MIN_OF(json_array_size(list), (size_t)BENCH_METRICS_MAX);

	for (size_t i = 0; i < n; i++) {
		const json_t *m = json_array_get(list, i);

		metrics[i] = (struct bench_metric){
			.name = text_of(m, "name"),
			.unit = text_of(m, "unit"),
			.better = read_better(text_of(m, "better")),
			.headline = json_is_true(json_object_get(m, "headline")),
		};
	}
	return n;
}

static const json_t *find_class(const json_t *plan, const char *id)
{
	size_t i;
	json_t *c;

	json_array_foreach (json_object_get(plan, "classes"), i, c)
		if (strcmp(text_of(c, "id"), id) == 0)
			return c;
	return NULL;
}

static json_t *row_to_json(const struct recalled_job *j, const struct recalled_row *row)
{
	const json_t *benchmark =
		json_array_get(json_object_get(j->plan, "benchmarks"), row->benchmark);
	const json_t *c = find_class(j->plan, row->class_id);
	json_t *shares = json_object_get(c, "shares");
	struct bench_metric metrics[BENCH_METRICS_MAX];
	struct tally_row_of of = describe(row);

	of.metrics = metrics;
	of.n_metrics = read_metrics(benchmark, metrics);
	of.shares = shares ? json_incref(shares) : json_array();
	of.n_pairs = (uint64_t)json_integer_value(json_object_get(c, "n_pairs"));
	return tally_row_to_json(&row->row, &of);
}

/* The names of metrics were for the store alone. */
static json_t *benchmarks_to_json(const json_t *plan)
{
	json_t *list = json_array(), *benchmark;
	size_t i;

	json_array_foreach (json_object_get(plan, "benchmarks"), i, benchmark) {
		json_t *copy = json_copy(benchmark);

		json_object_del(copy, "metrics");
		json_array_append_new(list, copy);
	}
	return list;
}

/* Of a job that has no end: the round that was under way may have been complete. */
static json_int_t count_rounds(const struct recalled_job *j)
{
	json_int_t n_rows = json_integer_value(json_object_get(j->about, "n_rows"));

	return (json_int_t)j->last_round + (n_rows > 0 && (json_int_t)j->n_in_last_round >= n_rows);
}

/* How many samples were kept, and how many of them have been overwritten since. */
static json_t *kept_to_json(const struct recalled_job *j, bool ended)
{
	json_int_t have = (json_int_t)j->n_samples + (json_int_t)j->n_failed;
	json_t *store = json_object_get(j->about, "store");
	json_int_t kept = json_integer_value(json_object_get(store, "kept"));

	if (!ended)
		return json_pack("{s:I, s:n, s:n}", "kept", have, "unkept", "why");
	store = json_copy(store);
	if (store && kept > have)
		json_object_set_new(store, "gone", json_integer(kept - have));
	return store ? store : json_object();
}

static json_t *rows_to_json(const struct recalled_job *j, json_t *meanings)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < j->n_rows; i++) {
		if (!j->rows[i])
			continue;
		json_array_append_new(rows, row_to_json(j, j->rows[i]));
		tally_add_meanings(&j->rows[i]->row, meanings);
	}
	return rows;
}

/* In the order that a job of today has. */
static json_t *job_to_json(const struct recalled_job *j, uint64_t id)
{
	const char *state = text_of(j->about, "state");
	bool ended = strcmp(state, "running") != 0, lost = !ended && !j->view->writer;
	json_t *why = json_object_get(j->about, "why"), *meanings = json_object();
	json_t *rounds = json_object_get(j->about, "rounds_done");
	json_t *root =
		json_pack("{s:s, s:I, s:s, s:O?, s:O?, s:o, s:o}", "schema",
			  SCHEDLAB_SCHEMA("measure"), "job", (json_int_t)id, "state",
			  lost ? "failed" : state, "machine", json_object_get(j->plan, "machine"),
			  "options", json_object_get(j->about, "options"), "rounds_done",
			  ended && rounds ? json_incref(rounds) : json_integer(count_rounds(j)),
			  "store", kept_to_json(j, ended));

	if (root && (lost || json_is_string(why)))
		json_object_set_new(root, "why",
				    lost ? json_string(RECALL_LOST) : json_incref(why));
	if (root) {
		json_object_set_new(root, "benchmarks", benchmarks_to_json(j->plan));
		json_object_set(root, "left_out", json_object_get(j->plan, "left_out"));
		json_object_set_new(root, "rows", rows_to_json(j, meanings));
		json_object_set(root, "taints", meanings);
		json_object_set(root, "failures", j->failures);
		json_object_set_new(root, "counts",
				    tally_counts_to_json(j->n_samples, j->n_failed, j->n_tainted));
	}
	json_decref(meanings);
	return root;
}

int recall_job(const struct store_view *v, uint64_t job, json_t **ret, struct fail *f)
{
	_cleanup_(recalled_job_clear) struct recalled_job j = { .view = v,
								.failures = json_array() };
	struct query_filter q = query_any();
	uint64_t cursor = 0;
	int r = 0;

	q.job = job;
	while (v->ring && cursor < ring_next(v->ring) && r >= 0) {
		struct query_counts counts;

		r = query_page(v->ring, &q, &cursor, 0, add_record, &j, &counts, f);
	}
	if (r < 0)
		return r;
	if (!j.any || job == 0)
		return fail_set(f, SCHEDLAB_ERROR_NO_SUCH_JOB, "nothing is kept of a job %" PRIu64,
				job);
	if (!j.plan || !j.about)
		return fail_set(f, SCHEDLAB_ERROR_STORE_UNAVAILABLE,
				"what job %" PRIu64
				" was asked is no longer kept; its samples are: see 'schedlabctl "
				"history --csv --job %" PRIu64 "'",
				job, job);
	if (j.oom)
		return fail_oom(f);
	add_empty_rows(&j);
	*ret = job_to_json(&j, job);
	return *ret ? 0
		    : fail_set(f, SCHEDLAB_ERROR_STORE_UNAVAILABLE,
			       "what is kept of job %" PRIu64 " makes no sense", job);
}
