/* SPDX-License-Identifier: MIT */
/*
 * Waiting for a job: progress on the terminal, ^C.
 */
#pragma once

#include "client.h"

struct job_wait;

/* Before a job is asked for: from now on no signal about jobs is missed. */
int job_wait_new(struct client *c, struct job_wait **ret, struct fail *f);
struct job_wait *job_wait_free(struct job_wait *w);
DEFINE_CLEANUP(struct job_wait *, job_wait_free);

/*
 * Waits until the job at @path has ended, shows its progress on standard error if that is a terminal,
 * and fetches its result (schema by the kind of job). Where others are before it, or it takes more
 * than a minute, it says so on standard error. A first ^C or SIGTERM cancels the job if it is the
 * @owner's who waits, and else only ends the wait. Returns 0 also where the job failed or was
 * cancelled: then *@ret_state says so.
 */
int job_wait_run(struct job_wait *w, const char *path, bool owner, char **ret_state,
		 char **ret_json, struct fail *f);

/*
 * The same, and prints the result: as JSON or as tables. A job that failed or was cancelled is a
 * failure of the call; what was measured before is printed all the same.
 */
int job_wait_and_print(struct job_wait *w, const char *path, bool owner, bool all_metrics,
		       struct fail *f);

/* "job 3 waits for 2 others"; from a job's Describe. */
void job_print_waiting(FILE *out, const json_t *job);

/* The number in a job's path, for people; a static text. */
const char *job_path_id(const char *path);
