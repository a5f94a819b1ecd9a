/* SPDX-License-Identifier: MIT */
/*
 * Collecting samples.
 */
#include "measure/tally.h"

#include <inttypes.h>
#include <string.h>

#include "bench/json.h"
#include "bench/spec.h"
#include "stats/robust.h"
#include "topology/json.h"

int tally_init(struct tally *t, const struct plan *plan)
{
	*t = (struct tally){ .plan = plan };
	t->rows = calloc(plan->n_cells, sizeof(*t->rows));
	t->failures = calloc(TALLY_FAILURES_MAX, sizeof(*t->failures));
	if (!t->rows || !t->failures)
		return -ENOMEM;
	for (size_t i = 0; i < plan->n_cells; i++)
		t->rows[i].memory_node = -1;
	return 0;
}

void tally_clear(struct tally *t)
{
	for (size_t i = 0; t->rows && i < t->plan->n_cells; i++)
		for (size_t m = 0; m < BENCH_METRICS_MAX; m++)
			free(t->rows[i].values[m]);
	for (size_t i = 0; i < t->n_failures; i++)
		free(t->failures[i].why);
	free(t->rows);
	free(t->failures);
	*t = (struct tally){ 0 };
}

static int add_value(struct tally_row *row, size_t metric, double value)
{
	size_t n = row->n_values[metric];

	/* Room doubles at each power of two. */
	if ((n & (n - 1)) == 0) {
		double *larger = reallocarray(row->values[metric], n ? 2 * n : 1, sizeof(*larger));

		if (!larger)
			return -ENOMEM;
		row->values[metric] = larger;
	}
	row->values[metric][row->n_values[metric]++] = value;
	return 0;
}

int tally_add(struct tally *t, size_t cell, const struct bench_request *request,
	      const struct bench_result *result)
{
	const struct bench *b = request->spec.bench;
	struct tally_row *row = &t->rows[cell];
	uint32_t taints = taint_find(request, result);

	for (size_t i = 0; i < b->n_metrics; i++) {
		const struct bench_value *v = &result->metrics[i];

		if (!v->known)
			memcpy(row->why_not[i], v->why_not, sizeof(row->why_not[i]));
		else if (add_value(row, i, v->value) < 0)
			return -ENOMEM;
	}
	for (size_t i = 0; i < TAINT_MAX; i++)
		row->n_taints[i] += taints >> i & 1;
	row->memory_node = result->memory_node;
	row->n_samples++;
	t->n_samples++;
	row->n_tainted += taints != 0;
	t->n_tainted += taints != 0;
	return 0;
}

void tally_add_failure(struct tally *t, size_t cell, uint64_t round, const char *why)
{
	t->rows[cell].n_failed++;
	t->n_failed++;
	if (t->n_failures == TALLY_FAILURES_MAX)
		return;
	t->failures[t->n_failures] =
		(struct tally_failure){ .cell = cell, .round = round, .why = strdup(why) };
	if (t->failures[t->n_failures].why)
		t->n_failures++;
}

bool tally_is_complete(const struct tally *t)
{
	for (size_t i = 0; i < t->plan->n_cells; i++)
		if (t->rows[i].n_samples == 0)
			return false;
	return true;
}

static json_t *metric_to_json(const struct bench_metric *m, const double *values, size_t n)
{
	_cleanup_free_ double *sorted = calloc(n, sizeof(*sorted));
	_cleanup_free_ double *scratch = calloc(n, sizeof(*scratch));
	json_t *list = json_array();
	double median;

	if (!sorted || !scratch)
		return NULL;
	memcpy(sorted, values, n * sizeof(*sorted));
	robust_sort(sorted, n);
	median = robust_median(sorted, n);
	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, json_real(values[i]));
	return json_pack("{s:s, s:s, s:b, s:I, s:f, s:o, s:f, s:f, s:o}", "unit", m->unit, "better",
			 bench_better_name(m->better), "headline", m->headline, "n", (json_int_t)n,
			 "median", median, "spread",
			 n > 1 ? json_real(robust_mad(values, n, median, scratch)) : json_null(),
			 "min", sorted[0], "max", sorted[n - 1], "values", list);
}

static json_t *pair_to_json(const struct plan_cell *cell)
{
	return cell->pinned ? json_pack("[I, I]", (json_int_t)cell->pair.waker,
					(json_int_t)cell->pair.wakee)
			    : json_null();
}

static void append_name(const char *name, void *userdata)
{
	json_array_append_new(userdata, json_string(name));
}

static json_t *taints_to_json(const struct tally_row *row)
{
	json_t *taints = json_object();

	for (size_t i = 0; i < TAINT_MAX; i++)
		if (row->n_taints[i] > 0)
			json_object_set_new(taints, taint_name((enum taint)i),
					    json_integer((json_int_t)row->n_taints[i]));
	return taints;
}

static json_t *row_to_json(const struct tally *t, size_t i)
{
	const struct plan_cell *cell = &t->plan->cells[i];
	const struct bench *b = t->plan->specs[cell->benchmark].bench;
	const struct tally_row *row = &t->rows[i];
	json_t *metrics = json_object(), *missing = json_object(), *shares = json_array();

	class_each_shared(cell->pair_class, append_name, shares);
	for (size_t m = 0; m < b->n_metrics; m++) {
		const char *name = b->metrics[m].name;

		if (row->n_values[m] > 0)
			json_object_set_new(
				metrics, name,
				metric_to_json(&b->metrics[m], row->values[m], row->n_values[m]));
		else
			json_object_set_new(missing, name,
					    json_string(row->n_samples > 0 ? row->why_not[m]
							: row->n_failed > 0
								? "no sample went well"
								: "none has been measured yet"));
	}
	return json_pack("{s:I, s:s, s:o, s:I, s:o, s:I, s:I, s:I, s:o, s:o, s:o, s:o}",
			 "benchmark", (json_int_t)cell->benchmark, "class", cell->pair_class->id,
			 "shares", shares, "n_pairs", (json_int_t)cell->pair_class->n_pairs, "pair",
			 pair_to_json(cell), "samples", (json_int_t)row->n_samples, "failed",
			 (json_int_t)row->n_failed, "tainted", (json_int_t)row->n_tainted, "taints",
			 taints_to_json(row), "memory_node",
			 row->memory_node < 0 ? json_null() : json_integer(row->memory_node),
			 "metrics", metrics, "unavailable", missing);
}

static json_t *spec_to_json(const struct bench_spec *spec)
{
	_cleanup_free_ char *text = bench_spec_format(spec);
	char hash[17];

	(void)snprintf(hash, sizeof(hash), "%016" PRIx64, bench_spec_hash(spec));
	return json_pack("{s:s, s:s, s:I, s:s, s:s}", "spec", text ? text : "", "name",
			 spec->bench->name, "version", (json_int_t)spec->bench->version, "hash",
			 hash, "model", spec->bench->model);
}

static json_t *failure_to_json(const struct tally *t, const struct tally_failure *failure)
{
	const struct plan_cell *cell = &t->plan->cells[failure->cell];

	return json_pack("{s:I, s:s, s:o, s:I, s:s}", "benchmark", (json_int_t)cell->benchmark,
			 "class", cell->pair_class->id, "pair", pair_to_json(cell), "round",
			 (json_int_t)failure->round, "why", failure->why);
}

static json_t *meanings_to_json(const struct tally *t)
{
	json_t *meanings = json_object();

	for (size_t i = 0; i < t->plan->n_cells; i++)
		for (size_t taint = 0; taint < TAINT_MAX; taint++)
			if (t->rows[i].n_taints[taint] > 0)
				json_object_set_new(meanings, taint_name((enum taint)taint),
						    json_string(taint_meaning((enum taint)taint)));
	return meanings;
}

static json_t *omission_to_json(const struct plan_omission *o)
{
	return json_pack("{s:s, s:s, s:s}", "benchmark", o->benchmark, "class", o->class_id, "why",
			 o->why);
}

void tally_to_json(const struct tally *t, json_t *root)
{
	json_t *benchmarks = json_array(), *rows = json_array(), *failures = json_array();
	json_t *left_out = json_array();

	for (size_t i = 0; i < t->plan->n_specs; i++)
		json_array_append_new(benchmarks, spec_to_json(&t->plan->specs[i]));
	for (size_t i = 0; i < t->plan->n_cells; i++)
		json_array_append_new(rows, row_to_json(t, i));
	for (size_t i = 0; i < t->n_failures; i++)
		json_array_append_new(failures, failure_to_json(t, &t->failures[i]));
	for (size_t i = 0; i < t->plan->n_omissions; i++)
		json_array_append_new(left_out, omission_to_json(&t->plan->omissions[i]));
	json_object_set_new(root, "benchmarks", benchmarks);
	json_object_set_new(root, "left_out", left_out);
	json_object_set_new(root, "rows", rows);
	json_object_set_new(root, "taints", meanings_to_json(t));
	json_object_set_new(root, "failures", failures);
	json_object_set_new(root, "counts",
			    json_pack("{s:I, s:I, s:I}", "samples", (json_int_t)t->n_samples,
				      "failed", (json_int_t)t->n_failed, "tainted",
				      (json_int_t)t->n_tainted));
}
