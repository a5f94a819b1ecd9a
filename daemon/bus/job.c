/* SPDX-License-Identifier: MIT */
/*
 * Interface Job, the signals about jobs, and whose job is whose.
 */
#include <errno.h>
#include <inttypes.h>
#include <schedlab/names.h>
#include <string.h>

#include "bus/internal.h"
#include "bus/peer.h"
#include "bus/stream.h"
#include "util/clock.h"
#include "util/log.h"

/* Progress is told between samples, and not more often than this: each signal wakes its readers. */
#define CHANGE_INTERVAL_NS (200 * NSEC_PER_MSEC)

/* A job that ends with its caller. */
struct job_owner {
	struct bus_context *context;
	uint64_t job;
	struct peer_watch *watch;
	struct job_owner *next;
};

char *bus_job_path(const struct job *job)
{
	char id[32];

	(void)snprintf(id, sizeof(id), "%" PRIu64, job->id);
	return bus_path(SCHEDLAB_PATH_JOB, id);
}

int bus_find_job(sd_bus *bus, const char *path, const char *interface, void *userdata, void **ret,
		 sd_bus_error *error)
{
	const struct bus_context *context = userdata;
	_cleanup_free_ char *id = NULL;
	struct job *job;
	char *end;
	uint64_t number;

	(void)bus;
	(void)interface;
	(void)error;
	if (sd_bus_path_decode(path, SCHEDLAB_PATH_JOB, &id) <= 0)
		return 0;
	/* One job, one path: no signs, blanks or leading zeros. */
	if (*id < '1' || *id > '9')
		return 0;
	number = strtoull(id, &end, 10);
	if (*end != '\0' || job_find(context->queue, number, &job, NULL) < 0)
		return 0;
	*ret = job;
	return 1;
}

int bus_list_jobs(sd_bus *bus, const char *prefix, void *userdata, char ***ret, sd_bus_error *error)
{
	const struct bus_context *context = userdata;
	char **paths;
	size_t n = 0;

	(void)bus;
	(void)prefix;
	(void)error;
	for (struct job *job = job_first(context->queue); job; job = job_next(job))
		n++;
	paths = calloc(n + 1, sizeof(*paths));
	if (!paths)
		return -ENOMEM;
	n = 0;
	for (struct job *job = job_first(context->queue); job; job = job_next(job))
		paths[n++] = bus_job_path(job);
	*ret = paths;
	return 0;
}

static int get_property(sd_bus *bus, const char *path, const char *interface, const char *property,
			sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
	const struct job *job = userdata;

	(void)bus;
	(void)path;
	(void)interface;
	(void)error;
	switch (property[0]) {
	case 'K': /* Kind */
		return sd_bus_message_append_basic(reply, 's', job->kind->name);
	case 'P': /* Progress */
		return sd_bus_message_append_basic(reply, 'd', &job->progress);
	case 'R': /* RemainingUSec */
		return sd_bus_message_append_basic(reply, 't', &job->remaining_usec);
	case 'T': /* Title */
		return sd_bus_message_append_basic(reply, 's', job->title);
	case 'W': /* Why */
		return sd_bus_message_append_basic(reply, 's',
						   job_has_ended(job) ? job->why.message : "");
	default: /* State, Step */
		return sd_bus_message_append_basic(
			reply, 's', property[2] == 'a' ? job_state_name(job->state) : job->step);
	}
}

static int method_cancel(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
	struct job *job = userdata;

	(void)error;
	job_cancel(job, "a client asked for its end");
	return sd_bus_reply_method_return(call, NULL);
}

static int method_get_result(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
	_cleanup_free_ char *text = job_result(userdata);

	if (!text)
		return sd_bus_error_set_errno(error, ENOMEM);
	return sd_bus_reply_method_return(call, "s", text);
}

static int method_describe(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
	return bus_reply_json(call, job_to_json(userdata), error);
}

const sd_bus_vtable bus_job_vtable[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_PROPERTY("Kind", "s", get_property, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("Title", "s", get_property, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("State", "s", get_property, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Progress", "d", get_property, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("RemainingUSec", "t", get_property, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Step", "s", get_property, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Why", "s", get_property, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_METHOD("Cancel", NULL, NULL, method_cancel, 0),
	SD_BUS_METHOD_WITH_ARGS("GetResult", SD_BUS_NO_ARGS, SD_BUS_RESULT("s", json),
				method_get_result, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("Describe", SD_BUS_NO_ARGS, SD_BUS_RESULT("s", json),
				method_describe, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_VTABLE_END,
};

static void on_gone(void *userdata)
{
	struct job_owner *owner = userdata;
	struct job *job;

	if (job_find(owner->context->queue, owner->job, &job, NULL) >= 0)
		job_cancel(job, "who asked for it has left the bus");
}

static void free_owner(struct job_owner *owner)
{
	peer_watch_free(owner->watch);
	free(owner);
}

int bus_bind_job(struct bus_context *context, sd_bus_message *call, struct job *job)
{
	struct job_owner *owner;
	int r;

	if (!sd_bus_message_get_sender(call) || job->detached)
		return 0;
	owner = calloc(1, sizeof(*owner));
	if (!owner)
		return -ENOMEM;
	owner->context = context;
	owner->job = job->id;
	r = peer_watch_new(call, on_gone, owner, &owner->watch);
	if (r < 0) {
		free_owner(owner);
		return r;
	}
	owner->next = context->owners;
	context->owners = owner;
	return 0;
}

static void forget_owner(struct bus_context *context, uint64_t job)
{
	for (struct job_owner **slot = &context->owners; *slot; slot = &(*slot)->next) {
		struct job_owner *owner = *slot;

		if (owner->job != job)
			continue;
		*slot = owner->next;
		free_owner(owner);
		return;
	}
}

void bus_detach(struct bus_context *context)
{
	job_queue_observe(context->queue, &(struct job_observer){ 0 });
	store_observe(context->store, NULL, NULL);
	stream_free_all(context);
	while (context->owners)
		forget_owner(context, context->owners->job);
}

static void emit_failed(int r)
{
	if (r < 0)
		log_warning("cannot send a signal: %s", strerror(-r));
}

static void on_added(struct job *job, void *userdata)
{
	const struct bus_context *context = userdata;
	_cleanup_free_ char *path = bus_job_path(job);

	if (!path)
		return;
	emit_failed(sd_bus_emit_object_added(context->bus, path));
	emit_failed(sd_bus_emit_signal(context->bus, SCHEDLAB_PATH, SCHEDLAB_INTERFACE_MANAGER,
				       "JobNew", "o", path));
}

static void on_changed(struct job *job, void *userdata)
{
	struct bus_context *context = userdata;
	_cleanup_free_ char *path = NULL;
	uint64_t now = clock_monotonic_ns();

	/* The end is always told, with all properties. */
	if (!job_has_ended(job) && job->progress > 0 &&
	    now - context->last_change_ns < CHANGE_INTERVAL_NS)
		return;
	context->last_change_ns = now;
	path = bus_job_path(job);
	if (path)
		emit_failed(sd_bus_emit_properties_changed(
			context->bus, path, SCHEDLAB_INTERFACE_JOB, "State", "Progress",
			"RemainingUSec", "Step", "Why", NULL));
}

static void on_ended(struct job *job, void *userdata)
{
	struct bus_context *context = userdata;
	_cleanup_free_ char *path = bus_job_path(job);

	forget_owner(context, job->id);
	bus_tell_records(context);
	if (path)
		emit_failed(sd_bus_emit_signal(context->bus, SCHEDLAB_PATH,
					       SCHEDLAB_INTERFACE_MANAGER, "JobRemoved", "os", path,
					       job_state_name(job->state)));
}

static void on_forgotten(struct job *job, void *userdata)
{
	const struct bus_context *context = userdata;
	_cleanup_free_ char *path = bus_job_path(job);

	if (path)
		emit_failed(sd_bus_emit_object_removed(context->bus, path));
}

struct job_observer bus_job_observer(struct bus_context *context)
{
	return (struct job_observer){
		.added = on_added,
		.changed = on_changed,
		.ended = on_ended,
		.forgotten = on_forgotten,
		.userdata = context,
	};
}
