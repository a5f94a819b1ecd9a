/* SPDX-License-Identifier: MIT */
/*
 * A sample with a worker that somebody else started, as a client will: the order of things around
 * the window, where probes will be read, and a worker's socket that closes.
 */
#include "unit.h"

#include <schedlab/units.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include "bench/spec.h"
#include "bench/wire.h"
#include "measure/runner.h"

struct story {
	char text[256];
	sd_event *event;
	bool refuse_window;
	struct fail why;
	bool good;
};

static void tell(struct story *s, const char *word)
{
	strncat(s->text, word, sizeof(s->text) - strlen(s->text) - 1);
}

static int before_window(void *userdata, struct fail *f)
{
	struct story *s = userdata;

	tell(s, "before ");
	if (s->refuse_window)
		return fail_set(f, SCHEDLAB_ERROR_FAILED, "the probes cannot be read");
	return 0;
}

static void after_window(void *userdata)
{
	tell(userdata, "after ");
}

static void done(const struct bench_result *result, const struct fail *why, void *userdata)
{
	struct story *s = userdata;

	tell(s, "done");
	s->good = result != NULL;
	if (!result)
		s->why = *why;
	(void)sd_event_exit(s->event, 0);
}

static void hear(int fd, enum wire_type type, struct wire_message *ret)
{
	if (wire_receive(fd, ret, NULL) < 0 || ret->type != type)
		_exit(1);
}

/* The worker's side: as far as @until, then the socket closes. */
_Noreturn static void play_worker(int fd, enum wire_type until)
{
	struct bench_request request;
	struct bench_result result = { .memory_node = -1, .round_trips = 10, .n_tasks = 2 };
	struct wire_message message;
	_cleanup_free_ char *text = NULL;

	hear(fd, WIRE_REQUEST, &message);
	if (wire_parse_request(message.payload, &request, NULL) < 0)
		_exit(1);
	(void)wire_send(fd, WIRE_READY, NULL, NULL);
	hear(fd, WIRE_GO, &message);
	if (until == WIRE_GO)
		_exit(0);
	(void)clock_nanosleep(CLOCK_MONOTONIC, 0,
			      &(struct timespec){ .tv_nsec = (long)request.window_ns }, NULL);
	(void)wire_send(fd, WIRE_DONE, NULL, NULL);
	hear(fd, WIRE_BYE, &message);
	result.elapsed_ns = request.window_ns;
	for (size_t i = 0; i < 2; i++) {
		result.tasks[i].iterations = 10;
		result.tasks[i].cpu_before = result.tasks[i].cpu_after = (int32_t)request.cpus[i];
	}
	bench_set_metric(request.spec.bench, &result, "round-trip", (double)result.elapsed_ns / 10);
	bench_set_metric(request.spec.bench, &result, "switches", 20e9 / (double)result.elapsed_ns);
	bench_set_metric(request.spec.bench, &result, "real-switches", 2);
	bench_set_metric(request.spec.bench, &result, "wake-call", 100);
	text = wire_format_result(&request, &result);
	(void)wire_send(fd, WIRE_RESULT, text, NULL);
	_exit(0);
}

/* One sample with a worker of ours; the story of it. */
static void run_sample(struct story *s, enum wire_type until, uint64_t grace_ns)
{
	struct runner_order order = { .grace_ns = grace_ns };
	struct runner_handlers handlers = { before_window, after_window, done, s };
	struct runner *r = NULL;
	struct fail f = { 0 };
	int fds[2];
	pid_t pid;

	assert_int_equal(bench_spec_parse("switch", &order.request.spec, &f), 0);
	order.request.n_cpus = 2;
	order.request.cpus[1] = 1;
	order.request.window_ns = 20 * NSEC_PER_MSEC;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
	pid = fork();
	if (pid == 0) {
		close(fds[0]);
		play_worker(fds[1], until);
	}
	close(fds[1]);
	assert_int_equal(fcntl(fds[0], F_SETFL, O_NONBLOCK), 0);
	order.client_fd = fds[0];
	assert_int_equal(sd_event_new(&s->event), 0);
	if (runner_start(s->event, &order, &handlers, &r, &f) < 0)
		fail_msg("%s", f.message);
	assert_int_equal(sd_event_loop(s->event), 0);
	runner_free(r);
	sd_event_unref(s->event);
	(void)waitpid(pid, NULL, 0);
}

static void test_order(void **state)
{
	struct story s = { 0 };

	(void)state;
	run_sample(&s, WIRE_TYPE_MAX, 30 * NSEC_PER_SEC);
	if (!s.good)
		fail_msg("%s", s.why.message);
	assert_string_equal(s.text, "before after done");
}

static void test_refused_window(void **state)
{
	struct story s = { .refuse_window = true };

	(void)state;
	run_sample(&s, WIRE_TYPE_MAX, 30 * NSEC_PER_SEC);
	assert_false(s.good);
	assert_string_equal(s.text, "before done");
	assert_string_equal(s.why.message, "the probes cannot be read");
}

static void test_closed_socket(void **state)
{
	struct story s = { 0 };

	(void)state;
	run_sample(&s, WIRE_GO, 30 * NSEC_PER_SEC);
	assert_false(s.good);
	assert_string_equal(s.text, "before done");
	assert_string_equal(s.why.message, "the worker closed the connection");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_refused_window),
		cmocka_unit_test(test_closed_socket),
	};

	return cmocka_run_group_tests_name("runner", tests, NULL, NULL);
}
