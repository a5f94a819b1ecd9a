/* SPDX-License-Identifier: MIT */
/*
 * The JSON of what was collected.
 */
#include <inttypes.h>
#include <string.h>

#include "bench/json.h"
#include "bench/spec.h"
#include "measure/tally.h"
#include "stats/robust.h"
#include "topology/json.h"

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

static json_t *pair_to_json(const struct tally_row_of *of)
{
	return of->pinned
		       ? json_pack("[I, I]", (json_int_t)of->pair.waker, (json_int_t)of->pair.wakee)
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

json_t *tally_shares_to_json(const struct pair_class *c)
{
	json_t *shares = json_array();

	class_each_shared(c, append_name, shares);
	return shares;
}

json_t *tally_row_to_json(const struct tally_row *row, const struct tally_row_of *of)
{
	json_t *metrics = json_object(), *missing = json_object();

	for (size_t m = 0; m < of->n_metrics; m++) {
		const char *name = of->metrics[m].name;

		if (row->n_values[m] > 0)
			json_object_set_new(
				metrics, name,
				metric_to_json(&of->metrics[m], row->values[m], row->n_values[m]));
		else
			json_object_set_new(missing, name,
					    json_string(row->n_samples > 0 ? row->why_not[m]
							: row->n_failed > 0
								? "no sample went well"
								: "none has been measured yet"));
	}
	return json_pack("{s:I, s:s, s:o, s:I, s:o, s:I, s:I, s:I, s:o, s:o, s:o, s:o}",
			 "benchmark", (json_int_t)of->benchmark, "class", of->class_id, "shares",
			 of->shares, "n_pairs", (json_int_t)of->n_pairs, "pair", pair_to_json(of),
			 "samples", (json_int_t)row->n_samples, "failed", (json_int_t)row->n_failed,
			 "tainted", (json_int_t)row->n_tainted, "taints", taints_to_json(row),
			 "memory_node",
			 row->memory_node < 0 ? json_null() : json_integer(row->memory_node),
			 "metrics", metrics, "unavailable", missing);
}

json_t *tally_spec_to_json(const struct bench_spec *spec)
{
	_cleanup_free_ char *text = bench_spec_format(spec);
	char hash[17];

	(void)snprintf(hash, sizeof(hash), "%016" PRIx64, bench_spec_hash(spec));
	return json_pack("{s:s, s:s, s:I, s:s, s:s}", "spec", text ? text : "", "name",
			 spec->bench->name, "version", (json_int_t)spec->bench->version, "hash",
			 hash, "model", spec->bench->model);
}

json_t *tally_failure_to_json(const struct tally_row_of *of, uint64_t round, const char *why)
{
	return json_pack("{s:I, s:s, s:o, s:I, s:s}", "benchmark", (json_int_t)of->benchmark,
			 "class", of->class_id, "pair", pair_to_json(of), "round",
			 (json_int_t)round, "why", why);
}

void tally_add_meanings(const struct tally_row *row, json_t *meanings)
{
	for (size_t taint = 0; taint < TAINT_MAX; taint++)
		if (row->n_taints[taint] > 0)
			json_object_set_new(meanings, taint_name((enum taint)taint),
					    json_string(taint_meaning((enum taint)taint)));
}

json_t *tally_counts_to_json(size_t samples, size_t failed, size_t tainted)
{
	return json_pack("{s:I, s:I, s:I}", "samples", (json_int_t)samples, "failed",
			 (json_int_t)failed, "tainted", (json_int_t)tainted);
}

static json_t *omission_to_json(const struct plan_omission *o)
{
	return json_pack("{s:s, s:s, s:s}", "benchmark", o->benchmark, "class", o->class_id, "why",
			 o->why);
}

json_t *tally_left_out_to_json(const struct plan *plan)
{
	json_t *left_out = json_array();

	for (size_t i = 0; i < plan->n_omissions; i++)
		json_array_append_new(left_out, omission_to_json(&plan->omissions[i]));
	return left_out;
}

/* What row @i is of, but for what the class shares. */
static struct tally_row_of describe_row(const struct tally *t, size_t i)
{
	const struct plan_cell *cell = &t->plan->cells[i];
	const struct bench *b = t->plan->specs[cell->benchmark].bench;

	return (struct tally_row_of){ .benchmark = cell->benchmark,
				      .class_id = cell->pair_class->id,
				      .n_pairs = cell->pair_class->n_pairs,
				      .pinned = cell->pinned,
				      .pair = cell->pair,
				      .metrics = b->metrics,
				      .n_metrics = b->n_metrics };
}

void tally_to_json(const struct tally *t, json_t *root)
{
	json_t *benchmarks = json_array(), *rows = json_array(), *failures = json_array();
	json_t *meanings = json_object();

	for (size_t i = 0; i < t->plan->n_specs; i++)
		json_array_append_new(benchmarks, tally_spec_to_json(&t->plan->specs[i]));
	for (size_t i = 0; i < t->plan->n_cells; i++) {
		struct tally_row_of of = describe_row(t, i);

		of.shares = tally_shares_to_json(t->plan->cells[i].pair_class);
		json_array_append_new(rows, tally_row_to_json(&t->rows[i], &of));
		tally_add_meanings(&t->rows[i], meanings);
	}
	for (size_t i = 0; i < t->n_failures; i++) {
		struct tally_row_of of = describe_row(t, t->failures[i].cell);

		json_array_append_new(failures, tally_failure_to_json(&of, t->failures[i].round,
								      t->failures[i].why));
	}
	json_object_set_new(root, "benchmarks", benchmarks);
	json_object_set_new(root, "left_out", tally_left_out_to_json(t->plan));
	json_object_set_new(root, "rows", rows);
	json_object_set_new(root, "taints", meanings);
	json_object_set_new(root, "failures", failures);
	json_object_set_new(root, "counts",
			    tally_counts_to_json(t->n_samples, t->n_failed, t->n_tainted));
}

json_t *tally_empty_rows_to_json(const struct tally *t)
{
	json_t *list = json_array();

	for (size_t i = 0; i < t->plan->n_cells; i++) {
		const struct plan_cell *cell = &t->plan->cells[i];

		if (t->rows[i].n_samples > 0 || t->rows[i].n_failed > 0 ||
		    json_array_size(list) == TALLY_EMPTY_MAX)
			continue;
		json_array_append_new(
			list,
			json_pack("[I, I, s, o, o]", (json_int_t)i, (json_int_t)cell->benchmark,
				  cell->pair_class->id,
				  cell->pinned ? json_integer(cell->pair.waker) : json_null(),
				  cell->pinned ? json_integer(cell->pair.wakee) : json_null()));
	}
	return list;
}
