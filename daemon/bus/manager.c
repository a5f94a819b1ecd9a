/* SPDX-License-Identifier: MIT */
/*
 * Interface Manager.
 */
#include <errno.h>
#include <schedlab/names.h>

#include "bench/json.h"
#include "bus/internal.h"
#include "bus/options.h"
#include "topology/json.h"
#include "util/log.h"
#include "version.h"

/* The machine as it is now. */
static struct bus_context *refreshed(void *userdata)
{
	struct bus_context *context = userdata;

	if (context->refresh)
		context->refresh(context->refresh_userdata);
	return context;
}

static int get_version(sd_bus *bus, const char *path, const char *interface, const char *property,
		       sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
	(void)bus;
	(void)path;
	(void)interface;
	(void)property;
	(void)userdata;
	(void)error;
	return sd_bus_message_append_basic(reply, 's', SCHEDLAB_VERSION);
}

/* Every field; an unknown one is "unavailable, because ...". */
static int get_fingerprint(sd_bus *bus, const char *path, const char *interface,
			   const char *property, sd_bus_message *reply, void *userdata,
			   sd_bus_error *error)
{
	const struct bus_context *context = userdata;
	const struct fingerprint *fp = context->fingerprint;
	int r = sd_bus_message_open_container(reply, 'a', "{sv}");

	(void)bus;
	(void)path;
	(void)interface;
	(void)property;
	(void)error;
	if (r >= 0)
		r = sd_bus_message_append(reply, "{sv}", "id", "s", fp->id);
	for (size_t i = 0; i < fp->n_fields && r >= 0; i++) {
		const struct fingerprint_field *field = &fp->fields[i];
		char missing[FAIL_MESSAGE_MAX];

		(void)snprintf(missing, sizeof(missing), "unavailable, because %s",
			       field->why_not ? field->why_not : "");
		r = sd_bus_message_append(reply, "{sv}", field->key, "s",
					  field->value ? field->value : missing);
	}
	return r < 0 ? r : sd_bus_message_close_container(reply);
}

/* What cannot be done or known here: {name: why}; a new reference. */
static json_t *find_limits(const struct bus_context *context)
{
	json_t *limits = json_object();
	const struct topology *t = context->topology;
	struct llc_view llc = { 0 };
	const char *trouble = store_trouble(context->store);

	if (trouble)
		json_object_set_new(limits, "store", json_string(trouble));
	if (t->source != TOPOLOGY_THIS && !context->measure->worker_stands_in)
		json_object_set_new(limits, "measure",
				    json_sprintf("%s describes another machine", t->source_name));
	if (t->frequency_why_not)
		json_object_set_new(limits, "frequency-domains", json_string(t->frequency_why_not));
	if (llc_view_read(context->kernfs, t, &llc, NULL) >= 0 && llc.why_not)
		json_object_set_new(limits, "scheduler-llc", json_string(llc.why_not));
	llc_view_clear(&llc);
	return limits;
}

static int get_capabilities(sd_bus *bus, const char *path, const char *interface,
			    const char *property, sd_bus_message *reply, void *userdata,
			    sd_bus_error *error)
{
	_cleanup_(json_decrefp) json_t *limits = find_limits(userdata);
	const char *name;
	json_t *why;
	int r = sd_bus_message_open_container(reply, 'a', "{ss}");

	(void)bus;
	(void)path;
	(void)interface;
	(void)property;
	(void)error;
	json_object_foreach (limits, name, why) {
		if (r >= 0)
			r = sd_bus_message_append(reply, "{ss}", name, json_string_value(why));
	}
	return r < 0 ? r : sd_bus_message_close_container(reply);
}

/* Replies with "a(so)": names and their paths. */
static int reply_objects(sd_bus_message *call, const char *prefix, size_t n,
			 const char *(*name)(const struct bus_context *, size_t),
			 const struct bus_context *context)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	int r = sd_bus_message_new_method_return(call, &reply);

	if (r >= 0)
		r = sd_bus_message_open_container(reply, 'a', "(so)");
	for (size_t i = 0; i < n && r >= 0; i++) {
		_cleanup_free_ char *path = bus_path(prefix, name(context, i));

		r = path ? sd_bus_message_append(reply, "(so)", name(context, i), path) : -ENOMEM;
	}
	if (r >= 0)
		r = sd_bus_message_close_container(reply);
	return r < 0 ? r : sd_bus_send(NULL, reply, NULL);
}

static const char *class_name(const struct bus_context *context, size_t i)
{
	return class_table_get(context->classes, i)->id;
}

static const char *benchmark_name(const struct bus_context *context, size_t i)
{
	(void)context;
	return bench_get(i)->name;
}

static int method_list_classes(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
	const struct bus_context *context = refreshed(userdata);

	(void)error;
	return reply_objects(call, SCHEDLAB_PATH_CLASS, class_table_size(context->classes),
			     class_name, context);
}

static int method_list_benchmarks(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
	(void)error;
	return reply_objects(call, SCHEDLAB_PATH_BENCHMARK, bench_count(), benchmark_name,
			     userdata);
}

static int method_measure(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
	struct bus_context *context = refreshed(userdata);
	_cleanup_(options_clear_measure) struct measure_call m = { 0 };
	_cleanup_free_ char *path = NULL;
	struct fail f = { .code = SCHEDLAB_ERROR_FAILED };
	struct job *job;
	int r = options_read_measure(call, &m, &f);

	if (r < 0)
		return bus_fail(error, &f);
	measure_fill_in(context->measure, &m.plan);
	r = measure_submit(context->measure, &m.plan, m.detach, &job, &f);
	if (r < 0)
		return bus_fail(error, &f);
	path = bus_job_path(job);
	r = path ? bus_bind_job(context, call, job) : -ENOMEM;
	if (r < 0) {
		job_cancel(job, "its caller cannot be watched");
		return r;
	}
	log_info("job %ju: measure", (uintmax_t)job->id);
	return sd_bus_reply_method_return(call, "o", path);
}

/* A job by its number, for clients that have only that. */
static int method_get_job(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
	const struct bus_context *context = userdata;
	_cleanup_free_ char *path = NULL;
	struct fail f = { 0 };
	struct job *job;
	uint64_t id;
	int r = sd_bus_message_read_basic(call, 't', &id);

	if (r < 0)
		return r;
	if (job_find(context->queue, id, &job, &f) < 0)
		return bus_fail(error, &f);
	path = bus_job_path(job);
	return path ? sd_bus_reply_method_return(call, "o", path) : -ENOMEM;
}

static json_t *jobs_to_json(const struct bus_context *context)
{
	json_t *list = json_array();

	for (struct job *job = job_first(context->queue); job; job = job_next(job))
		json_array_append_new(list, job_to_json(job));
	return list;
}

static int method_describe(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
	const struct bus_context *context = refreshed(userdata);
	const struct topology *t = context->topology;

	return bus_reply_json(call,
			      json_pack("{s:s, s:s, s:I, s:s, s:s?, s:I, s:o, s:o, s:o, s:o}",
					"schema", SCHEDLAB_SCHEMA("status"), "version",
					SCHEDLAB_VERSION, "pid", (json_int_t)getpid(), "topology",
					t->source_name, "hypervisor", t->hypervisor, "cpus",
					(json_int_t)t->n_cpus, "capabilities", find_limits(context),
					"fingerprint", fingerprint_to_json(context->fingerprint),
					"jobs", jobs_to_json(context), "store",
					store_to_json(context->store)),
			      error);
}

static int method_describe_topology(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
	const struct bus_context *context = refreshed(userdata);
	struct llc_view llc = { 0 };
	struct fail f = { 0 };
	int r = llc_view_read(context->kernfs, context->topology, &llc, &f);

	if (r < 0)
		return bus_fail(error, &f);
	r = bus_reply_json(
		call,
		topology_to_json(context->topology, context->classes, context->fingerprint, &llc),
		error);
	llc_view_clear(&llc);
	return r;
}

static int method_describe_benchmarks(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
	(void)userdata;
	return bus_reply_json(call, bench_all_to_json(), error);
}

static int method_describe_jobs(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
	return bus_reply_json(call,
			      json_pack("{s:s, s:o}", "schema", SCHEDLAB_SCHEMA("jobs"), "jobs",
					jobs_to_json(userdata)),
			      error);
}

#define ARGS(...) SD_BUS_ARGS(__VA_ARGS__)
#define READS     SD_BUS_VTABLE_UNPRIVILEGED

const sd_bus_vtable bus_manager_vtable[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_PROPERTY("Version", "s", get_version, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("Fingerprint", "a{sv}", get_fingerprint, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("Capabilities", "a{ss}", get_capabilities, 0,
			SD_BUS_VTABLE_PROPERTY_EXPLICIT),
	SD_BUS_METHOD_WITH_ARGS("ListPairClasses", SD_BUS_NO_ARGS, SD_BUS_RESULT("a(so)", classes),
				method_list_classes, READS),
	SD_BUS_METHOD_WITH_ARGS("ListBenchmarks", SD_BUS_NO_ARGS,
				SD_BUS_RESULT("a(so)", benchmarks), method_list_benchmarks, READS),
	SD_BUS_METHOD_WITH_ARGS("Measure", ARGS("as", benchmarks, "as", classes, "a{sv}", options),
				SD_BUS_RESULT("o", job), method_measure, 0),
	SD_BUS_METHOD_WITH_ARGS("GetJob", ARGS("t", id), SD_BUS_RESULT("o", job), method_get_job,
				READS),
	SD_BUS_METHOD_WITH_ARGS("Describe", SD_BUS_NO_ARGS, SD_BUS_RESULT("s", json),
				method_describe, READS),
	SD_BUS_METHOD_WITH_ARGS("DescribeTopology", SD_BUS_NO_ARGS, SD_BUS_RESULT("s", json),
				method_describe_topology, READS),
	SD_BUS_METHOD_WITH_ARGS("DescribeBenchmarks", SD_BUS_NO_ARGS, SD_BUS_RESULT("s", json),
				method_describe_benchmarks, READS),
	SD_BUS_METHOD_WITH_ARGS("DescribeJobs", SD_BUS_NO_ARGS, SD_BUS_RESULT("s", json),
				method_describe_jobs, READS),
	SD_BUS_METHOD_WITH_ARGS("QueryPage", ARGS("a{sv}", filter, "t", cursor, "u", limit),
				SD_BUS_RESULT("t", cursor, "s", jsonlines), bus_method_query_page,
				READS),
	SD_BUS_METHOD_WITH_ARGS("Query", ARGS("a{sv}", filter), SD_BUS_RESULT("h", jsonlines),
				bus_method_query, READS),
	SD_BUS_METHOD_WITH_ARGS("GetJobResult", ARGS("t", id), SD_BUS_RESULT("s", json),
				bus_method_get_job_result, READS),
	SD_BUS_METHOD_WITH_ARGS("DescribeFingerprint", ARGS("s", id), SD_BUS_RESULT("s", json),
				bus_method_describe_fingerprint, READS),
	SD_BUS_METHOD_WITH_ARGS("CheckStore", SD_BUS_NO_ARGS, SD_BUS_RESULT("s", json),
				bus_method_check_store, READS),
	SD_BUS_METHOD_WITH_ARGS(
		"BackupStore", SD_BUS_NO_ARGS,
		SD_BUS_RESULT("h", records, "t", records_bytes, "h", side, "t", side_bytes),
		bus_method_backup_store, READS),
	SD_BUS_METHOD_WITH_ARGS("ClearStore", SD_BUS_NO_ARGS, SD_BUS_RESULT("t", removed),
				bus_method_clear_store, 0),
	SD_BUS_METHOD_WITH_ARGS("ResizeStore", ARGS("t", bytes), SD_BUS_NO_RESULT,
				bus_method_resize_store, 0),
	SD_BUS_SIGNAL_WITH_ARGS("JobNew", ARGS("o", job), 0),
	SD_BUS_SIGNAL_WITH_ARGS("JobRemoved", ARGS("o", job, "s", state), 0),
	SD_BUS_SIGNAL_WITH_ARGS("RecordAdded", ARGS("t", sequence), 0),
	SD_BUS_VTABLE_END,
};
