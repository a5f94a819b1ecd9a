/* SPDX-License-Identifier: MIT */
/*
 * The queue of jobs.
 */
#include "job/job.h"

#include <schedlab/names.h>
#include <stdarg.h>
#include <string.h>

#include "util/clock.h"
#include "util/json.h"
#include "util/log.h"

struct job_queue {
	sd_event *event;
	sd_event_source *next_source; /* starts the next job, from the loop */
	struct job *jobs;             /* the oldest first */
	uint64_t last_id;
	struct job_observer observer;
};

static const char *const state_names[JOB_STATE_MAX] = {
	[JOB_QUEUED] = "queued", [JOB_RUNNING] = "running",     [JOB_DONE] = "done",
	[JOB_FAILED] = "failed", [JOB_CANCELLED] = "cancelled",
};

const char *job_state_name(enum job_state state)
{
	return state_names[state];
}

static struct job *job_free(struct job *job)
{
	if (job->work)
		job->kind->free(job->work);
	free(job->result);
	free(job);
	return NULL;
}

static void notify(struct job *job, void (*news)(struct job *, void *))
{
	if (news)
		news(job, job->queue->observer.userdata);
}

static void start_one(struct job *job)
{
	struct fail f = { 0 };

	job->state = JOB_RUNNING;
	notify(job, job->queue->observer.changed);
	if (job->kind->start(job, job->work, &f) < 0 && !job_has_ended(job))
		job_end(job, JOB_FAILED, &f);
}

/* Runs once after each end and each addition. */
static int on_next(sd_event_source *source, void *userdata)
{
	struct job_queue *q = userdata;
	struct job *waiting = NULL;

	(void)source;
	for (struct job *job = q->jobs; job; job = job->next) {
		if (job->state == JOB_RUNNING)
			return 0;
		if (job->state == JOB_QUEUED && !waiting)
			waiting = job;
	}
	if (waiting)
		start_one(waiting);
	return 0;
}

int job_queue_new(sd_event *event, struct job_queue **ret)
{
	_cleanup_(job_queue_freep) struct job_queue *q = calloc(1, sizeof(*q));
	int r;

	if (!q)
		return -ENOMEM;
	q->event = sd_event_ref(event);
	r = sd_event_add_defer(event, &q->next_source, on_next, q);
	if (r < 0)
		return r;
	r = sd_event_source_set_enabled(q->next_source, SD_EVENT_OFF);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(q);
	return 0;
}

struct job_queue *job_queue_free(struct job_queue *q)
{
	if (!q)
		return NULL;
	while (q->jobs) {
		struct job *job = q->jobs;

		q->jobs = job->next;
		job_free(job);
	}
	sd_event_source_unref(q->next_source);
	sd_event_unref(q->event);
	free(q);
	return NULL;
}

void job_queue_observe(struct job_queue *q, const struct job_observer *observer)
{
	q->observer = *observer;
}

/* Forgets the oldest ended jobs beyond those that are kept, but not @just_ended: it is in use. */
static void forget_old(struct job_queue *q, const struct job *just_ended)
{
	size_t ended = 0;

	for (struct job *job = q->jobs; job; job = job->next)
		ended += job_has_ended(job);
	for (struct job **slot = &q->jobs; *slot && ended > JOBS_KEPT;) {
		struct job *job = *slot;

		if (!job_has_ended(job) || job == just_ended) {
			slot = &job->next;
			continue;
		}
		notify(job, q->observer.forgotten);
		*slot = job->next;
		job_free(job);
		ended--;
	}
}

int job_add(struct job_queue *q, const struct job_kind *kind, const char *title, void *work,
	    bool detached, struct job **ret, struct fail *f)
{
	struct job **slot = &q->jobs;
	struct job *job;
	size_t waiting = 0;

	for (; *slot; slot = &(*slot)->next)
		waiting += !job_has_ended(*slot);
	if (waiting >= JOBS_QUEUED_MAX)
		return fail_set(f, SCHEDLAB_ERROR_LIMITS_EXCEEDED,
				"%zu jobs are waiting already, and no more than %d may", waiting,
				JOBS_QUEUED_MAX);
	job = calloc(1, sizeof(*job));
	if (!job)
		return fail_oom(f);
	job->id = ++q->last_id;
	job->kind = kind;
	(void)snprintf(job->title, sizeof(job->title), "%s", title);
	job->detached = detached;
	job->added_ns = clock_realtime_ns();
	job->queue = q;
	job->work = work;
	*slot = job;
	(void)sd_event_source_set_enabled(q->next_source, SD_EVENT_ONESHOT);
	notify(job, q->observer.added);
	*ret = job;
	return 0;
}

void job_queue_continue_after(struct job_queue *q, uint64_t id)
{
	if (id > q->last_id)
		q->last_id = id;
}

int job_find(struct job_queue *q, uint64_t id, struct job **ret, struct fail *f)
{
	for (struct job *job = q->jobs; job; job = job->next) {
		if (job->id == id) {
			*ret = job;
			return 0;
		}
	}
	return fail_set(f, SCHEDLAB_ERROR_NO_SUCH_JOB,
			"there is no job %ju among the last %d; 'schedlabctl history --job %ju' "
			"looks for it in the store",
			(uintmax_t)id, JOBS_KEPT, (uintmax_t)id);
}

struct job *job_first(const struct job_queue *q)
{
	return q->jobs;
}

struct job *job_next(const struct job *job)
{
	return job->next;
}

void job_cancel(struct job *job, const char *why)
{
	struct fail f;

	if (job_has_ended(job) || job->cancel_asked)
		return;
	job->cancel_asked = true;
	(void)fail_set(&f, SCHEDLAB_ERROR_CANCELLED, "%s", why);
	job->why = f;
	if (job->state == JOB_RUNNING)
		job->kind->cancel(job, job->work);
	else
		job_end(job, JOB_CANCELLED, &f);
}

bool job_queue_is_idle(const struct job_queue *q)
{
	for (const struct job *job = q->jobs; job; job = job->next)
		if (!job_has_ended(job))
			return false;
	return true;
}

static char *dump_result(const struct job *job)
{
	_cleanup_(json_decrefp) json_t *root = job->kind->to_json(job, job->work);

	return root ? json_dumps(root, JSON_WRITE) : NULL;
}

char *job_result(const struct job *job)
{
	return job->work ? dump_result(job) : strdup(job->result ? job->result : "{}");
}

static size_t count_ahead(const struct job *job)
{
	size_t n = 0;

	if (job_has_ended(job))
		return 0;
	for (const struct job *other = job->queue->jobs; other != job; other = other->next)
		n += !job_has_ended(other);
	return n;
}

json_t *job_to_json(const struct job *job)
{
	json_t *root = json_pack(
		"{s:s, s:I, s:s, s:s, s:s, s:I, s:f, s:I, s:s, s:I, s:b}", "schema",
		SCHEDLAB_SCHEMA("job"), "job", (json_int_t)job->id, "kind", job->kind->name,
		"title", job->title, "state", job_state_name(job->state), "ahead",
		(json_int_t)count_ahead(job), "progress", job->progress, "remaining_usec",
		(json_int_t)job->remaining_usec, "step", job->step, "added_usec",
		(json_int_t)(job->added_ns / NSEC_PER_USEC), "detached", job->detached);

	if (root && job->why.message[0] != '\0' && job_has_ended(job))
		json_object_set_new(root, "why", json_string(job->why.message));
	return root;
}

void job_report(struct job *job, double progress, uint64_t remaining_usec, const char *format, ...)
{
	va_list ap;

	job->progress = progress;
	job->remaining_usec = remaining_usec;
	va_start(ap, format);
	(void)vsnprintf(job->step, sizeof(job->step), format, ap);
	va_end(ap);
	notify(job, job->queue->observer.changed);
}

void job_end(struct job *job, enum job_state state, const struct fail *why)
{
	struct job_queue *q = job->queue;

	job->state = state;
	job->remaining_usec = 0;
	job->ended_ns = clock_realtime_ns();
	job->step[0] = '\0';
	if (state == JOB_DONE)
		job->progress = 1;
	if (why)
		job->why = *why;
	log_info("job %ju has ended: %s%s%s", (uintmax_t)job->id, job_state_name(state),
		 job->why.message[0] ? ": " : "", job->why.message);
	job->result = dump_result(job);
	job->kind->free(TAKE_PTR(job->work));
	notify(job, q->observer.changed);
	notify(job, q->observer.ended);
	forget_old(q, job);
	(void)sd_event_source_set_enabled(q->next_source, SD_EVENT_ONESHOT);
}
