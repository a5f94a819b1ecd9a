/* SPDX-License-Identifier: MIT */
/*
 * Records as JSON.
 */
#include "measure/recall.h"

#include <inttypes.h>
#include <schedlab/names.h>
#include <schedlab/units.h>
#include <string.h>

#include "measure/taint.h"

#define REMEMBERED_MAX 256

struct recall {
	const struct store_view *view;
	json_t *remembered; /* by key, as text: entries of the side file; null where there is none */
	json_t *fingerprints; /* by id */
};

static void format_hex(char text[17], uint64_t value)
{
	(void)snprintf(text, 17, "%016" PRIx64, value);
}

static int add_fingerprint(const void *bytes, size_t size, void *userdata)
{
	struct recall *r = userdata;
	json_t *fingerprint = json_loadb(bytes, size, 0, NULL);
	const char *id = json_string_value(json_object_get(fingerprint, "id"));

	if (id)
		json_object_set(r->fingerprints, id, fingerprint);
	json_decref(fingerprint);
	return 0;
}

int recall_new(const struct store_view *v, struct recall **ret, struct fail *f)
{
	_cleanup_(recall_freep) struct recall *r = calloc(1, sizeof(*r));

	if (!r)
		return fail_oom(f);
	r->view = v;
	r->remembered = json_object();
	r->fingerprints = json_object();
	if (!r->remembered || !r->fingerprints)
		return fail_oom(f);
	if (v->side)
		(void)side_each_fingerprint(v->side, add_fingerprint, r);
	*ret = TAKE_PTR(r);
	return 0;
}

struct recall *recall_free(struct recall *r)
{
	if (!r)
		return NULL;
	json_decref(r->remembered);
	json_decref(r->fingerprints);
	free(r);
	return NULL;
}

void recall_each_fingerprint(const struct recall *r,
			     void (*visit)(uint64_t id, const json_t *fingerprint, void *userdata),
			     void *userdata)
{
	const char *id;
	json_t *fingerprint;

	json_object_foreach (r->fingerprints, id, fingerprint)
		visit(strtoull(id, NULL, 16), fingerprint, userdata);
}

json_t *recall_fingerprint(const struct recall *r, const char *id)
{
	return json_incref(json_object_get(r->fingerprints, id));
}

/* An entry of the side file, or NULL; borrowed. */
static const json_t *look_up(struct recall *r, uint64_t key)
{
	char name[17];
	json_t *found;

	if (key == 0)
		return NULL;
	format_hex(name, key);
	found = json_object_get(r->remembered, name);
	if (!found) {
		if (json_object_size(r->remembered) >= REMEMBERED_MAX)
			json_object_clear(r->remembered);
		found = store_view_json(r->view, key);
		json_object_set_new(r->remembered, name, found ? found : json_null());
	}
	return json_is_null(found) ? NULL : found;
}

static json_t *copy_or_null(const json_t *object, const char *key)
{
	json_t *value = json_object_get(object, key);

	return value ? json_incref(value) : json_null();
}

static void set(json_t *root, const char *key, json_t *value)
{
	json_object_set_new(root, key, value);
}

static json_t *kernel_of(const struct recall *r, const char *fingerprint)
{
	return copy_or_null(
		json_object_get(json_object_get(r->fingerprints, fingerprint), "fields"), "kernel");
}

static void add_job(struct recall *r, const struct record *record, json_t *root)
{
	const json_t *about = look_up(r, record->text_key);

	set(root, "state", copy_or_null(about, "state"));
	set(root, "title", copy_or_null(about, "title"));
	set(root, "why", copy_or_null(about, "why"));
	/* Its end was written by the next daemon, so that the time is not that of its end. */
	set(root, "lost", json_boolean(json_is_true(json_object_get(about, "lost"))));
}

/* Names come from the description that was kept; without it they are numbers. */
static json_t *metrics_to_json(const struct record *record, const json_t *description)
{
	const json_t *names = json_object_get(description, "metrics");
	json_t *metrics = json_object();

	for (size_t i = 0; i < RECORD_METRICS; i++) {
		const struct record_metric *m = &record->metrics[i];
		const json_t *about = json_array_get(names, i);
		const char *name = json_string_value(json_object_get(about, "name"));
		char number[24];

		if (m->unit == 0)
			continue;
		(void)snprintf(number, sizeof(number), "metric-%zu", i);
		json_object_set_new(
			metrics, name ? name : number,
			json_pack("{s:f, s:s, s:o, s:b}", "value", m->value, "unit",
				  record_unit_name(m->unit), "better",
				  copy_or_null(about, "better"), "headline",
				  !about || json_is_true(json_object_get(about, "headline"))));
	}
	return metrics;
}

static json_t *taints_to_json(uint32_t taints)
{
	json_t *list = json_array();

	for (size_t i = 0; i < 32; i++) {
		char number[24];

		if (!(taints >> i & 1))
			continue;
		(void)snprintf(number, sizeof(number), "taint-%zu", i);
		json_array_append_new(
			list, json_string(i < TAINT_MAX ? taint_name((enum taint)i) : number));
	}
	return list;
}

static json_t *pair_to_json(const struct record *record)
{
	return record->waker == RECORD_NO_CPU
		       ? json_null()
		       : json_pack("[I, I]", (json_int_t)record->waker, (json_int_t)record->wakee);
}

static json_t *number_or_null(uint64_t number)
{
	return number ? json_integer((json_int_t)number) : json_null();
}

/* Sentences are kept as JSON strings. */
static json_t *failure_to_json(struct recall *r, const struct record *record)
{
	const json_t *why;

	if (!(record->flags & RECORD_FAILED))
		return json_null();
	why = look_up(r, record->text_key);
	return json_string(json_is_string(why) ? json_string_value(why)
					       : "the reason is no longer kept");
}

static void add_measured(struct recall *r, const struct record *record, json_t *root)
{
	const json_t *description = look_up(r, record->spec_key);
	const json_t *reasons;
	char parameters[17];

	format_hex(parameters, record->parameters);
	set(root, "experiment", number_or_null(record->experiment));
	set(root, "block", json_integer(record->block));
	set(root, "arm", json_integer(record->arm));
	set(root, "round", json_integer(record->round));
	set(root, "benchmark", json_string(record->benchmark));
	set(root, "version", json_integer(record->benchmark_version));
	set(root, "parameters", json_string(parameters));
	set(root, "spec", copy_or_null(description, "spec"));
	set(root, "class", json_string(record->class_id));
	set(root, "pair", pair_to_json(record));
	set(root, "window_usec",
	    record->window_ns ? json_real((double)record->window_ns / (double)NSEC_PER_USEC)
			      : json_null());
	set(root, "taints", taints_to_json(record->taints));
	set(root, "failed", failure_to_json(r, record));
	set(root, "memory_node",
	    record->memory_node_plus_one ? json_integer(record->memory_node_plus_one - 1)
					 : json_null());
	set(root, "metrics", metrics_to_json(record, description));
	reasons = look_up(r, record->reasons_key);
	set(root, "unavailable", reasons ? json_copy((json_t *)(uintptr_t)reasons) : json_object());
}

json_t *recall_record(struct recall *r, const struct record *record)
{
	char boot[17], fingerprint[17];
	json_t *root;

	format_hex(boot, record->boot_tag);
	format_hex(fingerprint, record->fingerprint);
	root = json_pack("{s:s, s:I, s:s, s:I, s:s, s:I, s:o, s:s, s:o}", "schema",
			 SCHEDLAB_SCHEMA("record"), "sequence", (json_int_t)record->sequence,
			 "kind", record_kind_name(record->kind), "time_usec",
			 (json_int_t)(record->realtime_ns / NSEC_PER_USEC), "boot", boot,
			 "boottime_usec", (json_int_t)(record->boottime_ns / NSEC_PER_USEC), "job",
			 number_or_null(record->job), "fingerprint", fingerprint, "kernel",
			 kernel_of(r, fingerprint));
	if (!root)
		return NULL;
	if (record->kind == RECORD_JOB)
		add_job(r, record, root);
	else
		add_measured(r, record, root);
	return root;
}
