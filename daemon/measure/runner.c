/* SPDX-License-Identifier: MIT */
/*
 * The daemon's end of the handshake, as a state machine on the event loop.
 */
#include "measure/runner.h"

#include <string.h>
#include <sys/wait.h>

#include "bench/wire.h"
#include "measure/check.h"
#include "util/clock.h"
#include "util/parse.h"

enum runner_state { STARTING, RUNNING, ENDING, LEAVING, FAILED, N_STATES };

struct runner {
	struct runner_order order;
	struct runner_handlers handlers;
	struct worker worker;
	enum runner_state state;
	sd_event *event;
	sd_event_source *io, *process, *deadline, *finish;
	uint64_t go_ns, done_ns; /* CLOCK_MONOTONIC */
	struct bench_result result;
	struct fail why;
	bool reaped;
};

/* What each state waits for, for sentences. */
static const char *const awaited[N_STATES] = {
	[STARTING] = "was not READY", [RUNNING] = "was not DONE",       [ENDING] = "sent no RESULT",
	[LEAVING] = "did not end",    [FAILED] = "could not be killed",
};

static void silence(struct runner *r)
{
	r->io = sd_event_source_disable_unref(r->io);
	r->process = sd_event_source_disable_unref(r->process);
	r->deadline = sd_event_source_disable_unref(r->deadline);
}

static int on_finish(sd_event_source *source, void *userdata)
{
	struct runner *r = userdata;

	(void)source;
	r->handlers.done(r->state == FAILED ? NULL : &r->result, &r->why, r->handlers.userdata);
	return 0;
}

/* done() is called from the loop, so that no caller of ours finds the runner freed. */
static void finish(struct runner *r)
{
	silence(r);
	(void)sd_event_source_set_enabled(r->finish, SD_EVENT_ONESHOT);
}

static int on_deadline(sd_event_source *source, uint64_t usec, void *userdata);

static void set_deadline(struct runner *r, uint64_t own_ns)
{
	uint64_t ns = clock_monotonic_ns() + own_ns + r->order.grace_ns;

	r->deadline = sd_event_source_disable_unref(r->deadline);
	if (sd_event_add_time(r->event, &r->deadline, CLOCK_MONOTONIC, ns / NSEC_PER_USEC,
			      NSEC_PER_MSEC / NSEC_PER_USEC, on_deadline, r) < 0)
		r->deadline = NULL;
}

/* The first reason counts. The worker is killed, and the sample ends when it has been reaped. */
static void fail_sample(struct runner *r, const struct fail *why)
{
	if (r->state == FAILED)
		return;
	r->state = FAILED;
	r->why = *why;
	r->io = sd_event_source_disable_unref(r->io);
	if (!r->reaped)
		worker_kill(&r->worker);
	if (r->worker.pid == 0 || r->reaped)
		finish(r);
	else
		set_deadline(r, 0);
}

/* "the worker " before what wire.c says of it. */
static void fail_worker(struct runner *r, struct fail *why)
{
	(void)fail_prefix(why, 0, "the worker ");
	fail_sample(r, why);
}

static int on_deadline(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct runner *r = userdata;
	struct fail why;

	(void)source;
	(void)usec;
	(void)fail_set(&why, SCHEDLAB_ERROR_FAILED, "the worker %s within its time and %s more",
		       awaited[r->state], FORMAT_TIME(r->order.grace_ns));
	/* A process that SIGKILL does not end hangs in the kernel; nobody waits for it longer. */
	if (r->state == FAILED)
		finish(r);
	else
		fail_sample(r, &why);
	return 0;
}

/* Our own worker closed its end before it heard us. How it ended says more than that: it is waited
 * for, until the deadline. */
static bool died_unheard(const struct runner *r, int error)
{
	return r->worker.pid > 0 && (error == -EPIPE || error == -ECONNRESET);
}

static void say(struct runner *r, enum wire_type type, enum runner_state next, uint64_t own_ns)
{
	struct fail why = { 0 };

	int n = wire_send(r->worker.fd, type, NULL, &why);

	if (n < 0 && !died_unheard(r, n)) {
		fail_sample(r, &why);
		return;
	}
	r->state = next;
	set_deadline(r, own_ns);
}

static void on_ready(struct runner *r)
{
	struct fail why = { 0 };

	if (r->handlers.before_window &&
	    r->handlers.before_window(r->handlers.userdata, &why) < 0) {
		fail_sample(r, &why);
		return;
	}
	r->go_ns = clock_monotonic_ns();
	say(r, WIRE_GO, RUNNING, r->order.request.window_ns);
}

static void on_done(struct runner *r)
{
	r->done_ns = clock_monotonic_ns();
	if (r->handlers.after_window)
		r->handlers.after_window(r->handlers.userdata);
	say(r, WIRE_BYE, ENDING, 0);
}

static void on_result(struct runner *r, const char *text)
{
	struct fail why = { 0 };

	if (wire_parse_result(text, &r->order.request, &r->result, &why) < 0 ||
	    check_result(&r->order.request, &r->result, r->done_ns - r->go_ns, &why) < 0) {
		fail_worker(r, &why);
		return;
	}
	r->state = LEAVING;
	set_deadline(r, 0);
	/* A client's worker is its own business once the result is here. */
	if (r->worker.pid == 0)
		finish(r);
}

static void on_message(struct runner *r, const struct wire_message *message)
{
	static const enum wire_type expected[] = { WIRE_READY, WIRE_DONE, WIRE_RESULT };
	const char *due = r->state < LEAVING ? wire_type_name(expected[r->state]) : "nothing more";
	struct fail why = { 0 };

	if (message->type == WIRE_FAILED) {
		(void)fail_set(&why, SCHEDLAB_ERROR_FAILED, "%.1000s", message->payload);
		fail_sample(r, &why);
	} else if (r->state >= LEAVING || message->type != expected[r->state]) {
		(void)fail_set(&why, SCHEDLAB_ERROR_FAILED, "said %s, not %s",
			       wire_type_name(message->type), due);
		fail_worker(r, &why);
	} else if (r->state == STARTING) {
		on_ready(r);
	} else if (r->state == RUNNING) {
		on_done(r);
	} else {
		on_result(r, message->payload);
	}
}

/* All messages that are there, until the sample has failed or a client's worker has done its part. */
static void drain(struct runner *r)
{
	while (r->io) {
		struct wire_message message = { 0 };
		struct fail why = { 0 };
		int n = wire_receive(r->worker.fd, &message, &why);

		if (n == -EAGAIN)
			return;
		if (n == -ECONNRESET) {
			/* Its death says more than a closed socket: that is waited for. */
			r->io = sd_event_source_disable_unref(r->io);
			if (r->worker.pid == 0)
				fail_worker(r, &why);
			return;
		}
		if (n < 0)
			fail_worker(r, &why);
		else
			on_message(r, &message);
		free(message.payload);
	}
}

static int on_io(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	(void)source;
	(void)fd;
	(void)events;
	drain(userdata);
	return 0;
}

/* How the process ended, in words; empty for status 0. */
static void describe_end(const siginfo_t *info, struct fail *why)
{
	if (info->si_code == CLD_EXITED && info->si_status == 0)
		return;
	if (info->si_code == CLD_EXITED)
		(void)fail_set(why, SCHEDLAB_ERROR_FAILED, "the worker ended with status %d",
			       info->si_status);
	else
		(void)fail_set(why, SCHEDLAB_ERROR_FAILED,
			       "the worker was killed by signal %d (%s)", info->si_status,
			       strsignal(info->si_status));
}

static int on_process(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct runner *r = userdata;
	siginfo_t info = { 0 };
	struct fail why = { 0 };

	(void)source;
	(void)events;
	/* What it said before its end counts. */
	if (r->io)
		drain(r);
	if (waitid(P_PIDFD, (id_t)fd, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid == 0)
		return 0;
	/* Tasks it may have left behind go with its group, whose number is ours until it is reaped. */
	worker_kill(&r->worker);
	(void)waitid(P_PIDFD, (id_t)fd, &info, WEXITED);
	r->reaped = true;
	if (r->state != FAILED) {
		describe_end(&info, &why);
		if (why.message[0] == '\0' && r->state != LEAVING)
			(void)fail_set(&why, SCHEDLAB_ERROR_FAILED,
				       "the worker ended with status 0 and %s", awaited[r->state]);
		if (why.message[0] != '\0') {
			fail_sample(r, &why);
			return 0;
		}
	}
	finish(r);
	return 0;
}

static int add_sources(struct runner *r)
{
	int n = sd_event_add_io(r->event, &r->io, r->worker.fd, EPOLLIN, on_io, r);

	if (n >= 0 && r->worker.pid > 0)
		n = sd_event_add_io(r->event, &r->process, r->worker.pidfd, EPOLLIN, on_process, r);
	if (n >= 0)
		n = sd_event_add_defer(r->event, &r->finish, on_finish, r);
	if (n >= 0)
		n = sd_event_source_set_enabled(r->finish, SD_EVENT_OFF);
	return n;
}

int runner_start(sd_event *event, const struct runner_order *order,
		 const struct runner_handlers *handlers, struct runner **ret, struct fail *f)
{
	_cleanup_(runner_freep) struct runner *r = calloc(1, sizeof(*r));
	_cleanup_free_ char *text = NULL;
	int n = 0;

	if (!r)
		return fail_oom(f);
	r->order = *order;
	r->handlers = *handlers;
	r->event = sd_event_ref(event);
	r->worker = WORKER_NONE;
	if (order->program)
		n = worker_spawn(order->program, &r->worker, f);
	else
		r->worker.fd = order->client_fd;
	if (n < 0)
		return n;
	n = add_sources(r);
	if (n < 0)
		return fail_errno(f, n, "cannot watch the worker");
	text = wire_format_request(&order->request);
	if (!text)
		return fail_oom(f);
	n = wire_send(r->worker.fd, WIRE_REQUEST, text, f);
	if (n < 0 && !died_unheard(r, n))
		return n;
	r->state = STARTING;
	set_deadline(r, order->request.warm_up_ns);
	*ret = TAKE_PTR(r);
	return 0;
}

void runner_cancel(struct runner *r, const char *why)
{
	struct fail f = { 0 };

	(void)fail_set(&f, SCHEDLAB_ERROR_CANCELLED, "%s", why);
	fail_sample(r, &f);
}

struct runner *runner_free(struct runner *r)
{
	if (!r)
		return NULL;
	silence(r);
	r->finish = sd_event_source_disable_unref(r->finish);
	if (r->worker.pid > 0 && !r->reaped) {
		worker_kill(&r->worker);
		(void)waitid(P_PIDFD, (id_t)r->worker.pidfd, &(siginfo_t){ 0 }, WEXITED);
	}
	worker_close(&r->worker);
	sd_event_unref(r->event);
	free(r);
	return NULL;
}
