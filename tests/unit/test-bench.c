/* SPDX-License-Identifier: MIT */
/*
 * Benchmarks as text, results as messages, and results that cannot be true.
 */
#include "unit.h"

#include <schedlab/units.h>
#include <sys/socket.h>

#include "bench/spec.h"
#include "bench/wire.h"
#include "measure/check.h"
#include "measure/taint.h"
#include "stats/robust.h"

static struct bench_spec parse(const char *text)
{
	struct bench_spec spec;
	struct fail f = { 0 };

	if (bench_spec_parse(text, &spec, &f) < 0)
		fail_msg("%s: %s", text, f.message);
	return spec;
}

static void assert_format(const char *text, const char *expected)
{
	struct bench_spec spec = parse(text);
	_cleanup_free_ char *whole = bench_spec_format(&spec);

	assert_string_equal(whole, expected);
}

static void test_spec(void **state)
{
	(void)state;
	assert_format("switch", "switch:mode=pipe,as=process,state=none");
	assert_format("switch:state=fp,mode=sem", "switch:mode=sem,as=process,state=fp");
	assert_format("cacheline:node=3", "cacheline:node=3");
	assert_format("cacheline:node=wakee", "cacheline:node=wakee");
}

/* Equal measurements have equal hashes, others have others. */
static void test_hash(void **state)
{
	static const char *const different[] = {
		"switch",    "switch:mode=futex", "switch:as=thread", "switch:state=fp",
		"cacheline", "cacheline:node=0",  "cacheline:node=1", "cacheline:node=wakee",
	};
	struct bench_spec a = parse("switch:mode=futex,as=thread"),
			  b = parse("switch:as=thread,mode=futex");

	(void)state;
	assert_true(bench_spec_hash(&a) == bench_spec_hash(&b));
	for (size_t i = 0; i < ELEMENTSOF(different); i++) {
		for (size_t j = 0; j < i; j++) {
			a = parse(different[i]);
			b = parse(different[j]);
			assert_true(bench_spec_hash(&a) != bench_spec_hash(&b));
		}
	}
}

/* Every benchmark is complete, and no name is twice. */
static void test_registry(void **state)
{
	(void)state;
	for (size_t i = 0; i < bench_count(); i++) {
		const struct bench *b = bench_get(i), *found;

		assert_int_equal(bench_find(b->name, &found, NULL), 0);
		assert_ptr_equal(found, b);
		assert_true(b->version > 0 && b->n_metrics > 0 &&
			    b->n_metrics <= BENCH_METRICS_MAX);
		assert_true(b->n_options <= BENCH_OPTIONS_MAX);
		assert_non_null(b->run);
		assert_non_null(b->check_place);
		assert_true(b->metrics[0].headline);
		for (size_t m = 0; m < b->n_metrics; m++)
			for (size_t n = 0; n < m; n++)
				assert_string_not_equal(b->metrics[m].name, b->metrics[n].name);
	}
}

/* A result for @spec that is true: 1000 round trips in 10 ms on CPUs 3 and 5. */
static void make_true(const char *spec, struct bench_request *request, struct bench_result *result)
{
	*request = (struct bench_request){ .spec = parse(spec),
					   .n_cpus = 2,
					   .cpus = { 3, 5 },
					   .warm_up_ns = NSEC_PER_MSEC,
					   .window_ns = 10 * NSEC_PER_MSEC,
					   .seed = 99 };
	*result = (struct bench_result){ .elapsed_ns = 10 * NSEC_PER_MSEC,
					 .round_trips = 1000,
					 .n_tasks = 2,
					 .memory_node = -1 };
	for (uint32_t i = 0; i < 2; i++)
		result->tasks[i] = (struct bench_task){ .cpu_before = (int32_t)request->cpus[i],
							.cpu_after = (int32_t)request->cpus[i],
							.iterations = 1000 - i,
							.voluntary = 1000,
							.run_delay_ns = -1 };
	if (strcmp(request->spec.bench->name, "switch") != 0)
		return;
	bench_set_metric(request->spec.bench, result, "round-trip", 10000);
	bench_set_metric(request->spec.bench, result, "switches", 200000);
	bench_set_metric(request->spec.bench, result, "real-switches", 2);
	bench_set_why_not(request->spec.bench, result, "wake-call", "it was not timed");
}

static void test_payload_round_trip(void **state)
{
	struct bench_request request, back;
	struct bench_result result, parsed;
	_cleanup_free_ char *order = NULL, *text = NULL;
	struct fail f = { 0 };

	(void)state;
	make_true("switch:mode=sem", &request, &result);
	order = wire_format_request(&request);
	assert_int_equal(wire_parse_request(order, &back, &f), 0);
	assert_true(bench_spec_hash(&back.spec) == bench_spec_hash(&request.spec));
	assert_memory_equal(back.cpus, request.cpus, sizeof(request.cpus));
	assert_true(back.n_cpus == 2 && back.warm_up_ns == request.warm_up_ns &&
		    back.window_ns == request.window_ns && back.seed == request.seed);
	text = wire_format_result(&request, &result);
	if (wire_parse_result(text, &request, &parsed, &f) < 0)
		fail_msg("%s", f.message);
	assert_true(parsed.metrics[0].value == 10000);
	assert_false(parsed.metrics[2].known);
	assert_string_equal(parsed.metrics[2].why_not, "it was not timed");
	assert_memory_equal(parsed.tasks, result.tasks, sizeof(result.tasks));
	assert_int_equal(parsed.memory_node, -1);
}

static void test_check(void **state)
{
	const uint64_t bracket = 11 * NSEC_PER_MSEC;
	struct bench_request request;
	struct bench_result result;
	struct fail f = { 0 };

	(void)state;
	make_true("switch", &request, &result);
	if (check_result(&request, &result, bracket, &f) < 0)
		fail_msg("%s", f.message);
	assert_true(check_result(&request, &result, 9 * NSEC_PER_MSEC, &f) < 0);
	assert_contains(f.message, "was DONE after 9 ms of a window of 10 ms");
	result.tasks[1].cpu_after = 4;
	assert_true(check_result(&request, &result, bracket, &f) < 0);
	assert_contains(f.message, "task 1 ran on CPU 5 and CPU 4, not on CPU 5");
	make_true("switch", &request, &result);
	result.tasks[1].iterations = 900;
	assert_true(check_result(&request, &result, bracket, &f) < 0);
	assert_contains(f.message, "counted 1000 and 900");
	/* With yield each side counts for itself. */
	make_true("switch:mode=yield", &request, &result);
	result.tasks[1].iterations = 900;
	assert_int_equal(check_result(&request, &result, bracket, &f), 0);
	/* Wherever the scheduler put the tasks is right where no CPU was asked for. */
	make_true("switch", &request, &result);
	request.n_cpus = 0;
	assert_int_equal(check_result(&request, &result, bracket, &f), 0);
}

static void test_taints(void **state)
{
	const uint64_t ms = NSEC_PER_MSEC;
	struct bench_request request;
	struct bench_result result;

	(void)state;
	/* Two CPUs: switches that a task did not ask for, and waiting, and idle time besides. */
	make_true("switch", &request, &result);
	assert_int_equal(taint_find(&request, &result), 0);
	result.tasks[0].involuntary = 9;
	assert_int_equal(taint_find(&request, &result), 0);
	result.tasks[0].involuntary = 50;
	assert_int_equal(taint_find(&request, &result), 1U << TAINT_DISTURBED);
	result.tasks[0].run_delay_ns = (int64_t)(ms / 10);
	assert_int_equal(taint_find(&request, &result), 0);
	result.tasks[0].run_delay_ns = (int64_t)ms;
	assert_int_equal(taint_find(&request, &result), 1U << TAINT_DISTURBED);
	/* One CPU: the two together fill the window, however they preempt each other. */
	request.cpus[1] = request.cpus[0];
	result.tasks[0].user_ns = result.tasks[1].system_ns = 5 * ms;
	assert_int_equal(taint_find(&request, &result), 0);
	result.tasks[1].system_ns = 4 * ms;
	assert_int_equal(taint_find(&request, &result), 1U << TAINT_DISTURBED);
	/* The scheduler put both on one CPU: the same. */
	request.n_cpus = 0;
	assert_int_equal(taint_find(&request, &result), 1U << TAINT_DISTURBED);
	result.tasks[1].system_ns = 5 * ms;
	assert_int_equal(taint_find(&request, &result), 0);
	result.elapsed_ns = 16 * ms;
	assert_true(taint_find(&request, &result) & 1U << TAINT_LONG_WINDOW);
	/* Fewer switches than a round trip is taken for. */
	make_true("switch", &request, &result);
	result.tasks[1].voluntary = 900;
	assert_int_equal(taint_find(&request, &result), 1U << TAINT_FEW_SWITCHES);
	/* Tasks that spin run all the time, or were kept from it. */
	make_true("cacheline", &request, &result);
	result.tasks[0].user_ns = result.tasks[1].user_ns = 10 * ms - ms / 10;
	result.tasks[0].voluntary = result.tasks[1].voluntary = 0;
	result.tasks[0].involuntary = 40;
	assert_int_equal(taint_find(&request, &result), 0);
	result.tasks[1].user_ns = 9 * ms;
	assert_int_equal(taint_find(&request, &result), 1U << TAINT_DISTURBED);
}

static void test_wire(void **state)
{
	struct wire_message message = { 0 };
	struct wire_header header = { WIRE_MAGIC, WIRE_VERSION, WIRE_READY, 5 };
	struct fail f = { 0 };
	int fds[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, fds), 0);
	assert_int_equal(wire_receive(fds[0], &message, &f), -EAGAIN);
	assert_int_equal(wire_send(fds[1], WIRE_FAILED, "why", &f), 0);
	assert_int_equal(wire_receive(fds[0], &message, &f), 0);
	assert_int_equal(message.type, WIRE_FAILED);
	assert_string_equal(message.payload, "why");
	free(message.payload);
	/* The size in the header is not that of the packet. */
	assert_int_equal(send(fds[1], &header, sizeof(header), 0), sizeof(header));
	assert_int_equal(wire_receive(fds[0], &message, &f), -EBADMSG);
	assert_contains(f.message, "says 5 bytes and holds 0");
	close(fds[1]);
	assert_int_equal(wire_receive(fds[0], &message, &f), -ECONNRESET);
	assert_true(wire_send(fds[0], WIRE_GO, NULL, &f) < 0);
	close(fds[0]);
}

static void test_robust(void **state)
{
	double odd[] = { 5, 1, 3, 2, 4 }, even[] = { 4, 1, 3, 2 }, one[] = { 7 };
	double wild[] = { 10, 11, 9, 10, 1e9 }, scratch[5];

	(void)state;
	robust_sort(odd, 5);
	assert_true(robust_median(odd, 5) == 3);
	assert_true(robust_quantile(odd, 5, 0) == 1 && robust_quantile(odd, 5, 1) == 5);
	assert_true(robust_quantile(odd, 5, 0.25) == 2);
	robust_sort(even, 4);
	assert_true(robust_median(even, 4) == 2.5);
	assert_true(robust_median(one, 1) == 7);
	assert_true(robust_mad(one, 1, 7, scratch) == 0);
	robust_sort(wild, 5);
	assert_true(robust_median(wild, 5) == 10);
	/* Deviations 0 0 1 1 1e9: the median of them is 1. */
	assert_true(robust_mad(wild, 5, 10, scratch) == 1.4826);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spec),     cmocka_unit_test(test_hash),
		cmocka_unit_test(test_registry), cmocka_unit_test(test_payload_round_trip),
		cmocka_unit_test(test_check),    cmocka_unit_test(test_taints),
		cmocka_unit_test(test_wire),     cmocka_unit_test(test_robust),
	};

	return cmocka_run_group_tests_name("bench", tests, NULL, NULL);
}
