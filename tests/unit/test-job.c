/* SPDX-License-Identifier: MIT */
/*
 * The queue: one at a time, in order; ends, cancels, results, observers, limits; the lock.
 */
#include "unit.h"

#include <sys/wait.h>

#include "job/job.h"
#include "util/lock.h"

/* What a job of these tests does, and what was called. */
struct work {
	int starts, cancels, frees;
	bool fails, ends_at_once;
};

static struct work *last_freed;
static char news[4096];

static int work_start(struct job *job, void *userdata, struct fail *f)
{
	struct work *w = userdata;

	w->starts++;
	if (w->fails)
		return fail_set(f, SCHEDLAB_ERROR_BUSY, "it cannot start");
	if (w->ends_at_once)
		job_end(job, JOB_DONE, NULL);
	return 0;
}

static void work_cancel(struct job *job, void *userdata)
{
	struct work *w = userdata;

	w->cancels++;
	job_end(job, JOB_CANCELLED, NULL);
}

static json_t *work_to_json(const struct job *job, const void *userdata)
{
	(void)userdata;
	return json_pack("{s:s}", "was", job_state_name(job->state));
}

static void work_free(void *userdata)
{
	last_freed = userdata;
	last_freed->frees++;
}

static const struct job_kind kind = { "test", work_start, work_cancel, work_to_json, work_free };

static void note(const char *what, const struct job *job)
{
	size_t used = strlen(news);

	(void)snprintf(news + used, sizeof(news) - used, "%s%ju ", what, (uintmax_t)job->id);
}

static void on_added(struct job *job, void *userdata)
{
	(void)userdata;
	note("+", job);
}

static void on_ended(struct job *job, void *userdata)
{
	(void)userdata;
	note("-", job);
}

static void on_forgotten(struct job *job, void *userdata)
{
	(void)userdata;
	note("!", job);
}

struct fixture {
	sd_event *event;
	struct job_queue *q;
};

static int set_up(void **state)
{
	static const struct job_observer observer = { .added = on_added,
						      .ended = on_ended,
						      .forgotten = on_forgotten };
	struct fixture *x = calloc(1, sizeof(*x));

	assert_int_equal(sd_event_new(&x->event), 0);
	assert_int_equal(job_queue_new(x->event, &x->q), 0);
	job_queue_observe(x->q, &observer);
	news[0] = '\0';
	*state = x;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *x = *state;

	job_queue_free(x->q);
	sd_event_unref(x->event);
	free(x);
	return 0;
}

static void turn(struct fixture *x)
{
	while (sd_event_run(x->event, 0) > 0)
		;
}

static struct job *add(struct fixture *x, struct work *w)
{
	struct job *job = NULL;

	assert_int_equal(job_add(x->q, &kind, "work", w, true, &job, NULL), 0);
	return job;
}

static void test_one_at_a_time(void **state)
{
	struct fixture *x = *state;
	struct work a = { 0 }, b = { 0 };
	struct job *first = add(x, &a), *second = add(x, &b);
	_cleanup_free_ char *result = NULL;

	assert_int_equal(a.starts, 0);
	turn(x);
	assert_int_equal(first->state, JOB_RUNNING);
	assert_int_equal(second->state, JOB_QUEUED);
	assert_false(job_queue_is_idle(x->q));
	job_end(first, JOB_DONE, NULL);
	assert_int_equal(a.frees, 1);
	turn(x);
	assert_int_equal(second->state, JOB_RUNNING);
	job_end(second, JOB_DONE, NULL);
	assert_true(job_queue_is_idle(x->q));
	result = job_result(first);
	assert_string_equal(result, "{\"was\":\"done\"}");
	assert_string_equal(news, "+1 +2 -1 -2 ");
}

static void test_failing_start(void **state)
{
	struct fixture *x = *state;
	struct work a = { .fails = true }, b = { .ends_at_once = true };
	struct job *first = add(x, &a), *second = add(x, &b);

	turn(x);
	assert_int_equal(first->state, JOB_FAILED);
	assert_string_equal(first->why.message, "it cannot start");
	assert_int_equal(second->state, JOB_DONE);
	assert_true(second->progress == 1);
}

static void test_cancel(void **state)
{
	struct fixture *x = *state;
	struct work a = { 0 }, b = { 0 };
	struct job *first = add(x, &a), *second = add(x, &b);

	turn(x);
	job_cancel(second, "not wanted");
	assert_int_equal(b.starts, 0);
	assert_int_equal(second->state, JOB_CANCELLED);
	job_cancel(first, "not wanted");
	job_cancel(first, "twice");
	assert_int_equal(a.cancels, 1);
	assert_int_equal(first->state, JOB_CANCELLED);
	assert_string_equal(first->why.message, "not wanted");
	turn(x);
	assert_int_equal(b.starts, 0);
}

static void test_find(void **state)
{
	struct fixture *x = *state;
	struct work a = { 0 };
	struct job *job = add(x, &a), *found = NULL;
	struct fail f = { 0 };

	assert_int_equal(job_find(x->q, job->id, &found, &f), 0);
	assert_ptr_equal(found, job);
	assert_true(job_find(x->q, 77, &found, &f) < 0);
	assert_int_equal(f.code, SCHEDLAB_ERROR_NO_SUCH_JOB);
}

static void test_limits(void **state)
{
	struct fixture *x = *state;
	struct work many[JOBS_QUEUED_MAX] = { 0 }, one_more = { 0 };
	struct job *job = NULL;
	struct fail f = { 0 };

	for (size_t i = 0; i < JOBS_QUEUED_MAX; i++)
		(void)add(x, &many[i]);
	assert_true(job_add(x->q, &kind, "work", &one_more, false, &job, &f) < 0);
	assert_int_equal(f.code, SCHEDLAB_ERROR_LIMITS_EXCEEDED);
	assert_int_equal(one_more.frees, 0);
}

static void test_old_ones_are_forgotten(void **state)
{
	struct fixture *x = *state;
	struct work running = { 0 }, quick[JOBS_KEPT + 6] = { 0 };
	struct job *first = add(x, &running), *found = NULL;

	turn(x);
	/* A job that runs long while others are cancelled is kept when it ends at last. */
	for (size_t i = 0; i < ELEMENTSOF(quick); i++)
		job_cancel(add(x, &quick[i]), "quick");
	job_end(first, JOB_DONE, NULL);
	assert_int_equal(job_find(x->q, first->id, &found, NULL), 0);
	assert_true(job_find(x->q, 2, &found, NULL) < 0);
	assert_int_equal(job_find(x->q, ELEMENTSOF(quick) + 1, &found, NULL), 0);
	assert_contains(news, "!2 ");
}

/* Two processes: the second is told who the first is. */
static void test_lock(void **state)
{
	_cleanup_free_ char *dir = unit_make_dir(), *path = NULL;
	struct fail f = { 0 };
	int fd = -1, other = -1, status;
	pid_t child;

	(void)state;
	assert_true(asprintf(&path, "%s/lock", dir) > 0);
	assert_int_equal(lock_take(path, "is at it", &fd, &f), 0);
	child = fork();
	if (child == 0) {
		char expected[64];

		(void)snprintf(expected, sizeof(expected), "(process %d, user ", (int)getppid());
		_exit(lock_take(path, "is at it", &other, &f) < 0 &&
				      f.code == SCHEDLAB_ERROR_BUSY &&
				      strstr(f.message, expected) && strstr(f.message, "is at it")
			      ? 0
			      : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	close(fd);
	assert_int_equal(lock_take(path, "is at it", &fd, &f), 0);
	close(fd);
	unit_remove_dir(dir);
	assert_true(lock_take("/nonexistent/lock", "is at it", &fd, &f) < 0);
	assert_contains(f.message, "/nonexistent/lock");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_one_at_a_time, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_failing_start, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_cancel, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_find, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_limits, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_old_ones_are_forgotten, set_up, tear_down),
		cmocka_unit_test(test_lock),
	};

	return cmocka_run_group_tests_name("job", tests, NULL, NULL);
}
