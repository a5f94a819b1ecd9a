/* SPDX-License-Identifier: MIT */
/*
 * Jobs: long work in a queue, one at a time. Knows nothing of what a job does.
 *
 * The life of a job:
 *
 *  1. job_add(): it gets an id and waits as "queued"; observers hear of it.
 *  2. When no other runs, its start() is called from the event loop: "running".
 *  3. It reports its steps with job_report(), and its end with job_end(): "done", "failed" or
 *     "cancelled". job_cancel() asks for the end; a running job ends when it can, soon.
 *  4. At its end its result is taken as text and what it was is freed. The text is kept for the last
 *     JOBS_KEPT jobs; then the job is gone.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include "util/fail.h"

#define JOBS_KEPT       64 /* ended ones, with their results */
#define JOBS_QUEUED_MAX 32 /* waiting or running at one time; more is LimitsExceeded */
#define JOB_TITLE_MAX   160
#define JOB_STEP_MAX    160

enum job_state { JOB_QUEUED, JOB_RUNNING, JOB_DONE, JOB_FAILED, JOB_CANCELLED, JOB_STATE_MAX };

const char *job_state_name(enum job_state state);

struct job;
struct job_queue;

/* What a kind of job can do. */
struct job_kind {
	const char *name; /* "measure" */
	/* Begins; a negative return ends the job as failed. It may end within the call. */
	int (*start)(struct job *job, void *work, struct fail *f);
	/* Stops soon; calls job_end(JOB_CANCELLED), now or later. Only for running jobs. */
	void (*cancel)(struct job *job, void *work);
	/* The result so far, whole at the end; a new reference. */
	json_t *(*to_json)(const struct job *job, const void *work);
	void (*free)(void *work);
};

struct job {
	uint64_t id;
	const struct job_kind *kind;
	char title[JOB_TITLE_MAX]; /* what was asked for, in short */
	enum job_state state;
	bool detached;               /* goes on when who asked for it has gone */
	double progress;             /* 0..1 */
	uint64_t remaining_usec;     /* estimate; 0 at the end */
	char step[JOB_STEP_MAX];     /* what it does now */
	struct fail why;             /* of JOB_FAILED and JOB_CANCELLED */
	uint64_t added_ns, ended_ns; /* CLOCK_REALTIME */

	/* Only job.c touches these. */
	struct job_queue *queue;
	void *work;
	char *result;
	bool cancel_asked;
	struct job *next;
};

/* News for the floors above. Any may be NULL. */
struct job_observer {
	void (*added)(struct job *job, void *userdata);
	void (*changed)(struct job *job, void *userdata); /* state, progress or step */
	void (*ended)(struct job *job, void *userdata);
	void (*forgotten)(struct job *job, void *userdata); /* about to be freed */
	void *userdata;
};

int job_queue_new(sd_event *event, struct job_queue **ret);
/* Ends nothing in good order: cancel first. */
struct job_queue *job_queue_free(struct job_queue *q);
DEFINE_CLEANUP(struct job_queue *, job_queue_free);
void job_queue_observe(struct job_queue *q, const struct job_observer *observer);

/* Takes @work over on success only. LimitsExceeded where too many wait. */
int job_add(struct job_queue *q, const struct job_kind *kind, const char *title, void *work,
	    bool detached, struct job **ret, struct fail *f);

/* From now on ids go on behind @id: there have been others. */
void job_queue_continue_after(struct job_queue *q, uint64_t id);

/* By id; NoSuchJob. */
int job_find(struct job_queue *q, uint64_t id, struct job **ret, struct fail *f);

/* The first and the next one, the oldest first; NULL at the end. */
struct job *job_first(const struct job_queue *q);
struct job *job_next(const struct job *job);

/* A job that has ended stays as it is. */
void job_cancel(struct job *job, const char *why);
/* Whether none waits or runs. */
bool job_queue_is_idle(const struct job_queue *q);

/* Whether job_cancel() was called: a kind that was at something else when it came looks here. */
static inline bool job_cancel_asked(const struct job *job)
{
	return job->cancel_asked;
}

static inline bool job_has_ended(const struct job *job)
{
	return job->state >= JOB_DONE;
}

/* The result as text: of an ended job the whole, of another what there is. The caller frees it. */
char *job_result(const struct job *job);

/* {"job", "kind", "title", "state", "ahead": how many wait or run before it,
 *  "progress", "remaining_usec", "step", "why", "added_usec"}; a new
 * reference. */
json_t *job_to_json(const struct job *job);

/* For kinds: what the running job does now. */
void job_report(struct job *job, double progress, uint64_t remaining_usec, const char *format, ...)
	_printf_(4, 5);
/* For kinds: the end. @why is for failed and cancelled ones. The work may not be used afterwards. */
void job_end(struct job *job, enum job_state state, const struct fail *why);
