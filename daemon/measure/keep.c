/* SPDX-License-Identifier: MIT */
/*
 * Samples to records.
 */
#include "measure/keep.h"

#include <string.h>

#include "bench/json.h"
#include "bench/spec.h"
#include "measure/tally.h"

static json_t *metrics_to_json(const struct bench *b)
{
	json_t *list = json_array();

	for (size_t i = 0; i < b->n_metrics; i++)
		json_array_append_new(list,
				      json_pack("{s:s, s:s, s:s, s:b}", "name", b->metrics[i].name,
						"unit", b->metrics[i].unit, "better",
						bench_better_name(b->metrics[i].better), "headline",
						b->metrics[i].headline));
	return list;
}

static json_t *describe_spec(const struct bench_spec *spec)
{
	json_t *root = tally_spec_to_json(spec);

	if (root)
		json_object_set_new(root, "metrics", metrics_to_json(spec->bench));
	return root;
}

/* The classes of the cells, each once, in their order. */
static json_t *describe_classes(const struct plan *plan)
{
	_cleanup_(json_decrefp) json_t *seen = json_object();
	json_t *list = json_array();

	for (size_t i = 0; i < plan->n_cells; i++) {
		const struct pair_class *c = plan->cells[i].pair_class;

		if (json_object_get(seen, c->id))
			continue;
		json_object_set_new(seen, c->id, json_true());
		json_array_append_new(list, json_pack("{s:s, s:o, s:I}", "id", c->id, "shares",
						      tally_shares_to_json(c), "n_pairs",
						      (json_int_t)c->n_pairs));
	}
	return list;
}

static json_t *describe_plan(const struct keep *k, bool left_out)
{
	json_t *benchmarks = json_array();

	for (size_t i = 0; i < k->plan->n_specs; i++)
		json_array_append_new(benchmarks, describe_spec(&k->plan->specs[i]));
	return json_pack("{s:O, s:o, s:o, s:o}", "machine", k->machine, "benchmarks", benchmarks,
			 "left_out", left_out ? tally_left_out_to_json(k->plan) : json_array(),
			 "classes", describe_classes(k->plan));
}

/* What records refer to. Without it they would not be worth much: it is tried until it is there. */
static bool put_plan(struct keep *k)
{
	if (k->plan_key != 0)
		return true;
	if (store_put_json(k->store, SIDE_FINGERPRINT, fingerprint_to_json(k->fp)) == 0)
		return false;
	for (size_t i = 0; i < k->plan->n_specs; i++) {
		k->spec_keys[i] =
			store_put_json(k->store, SIDE_TEXT, describe_spec(&k->plan->specs[i]));
		if (k->spec_keys[i] == 0)
			return false;
	}
	k->plan_key = store_put_json(k->store, SIDE_TEXT, describe_plan(k, true));
	/* What was left out, and why, may be too long for an entry. */
	if (k->plan_key == 0)
		k->plan_key = store_put_json(k->store, SIDE_TEXT, describe_plan(k, false));
	return k->plan_key != 0;
}

static bool append(struct keep *k, struct record *r)
{
	const char *trouble;

	if (!put_plan(k)) {
		trouble = store_trouble(k->store);
		(void)fail_set(&k->why, SCHEDLAB_ERROR_STORE_UNAVAILABLE, "%s",
			       trouble ? trouble : "the texts that belong to it cannot be kept");
		return false;
	}
	r->job = k->job;
	r->fingerprint = k->fingerprint;
	r->plan_key = k->plan_key;
	if (r->kind == RECORD_SAMPLE)
		r->spec_key = k->spec_keys[k->plan->cells[r->row].benchmark];
	return store_append(k->store, r, &k->why) >= 0;
}

static void keep_about(struct keep *k, json_t *about, uint8_t flags)
{
	struct record r = {
		.kind = RECORD_JOB, .flags = flags, .waker = RECORD_NO_CPU, .wakee = RECORD_NO_CPU
	};

	r.text_key = store_put_json(k->store, SIDE_TEXT, about);
	(void)append(k, &r);
}

void keep_begin(struct keep *k, struct store *store, const struct plan *plan,
		const struct fingerprint *fp, uint64_t job, json_t *machine, json_t *about)
{
	*k = (struct keep){ .store = store,
			    .plan = plan,
			    .fp = fp,
			    .job = job,
			    .fingerprint = strtoull(fp->id, NULL, 16),
			    .machine = machine };
	keep_about(k, about, 0);
}

static void fill_metrics(struct record *r, const struct keep *k, const struct bench *b,
			 const struct bench_result *result)
{
	_cleanup_(json_decrefp) json_t *reasons = json_object();

	for (size_t i = 0; i < b->n_metrics; i++) {
		const struct bench_value *v = &result->metrics[i];

		if (v->known)
			r->metrics[i] =
				(struct record_metric){ record_unit(b->metrics[i].unit), v->value };
		else
			json_object_set_new(reasons, b->metrics[i].name, json_string(v->why_not));
	}
	if (json_object_size(reasons) > 0)
		r->reasons_key = store_put_json(k->store, SIDE_TEXT, json_incref(reasons));
}

void keep_sample(struct keep *k, size_t cell_index, uint64_t round,
		 const struct bench_result *result, uint32_t taints, const char *why)
{
	const struct plan_cell *cell = &k->plan->cells[cell_index];
	const struct bench_spec *spec = &k->plan->specs[cell->benchmark];
	struct record r = {
		.kind = RECORD_SAMPLE,
		.benchmark_version = (uint16_t)spec->bench->version,
		.round = (uint32_t)round,
		.parameters = bench_spec_hash(spec),
		.waker = cell->pinned ? cell->pair.waker : RECORD_NO_CPU,
		.wakee = cell->pinned ? cell->pair.wakee : RECORD_NO_CPU,
		.taints = taints,
		.row = (uint32_t)cell_index,
	};

	(void)snprintf(r.benchmark, sizeof(r.benchmark), "%s", spec->bench->name);
	(void)snprintf(r.class_id, sizeof(r.class_id), "%s", cell->pair_class->id);
	if (result) {
		r.window_ns = result->elapsed_ns;
		r.memory_node_plus_one = (uint16_t)(result->memory_node + 1);
		fill_metrics(&r, k, spec->bench, result);
	} else {
		r.flags = RECORD_FAILED;
		r.text_key = store_put_json(k->store, SIDE_TEXT, json_string(why));
	}
	if (append(k, &r))
		k->kept++;
	else
		k->unkept++;
}

void keep_settle(struct keep *k)
{
	struct fail f;

	if (k->kept == 0 || store_is_in_place(k->store))
		return;
	(void)fail_set(&f, SCHEDLAB_ERROR_STORE_UNAVAILABLE,
		       "the store's files were moved or removed meanwhile");
	k->why = f;
	k->unkept += k->kept;
	k->kept = 0;
}

void keep_clear(struct keep *k)
{
	json_decref(k->machine);
	k->machine = NULL;
}

void keep_end(struct keep *k, json_t *about)
{
	keep_about(k, about, RECORD_ENDED);
	(void)store_sync(k->store, NULL, NULL);
}

json_t *keep_to_json(const struct keep *k)
{
	return json_pack("{s:I, s:I, s:s?}", "kept", (json_int_t)k->kept, "unkept",
			 (json_int_t)k->unkept, "why", k->unkept > 0 ? k->why.message : NULL);
}
