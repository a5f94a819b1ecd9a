/* SPDX-License-Identifier: MIT */
/*
 * Requests and results as JSON.
 */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "bench/spec.h"
#include "bench/wire.h"

#define WINDOW_MAX_NS (UINT64_C(3600) * 1000000000)

static const char *hash_text(const struct bench_spec *spec, char buffer[17])
{
	(void)snprintf(buffer, 17, "%016" PRIx64, bench_spec_hash(spec));
	return buffer;
}

char *wire_format_request(const struct bench_request *request)
{
	_cleanup_free_ char *spec = bench_spec_format(&request->spec);
	_cleanup_(json_decrefp) json_t *root = NULL;
	json_t *cpus = json_array();
	char hash[17];

	for (uint32_t i = 0; i < request->n_cpus; i++)
		json_array_append_new(cpus, json_integer(request->cpus[i]));
	root = json_pack("{s:s, s:s, s:o, s:I, s:I, s:I}", "spec", spec ? spec : "", "hash",
			 hash_text(&request->spec, hash), "cpus", cpus, "warm_up_ns",
			 (json_int_t)request->warm_up_ns, "window_ns",
			 (json_int_t)request->window_ns, "seed", (json_int_t)request->seed);
	return spec && root ? json_dumps(root, JSON_COMPACT) : NULL;
}

static json_t *parse_json(const char *text, const char *what, struct fail *f)
{
	json_error_t error;
	json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);

	if (!root)
		(void)fail_set(f, SCHEDLAB_ERROR_FAILED, "sent a %s that is no JSON: %s", what,
			       error.text);
	return root;
}

static int parse_cpus(json_t *cpus, struct bench_request *request, struct fail *f)
{
	size_t n = json_array_size(cpus);

	if (!json_is_array(cpus) || (n != 0 && n != 2))
		return fail_set(f, SCHEDLAB_ERROR_FAILED,
				"sent a request for neither two CPUs nor none");
	for (size_t i = 0; i < n; i++) {
		json_int_t cpu = json_integer_value(json_array_get(cpus, i));

		if (!json_is_integer(json_array_get(cpus, i)) || cpu < 0 || cpu > 65535)
			return fail_set(f, SCHEDLAB_ERROR_FAILED, "sent a request with an odd CPU");
		request->cpus[i] = (uint32_t)cpu;
	}
	request->n_cpus = (uint32_t)n;
	return 0;
}

int wire_parse_request(const char *text, struct bench_request *ret, struct fail *f)
{
	_cleanup_(json_decrefp) json_t *root = parse_json(text, "request", f);
	struct bench_request request = { 0 };
	const char *spec, *hash;
	json_int_t warm_up, window, seed;
	char own_hash[17];
	json_t *cpus;
	int r;

	if (!root)
		return -EBADMSG;
	if (json_unpack(root, "{s:s, s:s, s:o, s:I, s:I, s:I}", "spec", &spec, "hash", &hash,
			"cpus", &cpus, "warm_up_ns", &warm_up, "window_ns", &window, "seed",
			&seed) < 0 ||
	    warm_up < 0 || window <= 0 || window > (json_int_t)WINDOW_MAX_NS ||
	    warm_up > (json_int_t)WINDOW_MAX_NS)
		return fail_set(f, SCHEDLAB_ERROR_FAILED, "sent a request that is incomplete");
	r = bench_spec_parse(spec, &request.spec, f);
	if (r < 0)
		return r;
	if (strcmp(hash, hash_text(&request.spec, own_hash)) != 0)
		return fail_set(f, SCHEDLAB_ERROR_FAILED,
				"means another version of benchmark '%s' than this worker has",
				request.spec.bench->name);
	r = parse_cpus(cpus, &request, f);
	if (r < 0)
		return r;
	request.warm_up_ns = (uint64_t)warm_up;
	request.window_ns = (uint64_t)window;
	request.seed = (uint64_t)seed;
	*ret = request;
	return 0;
}

static json_t *task_to_json(const struct bench_task *t)
{
	return json_pack("{s:i, s:i, s:I, s:I, s:I, s:I, s:I, s:I}", "cpu_before",
			 (int)t->cpu_before, "cpu_after", (int)t->cpu_after, "iterations",
			 (json_int_t)t->iterations, "voluntary", (json_int_t)t->voluntary,
			 "involuntary", (json_int_t)t->involuntary, "user_ns",
			 (json_int_t)t->user_ns, "system_ns", (json_int_t)t->system_ns,
			 "run_delay_ns", (json_int_t)t->run_delay_ns);
}

char *wire_format_result(const struct bench_request *request, const struct bench_result *result)
{
	const struct bench *b = request->spec.bench;
	json_t *metrics = json_object(), *missing = json_object(), *tasks = json_array();
	_cleanup_(json_decrefp) json_t *root = NULL;
	char hash[17];

	for (size_t i = 0; i < b->n_metrics; i++) {
		const struct bench_value *v = &result->metrics[i];

		if (v->known)
			json_object_set_new(metrics, b->metrics[i].name, json_real(v->value));
		else
			json_object_set_new(missing, b->metrics[i].name, json_string(v->why_not));
	}
	for (uint32_t i = 0; i < result->n_tasks; i++)
		json_array_append_new(tasks, task_to_json(&result->tasks[i]));
	root = json_pack("{s:s, s:I, s:s, s:o, s:o, s:o, s:I, s:I, s:o}", "benchmark", b->name,
			 "version", (json_int_t)b->version, "hash", hash_text(&request->spec, hash),
			 "metrics", metrics, "unavailable", missing, "tasks", tasks, "elapsed_ns",
			 (json_int_t)result->elapsed_ns, "round_trips",
			 (json_int_t)result->round_trips, "memory_node",
			 result->memory_node < 0 ? json_null() : json_integer(result->memory_node));
	return root ? json_dumps(root, JSON_COMPACT) : NULL;
}

static int parse_metrics(json_t *metrics, json_t *missing, const struct bench *b,
			 struct bench_result *result, struct fail *f)
{
	for (size_t i = 0; i < b->n_metrics; i++) {
		const char *name = b->metrics[i].name;
		json_t *value = json_object_get(metrics, name);
		const char *why_not = json_string_value(json_object_get(missing, name));
		struct bench_value *slot = &result->metrics[i];

		if (!value && why_not) {
			(void)snprintf(slot->why_not, sizeof(slot->why_not), "%s", why_not);
			continue;
		}
		if (!json_is_number(value) || why_not || !isfinite(json_number_value(value)) ||
		    json_number_value(value) < 0)
			return fail_set(f, SCHEDLAB_ERROR_FAILED,
					"sent no believable value of metric '%s'", name);
		slot->known = true;
		slot->value = json_number_value(value);
	}
	if (json_object_size(metrics) + json_object_size(missing) != b->n_metrics)
		return fail_set(f, SCHEDLAB_ERROR_FAILED,
				"sent metrics that benchmark '%s' does not have", b->name);
	return 0;
}

static int parse_task(json_t *row, struct bench_task *t, struct fail *f)
{
	json_int_t iterations, voluntary, involuntary, user, sys, delay;
	int before, after;

	if (json_unpack(row, "{s:i, s:i, s:I, s:I, s:I, s:I, s:I, s:I}", "cpu_before", &before,
			"cpu_after", &after, "iterations", &iterations, "voluntary", &voluntary,
			"involuntary", &involuntary, "user_ns", &user, "system_ns", &sys,
			"run_delay_ns", &delay) < 0 ||
	    iterations < 0 || voluntary < 0 || involuntary < 0 || user < 0 || sys < 0 || delay < -1)
		return fail_set(f, SCHEDLAB_ERROR_FAILED,
				"sent counts of a task that are incomplete");
	*t = (struct bench_task){
		.cpu_before = before,
		.cpu_after = after,
		.iterations = (uint64_t)iterations,
		.voluntary = (uint64_t)voluntary,
		.involuntary = (uint64_t)involuntary,
		.user_ns = (uint64_t)user,
		.system_ns = (uint64_t)sys,
		.run_delay_ns = delay,
	};
	return 0;
}

static int parse_tasks(json_t *tasks, struct bench_result *result, struct fail *f)
{
	size_t n = json_array_size(tasks);

	if (!json_is_array(tasks) || n == 0 || n > BENCH_TASKS_MAX)
		return fail_set(f, SCHEDLAB_ERROR_FAILED, "sent counts of %zu tasks", n);
	for (size_t i = 0; i < n; i++) {
		int r = parse_task(json_array_get(tasks, i), &result->tasks[i], f);

		if (r < 0)
			return r;
	}
	result->n_tasks = (uint32_t)n;
	return 0;
}

/* null: not known */
static bool parse_node(const json_t *node, int32_t *ret)
{
	json_int_t value = json_integer_value(node);

	*ret = json_is_null(node) ? -1 : (int32_t)value;
	return json_is_null(node) || (json_is_integer(node) && value >= 0 && value <= INT32_MAX);
}

int wire_parse_result(const char *text, const struct bench_request *request,
		      struct bench_result *ret, struct fail *f)
{
	_cleanup_(json_decrefp) json_t *root = parse_json(text, "result", f);
	const struct bench *b = request->spec.bench;
	struct bench_result result = { 0 };
	const char *name, *hash;
	json_t *metrics, *missing, *tasks, *node;
	json_int_t version, elapsed, round_trips;
	char own_hash[17];
	int r;

	if (!root)
		return -EBADMSG;
	if (json_unpack(root, "{s:s, s:I, s:s, s:o, s:o, s:o, s:I, s:I, s:o}", "benchmark", &name,
			"version", &version, "hash", &hash, "metrics", &metrics, "unavailable",
			&missing, "tasks", &tasks, "elapsed_ns", &elapsed, "round_trips",
			&round_trips, "memory_node", &node) < 0 ||
	    elapsed <= 0 || round_trips < 0 || !parse_node(node, &result.memory_node))
		return fail_set(f, SCHEDLAB_ERROR_FAILED, "sent a result that is incomplete");
	if (strcmp(name, b->name) != 0 || version != (json_int_t)b->version ||
	    strcmp(hash, hash_text(&request->spec, own_hash)) != 0)
		return fail_set(f, SCHEDLAB_ERROR_FAILED,
				"sent a result of something else: '%.40s' version %lld", name,
				(long long)version);
	r = parse_metrics(metrics, missing, b, &result, f);
	if (r < 0)
		return r;
	r = parse_tasks(tasks, &result, f);
	if (r < 0)
		return r;
	result.elapsed_ns = (uint64_t)elapsed;
	result.round_trips = (uint64_t)round_trips;
	*ret = result;
	return 0;
}
