/* SPDX-License-Identifier: MIT */
/*
 * main of schedlab-worker: one benchmark, once, in a process of its own.
 *
 * Started by the daemon it takes its order from a socket (bench/wire.h says how the two talk). By
 * hand it takes it from its arguments and prints the result as JSON.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>

#include <schedlab/units.h>

#include "bench/spec.h"
#include "bench/wire.h"
#include "util/parse.h"
#include "util/program.h"
#include "util/random.h"
#include "version.h"

#define WINDOW_MIN_NS      NSEC_PER_MSEC
#define WINDOW_MAX_NS      (3600 * NSEC_PER_SEC)
#define WINDOW_DEFAULT_NS  (200 * NSEC_PER_MSEC)
#define WARM_UP_DEFAULT_NS (50 * NSEC_PER_MSEC)

/* Waits for one message of the daemon that must be @type. */
static int expect(int fd, enum wire_type type, struct wire_message *ret, struct fail *f)
{
	struct wire_message message = { 0 };
	int r = wire_receive(fd, &message, f);

	if (r < 0)
		return r;
	if (message.type != type) {
		r = fail_set(f, SCHEDLAB_ERROR_FAILED, "the daemon said %s, not %s",
			     wire_type_name(message.type), wire_type_name(type));
		free(message.payload);
		return r;
	}
	*ret = message;
	return 0;
}

static int say_and_expect(struct bench_run *run, enum wire_type say, enum wire_type hear,
			  struct fail *f)
{
	int fd = *(const int *)run->userdata;
	struct wire_message message = { 0 };
	int r = wire_send(fd, say, NULL, f);

	if (r >= 0)
		r = expect(fd, hear, &message, f);
	free(message.payload);
	return r;
}

static int wire_ready(struct bench_run *run, struct fail *f)
{
	return say_and_expect(run, WIRE_READY, WIRE_GO, f);
}

static int wire_done(struct bench_run *run, struct fail *f)
{
	return say_and_expect(run, WIRE_DONE, WIRE_BYE, f);
}

static int nobody_waits(struct bench_run *run, struct fail *f)
{
	(void)run;
	(void)f;
	return 0;
}

static int serve(int fd, struct fail *f)
{
	struct wire_message order = { 0 };
	struct bench_request request;
	struct bench_result result = { .memory_node = -1 };
	struct bench_run run = {
		.request = &request,
		.result = &result,
		.ready = wire_ready,
		.done = wire_done,
		.userdata = &fd,
	};
	_cleanup_free_ char *text = NULL;
	int r = expect(fd, WIRE_REQUEST, &order, f);

	if (r < 0)
		return r;
	r = wire_parse_request(order.payload, &request, f);
	free(order.payload);
	if (r < 0)
		return r;
	r = request.spec.bench->run(&run, f);
	if (r < 0)
		return r;
	text = wire_format_result(&request, &result);
	if (!text)
		return fail_oom(f);
	return wire_send(fd, WIRE_RESULT, text, f);
}

/* Ends at once and takes every task of the benchmark along: they die with this process. */
_Noreturn static void end(int status)
{
	(void)fflush(NULL);
	_exit(status);
}

/* For the daemon: what goes wrong is told over the socket. */
_Noreturn static void main_wire(int fd, pid_t parent)
{
	struct fail f = { 0 };

	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) < 0 ||
	    getppid() != parent)
		end(EXIT_FAILURE);
	if (serve(fd, &f) < 0) {
		(void)wire_send(fd, WIRE_FAILED, f.message, NULL);
		end(EXIT_FAILURE);
	}
	end(EXIT_SUCCESS);
}

static int by_hand(const struct bench_request *request, struct fail *f)
{
	struct bench_result result = { .memory_node = -1 };
	struct bench_run run = {
		.request = request,
		.result = &result,
		.ready = nobody_waits,
		.done = nobody_waits,
	};
	_cleanup_free_ char *text = NULL;
	const struct bench *b = request->spec.bench;
	int r;

	if (!b)
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT, "name one benchmark");
	r = b->check_place(&request->spec, bench_request_place(request), f);
	if (r >= 0)
		r = b->run(&run, f);
	if (r < 0)
		return r;
	text = wire_format_result(request, &result);
	if (!text)
		return fail_oom(f);
	if (puts(text) < 0 || fflush(stdout) != 0)
		return fail_errno(f, errno, "cannot write the result");
	return 0;
}

/* "0,1" or "3-3": a waker and a wakee. */
static int parse_pair(const char *text, struct bench_request *request, struct fail *f)
{
	int r = parse_cpu_pair("--cpus", text, &request->cpus[0], &request->cpus[1], f);

	if (r >= 0)
		request->n_cpus = 2;
	return r;
}

static void print_help(void)
{
	printf("schedlab-worker [OPTIONS] BENCHMARK[:OPTION=VALUE,...]\n\n"
	       "Runs one benchmark once and prints its result as JSON. The daemon starts this "
	       "program\n"
	       "for each sample; by hand it is good for a look at one number.\n\n"
	       "  --cpus A,B       waker and wakee (default: unpinned)\n"
	       "  --duration T     length of the window (default: %s)\n"
	       "  --warm-up T      length of the warm-up (default: %s)\n"
	       "  --version        version\n"
	       "  --help           this text\n\n"
	       "Benchmarks:\n",
	       FORMAT_TIME(WINDOW_DEFAULT_NS), FORMAT_TIME(WARM_UP_DEFAULT_NS));
	for (size_t i = 0; i < bench_count(); i++)
		printf("  %-16s %s\n", bench_get(i)->name, bench_get(i)->summary);
}

struct arguments {
	struct bench_request request;
	uint64_t fd, parent;
	bool wire;
};

static int parse_option(int option, struct arguments *a, struct fail *f)
{
	switch (option) {
	case 'f':
		a->wire = true;
		return parse_u64("--fd", optarg, 0, 1 << 20, &a->fd, f);
	case 'p':
		return parse_u64("--parent", optarg, 1, 1 << 30, &a->parent, f);
	case 'c':
		return parse_pair(optarg, &a->request, f);
	case 'd':
		return parse_time("--duration", optarg, WINDOW_MIN_NS, WINDOW_MAX_NS,
				  &a->request.window_ns, f);
	case 'w':
		return parse_time("--warm-up", optarg, 0, WINDOW_MAX_NS, &a->request.warm_up_ns, f);
	case 'V':
		printf("schedlab-worker %s\n", SCHEDLAB_VERSION);
		program_end_printed("schedlab-worker");
	case 'h':
		print_help();
		program_end_printed("schedlab-worker");
	default:
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT, "see schedlab-worker --help");
	}
}

static int parse_arguments(int argc, char *argv[], struct arguments *a, struct fail *f)
{
	static const struct option options[] = {
		{ "fd", required_argument, NULL, 'f' },
		{ "parent", required_argument, NULL, 'p' },
		{ "cpus", required_argument, NULL, 'c' },
		{ "duration", required_argument, NULL, 'd' },
		{ "warm-up", required_argument, NULL, 'w' },
		{ "version", no_argument, NULL, 'V' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int option, r;

	while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		r = parse_option(option, a, f);
		if (r < 0)
			return r;
	}
	if (a->wire)
		return 0;
	if (optind + 1 != argc)
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
				"name one benchmark; see schedlab-worker --help");
	return bench_spec_parse(argv[optind], &a->request.spec, f);
}

int main(int argc, char *argv[])
{
	struct arguments a = {
		.request = { .window_ns = WINDOW_DEFAULT_NS, .warm_up_ns = WARM_UP_DEFAULT_NS },
	};
	struct fail f = { .code = SCHEDLAB_ERROR_FAILED };

	a.request.seed = random_seed();
	if (parse_arguments(argc, argv, &a, &f) >= 0) {
		if (a.wire)
			main_wire((int)a.fd, (pid_t)a.parent);
		if (by_hand(&a.request, &f) >= 0)
			end(EXIT_SUCCESS);
	}
	(void)fprintf(stderr, "schedlab-worker: %s\n", f.message);
	end(schedlab_error_status(f.code));
}
