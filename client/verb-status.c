/* SPDX-License-Identifier: MIT */
/*
 * status: the daemon, the machine, the jobs, and what cannot be done here.
 */
#include <schedlab/names.h>

#include "client.h"
#include "render/text.h"

static const char *where(const struct client *c)
{
	switch (c->where) {
	case CLIENT_BUS_STANDALONE:
		return "standalone";
	case CLIENT_BUS_USER:
		return "on the user's bus";
	case CLIENT_BUS_HOST:
		return c->host;
	default:
		return "on the system bus";
	}
}

static void print_jobs(const json_t *jobs)
{
	size_t i, ended = 0;
	json_t *job;

	json_array_foreach (jobs, i, job) {
		const char *state = text_of(job, "state");

		if (strcmp(state, "queued") != 0 && strcmp(state, "running") != 0) {
			ended++;
			continue;
		}
		printf("  job %lld %s: %s %s%s%s\n",
		       (long long)json_integer_value(json_object_get(job, "job")), state,
		       text_of(job, "kind"), text_of(job, "title"),
		       *text_of(job, "step") ? "; " : "", text_of(job, "step"));
	}
	printf("  %zu ended %s remembered by this daemon\n", ended,
	       ended == 1 ? "one is" : "ones are");
}

/* Whether what is measured is kept. */
static void print_store(const json_t *store)
{
	const json_t *records = json_object_get(store, "records");
	const json_t *slots = json_object_get(store, "slots");

	if (!store)
		return;
	if (*text_of(store, "why"))
		printf("\nStore: in trouble: %s\n", text_of(store, "why"));
	if (!json_is_integer(records) && *text_of(store, "why"))
		return;
	printf("\nStore: %s, ", text_of(store, "path"));
	if (json_is_integer(records) && json_is_integer(slots))
		printf("%lld records of at most %lld\n", (long long)json_integer_value(records),
		       (long long)json_integer_value(slots));
	else
		puts("nothing has been kept yet");
}

static int run(struct client *c, int argc, char *argv[], struct fail *f)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_(json_decrefp) json_t *root = NULL;
	const char *name;
	json_t *why;
	int r = client_no_arguments(argc, argv, f);

	if (r >= 0)
		r = client_get_json(c, SCHEDLAB_PATH, SCHEDLAB_INTERFACE_MANAGER, "Describe", &text,
				    f);
	if (r < 0 || client_print_json(c, text))
		return r;
	root = text_load(text);
	printf("schedlabd %s, process %lld, %s\n", text_of(root, "version"),
	       (long long)json_integer_value(json_object_get(root, "pid")), where(c));
	puts("");
	text_print_machine(root);
	puts("\nJobs:");
	print_jobs(json_object_get(root, "jobs"));
	print_store(json_object_get(root, "store"));
	puts("\nNot to be had here:");
	json_object_foreach (json_object_get(root, "capabilities"), name, why)
		printf("  %s: unavailable, because %s\n", name, json_string_value(why));
	json_object_foreach (json_object_get(json_object_get(root, "fingerprint"), "unavailable"),
			     name, why)
		printf("  %s: unavailable, because %s\n", name, json_string_value(why));
	return 0;
}

extern const struct verb verb_status;
const struct verb verb_status = {
	.name = "status",
	.arguments = "",
	.summary = "The daemon, the machine, the jobs, and what cannot be done here",
	.run = run,
};
