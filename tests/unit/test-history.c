/* SPDX-License-Identifier: MIT */
/*
 * What was kept, as tables: nothing is put together that was not measured alike.
 */
#include "unit.h"

#include <jansson.h>
#include <locale.h>
#include <sys/mman.h>
#include <time.h>

#include "render/history.h"

#define SPEC "switch:mode=pipe,as=process,state=none"
#define FP_A "aaaaaaaaaaaaaaaa"
#define FP_B "bbbbbbbbbbbbbbbb"

static json_t *sample(const char *class_id, double value)
{
	json_t *r = json_pack(
		"{s:s, s:i, s:s, s:I, s:I, s:n, s:i, s:s, s:i, s:s, s:s, s:s, s:[i,i], s:s, s:s, "
		"s:f, s:[], s:n, s:{s:{s:f, s:s, s:b}, s:{s:f, s:s, s:b}}, s:{}}",
		"schema", "schedlab.record/1", "sequence", 1, "kind", "sample", "time_usec",
		(json_int_t)1764500000000000, "job", (json_int_t)3, "experiment", "round", 0,
		"benchmark", "switch", "version", 1, "spec", SPEC, "parameters", "1111111111111111",
		"class", class_id, "pair", 0, 1, "fingerprint", FP_A, "kernel", "6.1.0 #1",
		"window_usec", 200000.0, "taints", "failed", "metrics", "round-trip", "value",
		value, "unit", "ns", "headline", 1, "idle", "value", value / 10, "unit", "%",
		"headline", 0, "unavailable");

	assert_non_null(r);
	return r;
}

static void set_text(json_t *record, const char *key, const char *text)
{
	assert_int_equal(json_object_set_new(record, key, text ? json_string(text) : json_null()),
			 0);
}

static void add(struct history *h, json_t *record)
{
	assert_int_equal(history_add(h, record), 0);
	json_decref(record);
}

/* Of one fingerprint all is known, of others nothing more. */
static json_t *describe(const char *id, void *userdata)
{
	(void)userdata;
	return strcmp(id, FP_A) == 0 ? json_pack("{s:s, s:{s:s, s:s}}", "id", id, "fields",
						 "microcode", "0x5", "command_line", "ro quiet")
				     : NULL;
}

/* Prints and frees it; the caller frees the text. */
static char *text_of_history(struct history *h)
{
	int fd = memfd_create("history", MFD_CLOEXEC), out = dup(STDOUT_FILENO);
	char *text = calloc(1, 1 << 16);

	assert_true(fd >= 0 && out >= 0 && text);
	(void)fflush(stdout);
	assert_true(dup2(fd, STDOUT_FILENO) >= 0);
	history_print(h, describe, NULL);
	(void)fflush(stdout);
	assert_true(dup2(out, STDOUT_FILENO) >= 0);
	assert_true(pread(fd, text, (1 << 16) - 1, 0) > 0);
	(void)close(fd);
	(void)close(out);
	(void)history_free(h);
	return text;
}

static size_t count_of(const char *text, const char *part)
{
	size_t n = 0;

	for (; (text = strstr(text, part)); text += strlen(part))
		n++;
	return n;
}

static void assert_lacks(const char *text, const char *part)
{
	if (strstr(text, part))
		fail_msg("'%s' holds '%s'", text, part);
}

static void test_one_section(void **state)
{
	struct history *h = history_new(false, false);
	_cleanup_free_ char *text = NULL;

	(void)state;
	/* Classes come nearest first, in whatever order they were measured. */
	for (int i = 0; i < 4; i++) {
		add(h, sample("unpinned", 500));
		add(h, sample("numa-21", 400));
		add(h, sample("l3", 300));
		add(h, sample("l3:P-E", 300));
		add(h, sample("self", 100 + 10 * i));
	}
	text = text_of_history(h);
	assert_contains(text,
			SPEC "\n"
			     "CLASS    PAIRS METRIC     N MEDIAN  SPREAD   MIN   MAX UNIT TREND\n"
			     "self         1 round-trip 4  115.0  +-13 % 100.0 130.0 ns   1368\n"
			     "l3           1 round-trip 4  300.0 +-0.0 % 300.0 300.0 ns   4444\n"
			     "l3:P-E       1 round-trip 4  300.0 +-0.0 % 300.0 300.0 ns   4444\n"
			     "numa-21      1 round-trip 4  400.0 +-0.0 % 400.0 400.0 ns   4444\n"
			     "unpinned     1 round-trip 4  500.0 +-0.0 % 500.0 500.0 ns   4444\n");
	assert_contains(text, "20 samples of 1 job, 2025-11-30 10:53.\n");
	assert_contains(text, "Fingerprint " FP_A ": kernel 6.1.0 #1.\n");
	assert_contains(text, "from the lowest to the highest of its line (1 to 8).\n");
	assert_lacks(text, "idle");
	assert_lacks(text, "version");
}

static void test_parameters_apart(void **state)
{
	struct history *h = history_new(false, false);
	_cleanup_free_ char *text = NULL;
	json_t *other = sample("self", 200), *unknown = sample("self", 300);

	(void)state;
	set_text(other, "parameters", "2222222222222222");
	set_text(other, "spec", "switch:mode=futex,as=process,state=none");
	set_text(unknown, "parameters", "3333333333333333");
	set_text(unknown, "spec", NULL);
	add(h, sample("self", 100));
	add(h, other);
	add(h, unknown);
	add(h, sample("self", 100));
	text = text_of_history(h);
	assert_contains(text, SPEC "\nCLASS");
	assert_contains(text, "switch:mode=futex,as=process,state=none\nCLASS");
	assert_contains(text, "switch, parameters 3333333333333333 (spec no longer known)\nCLASS");
	assert_int_equal(count_of(text, "METRIC"), 3);
	assert_int_equal(count_of(text, "round-trip 2  100.0"), 1);
	assert_int_equal(count_of(text, "round-trip 1  200.0      - 200.0 200.0"), 1);
	assert_int_equal(count_of(text, "round-trip 1  300.0"), 1);
}

static void test_versions_and_hashes_apart(void **state)
{
	struct history *h = history_new(false, false);
	_cleanup_free_ char *text = NULL;
	json_t *other = sample("self", 200), *alike = sample("self", 300);

	(void)state;
	json_object_set_new(other, "version", json_integer(2));
	set_text(alike, "parameters", "2222222222222222");
	add(h, sample("self", 100));
	add(h, other);
	add(h, alike);
	text = text_of_history(h);
	assert_contains(text, SPEC ", parameters 1111111111111111, version 1\n");
	assert_contains(text, SPEC ", version 2\n");
	assert_contains(text, SPEC ", parameters 2222222222222222, version 1\n");
	assert_int_equal(count_of(text, "METRIC"), 3);
}

static void test_troubles(void **state)
{
	struct history *h = history_new(false, false);
	_cleanup_free_ char *text = NULL;
	json_t *tainted = sample("self", 200), *failed = sample("self", 0);
	json_t *lost = sample("l3", 0), *lacks = sample("self", 200), *longer = sample("self", 200);

	(void)state;
	json_object_set_new(tainted, "taints", json_pack("[s,s]", "disturbed", "few-switches"));
	for (int i = 0; i < 2; i++) {
		set_text(i ? failed : lost, "failed", "the worker died");
		json_object_set_new(i ? failed : lost, "metrics", json_object());
	}
	json_object_set_new(lacks, "unavailable", json_pack("{s:s}", "wake-call", "no clock"));
	json_object_set_new(longer, "window_usec", json_real(1e6));
	add(h, tainted);
	add(h, failed);
	add(h, lost);
	add(h, lacks);
	add(h, longer);
	text = text_of_history(h);
	assert_contains(text, "UNIT TREND TAINTED FAILED\n");
	assert_contains(text, "444         1      1\n");
	assert_contains(text, "l3        0 (all failed)");
	assert_contains(text, "not to be trusted: disturbed 1, few-switches 1; a sample may have "
			      "more than one.\n");
	assert_contains(text, "2 of these samples failed:\n  the worker died (2 samples)\n");
	assert_contains(text, "wake-call: unavailable, because no clock (1 sample)\n");
	assert_contains(text, "Samples of switch are from 200 ms to 1 s long");
}

static void test_two_fingerprints(void **state)
{
	struct history *h = history_new(true, false);
	_cleanup_free_ char *text = NULL;
	json_t *other = sample("self", 200), *later = sample("self", 200);
	json_t *unpinned = sample("unpinned", 5);

	(void)state;
	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
	set_text(other, "fingerprint", FP_B);
	set_text(other, "kernel", NULL);
	json_object_set_new(later, "time_usec", json_integer(1764600000000000));
	json_object_set_new(later, "job", json_integer(9));
	json_object_set_new(later, "pair", json_pack("[i,i]", 1, 1));
	json_object_set_new(unpinned, "pair", json_null());
	add(h, sample("self", 100));
	add(h, other);
	add(h, later);
	add(h, unpinned);
	text = text_of_history(h);
	assert_contains(text,
			"self         2 round-trip 2  150.0  ±49 %  100.0  200.0 ns         " FP_A);
	assert_contains(text,
			"self         1 round-trip 1  200.0      -  200.0  200.0 ns         " FP_B);
	assert_contains(text, "unpinned     - round-trip 1");
	assert_int_equal(count_of(text, " idle "), 3);
	assert_contains(text, "4 samples of 2 jobs, 2025-11-30 10:53 to 2025-12-01 14:40.\n");
	assert_contains(text, "Fingerprint " FP_A ": kernel 6.1.0 #1.\n"
			      "  microcode     0x5\n"
			      "  command line  ro quiet\n"
			      "Fingerprint " FP_B ": kernel no longer known.\n");
}

static json_t *job(int number, const char *state, const char *why)
{
	return json_pack("{s:s, s:i, s:s, s:s, s:s?, s:I}", "kind", "job", "job", number, "state",
			 state, "title", "switch: 4 rows", "why", why, "time_usec",
			 (json_int_t)1764500000000000 +
				 (strcmp(state, "running") == 0 ? 0 : 2000000));
}

static void test_jobs_and_others(void **state)
{
	struct history *h = history_new(false, false);
	json_t *lost = job(5, "failed", "killed");
	_cleanup_free_ char *text = NULL;

	(void)state;
	add(h, job(1, "running", NULL));
	add(h, job(2, "running", NULL));
	add(h, job(1, "failed", "the disk is full"));
	add(h, job(3, "running", NULL));
	add(h, job(3, "done", NULL));
	/* What was overwritten is missing; the end of a lost job is that of another daemon's begin. */
	add(h, job(4, "done", NULL));
	add(h, job(5, "running", NULL));
	json_object_set_new(lost, "lost", json_true());
	add(h, lost);
	add(h, json_pack("{s:s, s:i}", "kind", "verdict", "sequence", 7));
	add(h, json_object());
	text = text_of_history(h);
	assert_contains(text,
			"JOB BEGAN               TOOK STATE  WHAT           WHY\n"
			"  1 2025-11-30 10:53:20  2 s failed switch: 4 rows the disk is full\n"
			"  2 2025-11-30 10:53:20    - lost   switch: 4 rows -\n"
			"  3 2025-11-30 10:53:20  2 s done   switch: 4 rows -\n"
			"  4 -                      - done   switch: 4 rows -\n"
			"  5 2025-11-30 10:53:20    - failed switch: 4 rows killed\n\n");
	assert_contains(text, "       7 unknown verdict   -          -   - -         -\n");
	assert_contains(text, "       - unknown -         -          -   - -         -\n");
}

/* One measures at a time; what began before it and has no end is lost all the same. */
static void test_a_job_that_runs(void **state)
{
	struct history *h = history_new(false, false);
	json_t *today = job(8, "running", NULL);
	_cleanup_free_ char *text = NULL;

	(void)state;
	json_object_set_new(today, "time_usec", json_integer((json_int_t)time(NULL) * 1000000));
	add(h, job(6, "running", NULL));
	add(h, today);
	add(h, job(7, "done", NULL));
	history_set_written(h, true);
	text = text_of_history(h);
	assert_contains(text, "  6 2025-11-30 10:53:20    - lost    switch: 4 rows -\n");
	assert_contains(text, "- running switch: 4 rows -\n");
	assert_contains(text, "  7 -                      - done    switch: 4 rows -\n");
}

static void test_a_line_for_each_job(void **state)
{
	struct history *h = history_new(false, true);
	_cleanup_free_ char *text = NULL;

	(void)state;
	for (int i = 0; i < 6; i++) {
		json_t *record = sample("self", i < 3 ? 100 : 200);

		json_object_set_new(record, "job", json_integer(i < 3 ? 7 : 8));
		/* Of job 8 the second class comes a minute later. */
		if (i > 2)
			json_object_set_new(record, "time_usec",
					    json_integer(1764501000000000 + (i - 3) * 60000000LL));
		if (i == 5)
			json_object_set_new(record, "arm", json_integer(1));
		add(h, record);
	}
	text = text_of_history(h);
	assert_contains(text, "TREND JOB BEGAN            ARM\n");
	assert_contains(text, "444     7 2025-11-30 10:53   0\n");
	assert_contains(text, "        8 2025-11-30 11:10   0\n");
	assert_contains(text, "        8 2025-11-30 11:10   1\n");
	assert_contains(text, "round-trip 3  100.0 ");
	assert_contains(text, "round-trip 2  200.0 ");
	assert_contains(text, "round-trip 1  200.0 ");
}

/* Members that are missing, or are something else than they should be. */
static void test_what_is_missing(void **state)
{
	static const char *const lines[] = {
		"{\"kind\":\"sample\"}",
		"{\"kind\":\"sample\",\"metrics\":[],\"taints\":{},\"pair\":7,\"failed\":3}",
		"{\"kind\":\"sample\",\"metrics\":{\"x\":5,\"y\":{\"value\":\"1\",\"headline\":"
		"true},"
		"\"z\":{\"value\":1,\"headline\":true}},\"taints\":[1],\"pair\":[],"
		"\"unavailable\":{\"w\":null},\"version\":\"1\",\"class\":null}",
	};
	struct history *h = history_new(false, false);
	_cleanup_free_ char *text = NULL;

	(void)state;
	assert_true(history_is_empty(h));
	for (size_t i = 0; i < ELEMENTSOF(lines); i++) {
		json_t *record = json_loads(lines[i], 0, NULL);

		assert_non_null(record);
		add(h, record);
	}
	assert_false(history_is_empty(h));
	text = text_of_history(h);
	assert_contains(text, "unknown benchmark, parameters unknown (spec no longer known)\n");
	assert_contains(text, "3 samples of 0 jobs, unknown.\n");
	assert_contains(text, "z      1  1.000      - 1.000 1.000");
	assert_contains(text, "w: unavailable, because nobody knows why (1 sample)\n");
}

static void test_many(void **state)
{
	struct history *h = history_new(false, false);
	_cleanup_free_ char *text = NULL;

	(void)state;
	/* Pairs of which no sample is good do not count. */
	for (int i = 0; i < 5000; i++) {
		json_t *record = sample("l3", i);
		char why[32];

		json_object_set_new(record, "pair", json_pack("[i,i]", i % 700, i % 700 + 1));
		if (i % 50 == 0) {
			(void)snprintf(why, sizeof(why), "reason %d", i);
			set_text(record, "failed", why);
			json_object_set_new(record, "metrics", json_object());
		}
		add(h, record);
	}
	text = text_of_history(h);
	assert_contains(text, "l3      686 round-trip 4900");
	assert_contains(text, "112223333444555666677788");
	assert_contains(text, "100 of these samples failed:\n  reason 0 (1 sample)\n");
	assert_contains(text, "  and other reasons");
	assert_lacks(text, "reason 4000");
}

/* Each test says where its characters are others. */
static int set_up(void **state)
{
	(void)state;
	return setlocale(LC_CTYPE, "C") ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_one_section, set_up),
		cmocka_unit_test_setup(test_parameters_apart, set_up),
		cmocka_unit_test_setup(test_versions_and_hashes_apart, set_up),
		cmocka_unit_test_setup(test_troubles, set_up),
		cmocka_unit_test_setup(test_two_fingerprints, set_up),
		cmocka_unit_test_setup(test_jobs_and_others, set_up),
		cmocka_unit_test_setup(test_a_job_that_runs, set_up),
		cmocka_unit_test_setup(test_what_is_missing, set_up),
		cmocka_unit_test_setup(test_many, set_up),
		cmocka_unit_test_setup(test_a_line_for_each_job, set_up),
	};

	assert_int_equal(setenv("TZ", "UTC0", 1), 0);
	tzset();
	return cmocka_run_group_tests_name("history", tests, NULL, NULL);
}
