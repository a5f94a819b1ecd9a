/* SPDX-License-Identifier: MIT */
/*
 * jobs: list, show, wait, cancel.
 */
#include <schedlab/names.h>
#include <schedlab/units.h>
#include <string.h>

#include "client.h"
#include "render/result.h"
#include "render/table.h"
#include "render/text.h"
#include "util/parse.h"
#include "util/suggest.h"
#include "wait.h"

static bool arg_all_metrics;

enum { OPTION_ALL_METRICS = 1 };

static const struct option options[] = {
	{ "all-metrics", no_argument, NULL, OPTION_ALL_METRICS },
	{ 0 },
};

static int set(int option, const char *argument, struct fail *f)
{
	(void)option;
	(void)argument;
	(void)f;
	arg_all_metrics = true;
	return 0;
}

static int get_job(struct client *c, const char *id, char **ret, struct fail *f)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	uint64_t number = 0;
	int r = parse_u64("job", id, 1, UINT64_MAX, &number, f);

	if (r < 0)
		return r;
	r = sd_bus_call_method(c->bus, SCHEDLAB_BUS_NAME, SCHEDLAB_PATH, SCHEDLAB_INTERFACE_MANAGER,
			       "GetJob", &error, &reply, "t", number);
	if (r < 0)
		return client_fail(c, r, &error, f);
	return client_read_path(reply, ret, f);
}

/* What it does, or how many come before it. */
static void format_step(char *buffer, size_t size, const json_t *job)
{
	json_int_t ahead = json_integer_value(json_object_get(job, "ahead"));

	if (ahead > 0)
		(void)snprintf(buffer, size, "waits for %lld other%s", (long long)ahead,
			       ahead == 1 ? "" : "s");
	else
		(void)snprintf(buffer, size, "%s", text_of(job, "step"));
}

static void print_jobs(const json_t *jobs)
{
	static const struct table_column columns[] = {
		{ "JOB", true },
		{ "ADDED", false },
		{ "WHAT", false },
		{ "STATE", false },
		{ "PROGRESS", true },
		{ "LEFT", true },
		{ "STEP OR REASON", false },
	};
	struct libscols_table *table = table_new(columns, ELEMENTSOF(columns));
	size_t i;
	json_t *job;

	json_array_foreach (jobs, i, job) {
		uint64_t left =
			(uint64_t)json_integer_value(json_object_get(job, "remaining_usec"));
		char id[24], added[TEXT_TIME_MAX], what[256], progress[16], step[160];
		const char *why = text_of(job, "why");
		const char *cells[] = {
			id,
			text_moment(added, json_integer_value(json_object_get(job, "added_usec")),
				    text_now()),
			what,
			text_of(job, "state"),
			progress,
			left ? FORMAT_TIME((left + USEC_PER_SEC - 1) / USEC_PER_SEC * NSEC_PER_SEC)
			     : "-",
			*why ? why : step
		};

		(void)snprintf(id, sizeof(id), "%lld",
			       (long long)json_integer_value(json_object_get(job, "job")));
		(void)snprintf(what, sizeof(what), "%s %s", text_of(job, "kind"),
			       text_of(job, "title"));
		format_step(step, sizeof(step), job);
		(void)snprintf(progress, sizeof(progress), "%.0f %%",
			       json_number_value(json_object_get(job, "progress")) * 100);
		if (!table || table_add(table, cells, ELEMENTSOF(cells)) != 0)
			return;
	}
	table_print(table);
}

static int list(struct client *c, const char *id, struct fail *f)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_(json_decrefp) json_t *root = NULL;
	int r = client_get_json(c, SCHEDLAB_PATH, SCHEDLAB_INTERFACE_MANAGER, "DescribeJobs", &text,
				f);

	(void)id;
	if (r < 0 || client_print_json(c, text))
		return r;
	root = text_load(text);
	if (json_array_size(json_object_get(root, "jobs")) == 0)
		puts("no jobs");
	else
		print_jobs(json_object_get(root, "jobs"));
	return 0;
}

/* The job and what it has measured so far. */
static int show(struct client *c, const char *id, struct fail *f)
{
	_cleanup_free_ char *path = NULL, *about = NULL, *result = NULL;
	_cleanup_(json_decrefp) json_t *job = NULL, *root = NULL, *jobs = json_array();
	int r = get_job(c, id, &path, f);

	if (r >= 0)
		r = client_get_json(c, path, SCHEDLAB_INTERFACE_JOB, "GetResult", &result, f);
	if (r < 0 || client_print_json(c, result))
		return r;
	r = client_get_json(c, path, SCHEDLAB_INTERFACE_JOB, "Describe", &about, f);
	if (r < 0)
		return r;
	job = text_load(about);
	root = text_load(result);
	json_array_append(jobs, job);
	print_jobs(jobs);
	puts("");
	result_print(root, arg_all_metrics);
	return 0;
}

static int wait_for(struct client *c, const char *id, struct fail *f)
{
	_cleanup_(job_wait_freep) struct job_wait *wait = NULL;
	_cleanup_free_ char *path = NULL;
	int r = job_wait_new(c, &wait, f);

	if (r >= 0)
		r = get_job(c, id, &path, f);
	return r < 0 ? r : job_wait_and_print(wait, path, false, arg_all_metrics, f);
}

static int cancel(struct client *c, const char *id, struct fail *f)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	_cleanup_free_ char *path = NULL, *state = NULL;
	int r = get_job(c, id, &path, f);

	if (r < 0)
		return r;
	r = sd_bus_get_property_string(c->bus, SCHEDLAB_BUS_NAME, path, SCHEDLAB_INTERFACE_JOB,
				       "State", &error, &state);
	if (r >= 0 && strcmp(state, "queued") != 0 && strcmp(state, "running") != 0) {
		printf("job %s has ended already: %s\n", id, state);
		return 0;
	}
	if (r >= 0)
		r = sd_bus_call_method(c->bus, SCHEDLAB_BUS_NAME, path, SCHEDLAB_INTERFACE_JOB,
				       "Cancel", &error, NULL, NULL);
	if (r < 0)
		return client_fail(c, r, &error, f);
	printf("job %s is cancelled\n", id);
	return 0;
}

static const struct {
	const char *name;
	bool wants_id;
	int (*run)(struct client *c, const char *id, struct fail *f);
} actions[] = {
	{ "list", false, list },
	{ "show", true, show },
	{ "wait", true, wait_for },
	{ "cancel", true, cancel },
};

static int run(struct client *c, int argc, char *argv[], struct fail *f)
{
	const char *names[ELEMENTSOF(actions)];
	const char *name = argc > 0 ? argv[0] : "list";
	_cleanup_free_ char *hint = NULL;

	for (size_t i = 0; i < ELEMENTSOF(actions); i++) {
		names[i] = actions[i].name;
		if (strcmp(actions[i].name, name) != 0)
			continue;
		if (actions[i].wants_id && argc != 2)
			return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
					"jobs %s wants the number of one job", name);
		if (!actions[i].wants_id && argc > 1)
			return client_no_arguments(argc - 1, argv + 1, f);
		return actions[i].run(c, argc > 1 ? argv[1] : NULL, f);
	}
	hint = suggest_sentence(name, names, ELEMENTSOF(names));
	return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT, "jobs: '%.40s' is no action%s", name,
			hint ? hint : "");
}

extern const struct verb verb_jobs;
const struct verb verb_jobs = {
	.name = "jobs",
	.arguments = "[list | show ID | wait ID | cancel ID]",
	.summary = "List jobs, show or wait for one, cancel one",
	.help = "The daemon remembers the last 64 jobs that ended; 'schedlabctl history --job ID' "
		"shows\nolder ones. Who stops waiting by ^C does not stop the job.\n\n"
		"  --all-metrics         not only the main metrics\n",
	.options = options,
	.set = set,
	.run = run,
};
