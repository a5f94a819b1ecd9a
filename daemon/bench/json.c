/* SPDX-License-Identifier: MIT */
/*
 * The benchmarks as JSON.
 */
#include "bench/json.h"

#include <schedlab/names.h>

const char *bench_better_name(enum metric_better better)
{
	return better == METRIC_LOWER ? "lower" : better == METRIC_HIGHER ? "higher" : "neither";
}

char *bench_option_accepted(const struct bench_option *o)
{
	_cleanup_free_ char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (size_t i = 0; o->words[i]; i++)
		fprintf(out, "%s%s", i ? ", " : "", o->words[i]);
	if (o->type == BENCH_OPTION_NODE)
		fputs(", or the number of a NUMA node", out);
	if (fclose(out) != 0)
		return NULL;
	return TAKE_PTR(text);
}

static json_t *metrics_to_json(const struct bench *b)
{
	json_t *list = json_array();

	for (size_t i = 0; i < b->n_metrics; i++) {
		const struct bench_metric *m = &b->metrics[i];

		json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:b, s:s}", "name", m->name,
						      "unit", m->unit, "better",
						      bench_better_name(m->better), "headline",
						      m->headline, "meaning", m->meaning));
	}
	return list;
}

static json_t *options_to_json(const struct bench *b)
{
	json_t *list = json_array();

	for (size_t i = 0; i < b->n_options; i++) {
		const struct bench_option *o = &b->options[i];
		_cleanup_free_ char *accepted = bench_option_accepted(o);

		json_array_append_new(list,
				      json_pack("{s:s, s:s, s:s, s:s}", "name", o->name, "accepted",
						accepted ? accepted : "", "default", o->words[0],
						"meaning", o->meaning));
	}
	return list;
}

json_t *bench_all_to_json(void)
{
	json_t *list = json_array();

	for (size_t i = 0; i < bench_count(); i++) {
		const struct bench *b = bench_get(i);

		json_array_append_new(list,
				      json_pack("{s:s, s:I, s:s, s:s, s:o, s:o}", "name", b->name,
						"version", (json_int_t)b->version, "summary",
						b->summary, "model", b->model, "metrics",
						metrics_to_json(b), "options", options_to_json(b)));
	}
	return json_pack("{s:s, s:o}", "schema", SCHEDLAB_SCHEMA("benchmarks"), "benchmarks", list);
}
