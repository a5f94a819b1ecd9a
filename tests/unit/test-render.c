/* SPDX-License-Identifier: MIT */
/*
 * Small graphs and comma-separated values.
 */
#include "unit.h"

#include <jansson.h>
#include <locale.h>
#include <time.h>

#include "render/csv.h"
#include "render/spark.h"
#include "render/table.h"
#include "render/text.h"

#define RECORD                                                                                     \
	"{\"sequence\":12,\"kind\":\"sample\",\"time_usec\":1764500000000007,\"boot\":\"b0\","     \
	"\"job\":3,\"experiment\":null,\"block\":0,\"arm\":1,\"round\":2,\"benchmark\":"           \
	"\"switch\","                                                                              \
	"\"version\":1,\"spec\":\"switch:mode=pipe,as=process\",\"parameters\":\"1234\","          \
	"\"class\":\"l3\",\"pair\":[0,17],\"fingerprint\":\"f0\",\"kernel\":\"6.1 #1 \\\"x\\\"\"," \
	"\"window_usec\":200000.5,"

static void assert_spark(const double *values, size_t n, const char *expected)
{
	char buffer[SPARK_MAX];

	assert_string_equal(spark(buffer, values, n), expected);
}

static void test_spark(void **state)
{
	double many[2400];

	(void)state;
	assert_non_null(setlocale(LC_CTYPE, "C"));
	assert_spark(NULL, 0, "");
	assert_spark((double[]){ 5, 6 }, 2, "");
	assert_spark((double[]){ 1000, 1004, 1001 }, 3, "444");
	assert_spark((double[]){ 5, 5, 5 }, 3, "444");
	assert_spark((double[]){ 0, 0, 0 }, 3, "444");
	/* Half a percent of the median, not of what is largest. */
	assert_spark((double[]){ 1000, 1005, 1000 }, 3, "444");
	assert_spark((double[]){ 1000, 1006, 1000 }, 3, "181");
	assert_spark((double[]){ -1000, -1004, -1000 }, 3, "444");
	assert_spark((double[]){ 0, 0, 100 }, 3, "118");
	assert_spark((double[]){ 1.7e308, -1.7e308, 0 }, 3, "444");
	assert_spark((double[]){ 1, 2, 3, 4, 5, 6, 7, 8 }, 8, "12345678");
	assert_spark((double[]){ -70, 0, -10 }, 3, "187");
	assert_spark((double[]){ 1e300, -1e300, 0 }, 3, "815");
	/* A hundred values a bucket; one that is far off does not move its bucket. */
	for (size_t i = 0; i < ELEMENTSOF(many); i++)
		many[i] = (double)(i / 100);
	many[50] = 1e9;
	assert_spark(many, ELEMENTSOF(many), "112223333444555666677788");
	/* What does not divide evenly is used all the same. */
	for (size_t i = 0; i < 25; i++)
		many[i] = i < 24;
	assert_spark(many, 25, "888888888888888888888881");
	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
	assert_spark((double[]){ 1, 2, 3, 4, 5, 6, 7, 8 }, 8, "▁▂▃▄▅▆▇█");
	assert_spark((double[]){ 5, 5, 5 }, 3, "▄▄▄");
	for (size_t i = 0; i < ELEMENTSOF(many); i++)
		many[i] = (double)(i % 2);
	assert_int_equal(strlen(spark((char[SPARK_MAX]){ 0 }, many, ELEMENTSOF(many))),
			 SPARK_MAX - 1);
}

static void test_spread(void **state)
{
	char buffer[NUMBER_MAX];

	(void)state;
	assert_non_null(setlocale(LC_CTYPE, "C"));
	assert_string_equal(format_spread(buffer, 100, 1.6), "+-1.6 %");
	assert_string_equal(format_spread(buffer, 100, 21), "+-21 %");
	assert_string_equal(format_spread(buffer, 0, 21), "-");
}

static void test_moments(void **state)
{
	static const struct {
		json_int_t usec;
		const char *moment, *minute;
	} cases[] = {
		{ 0, "-", "-" },
		{ -5, "-", "-" },
		{ 1764500000000007, "10:53:20", "10:53" },
		{ 1764460800000000, "00:00:00", "00:00" },
		{ 1764460799999999, "2025-11-29 23:59:59", "2025-11-29 23:59" },
		{ 1764547200000000, "2025-12-01 00:00:00", "2025-12-01 00:00" },
		{ 1732964000000000, "2024-11-30 10:53:20", "2024-11-30 10:53" },
	};
	char buffer[TEXT_TIME_MAX];

	(void)state;
	assert_int_equal(setenv("TZ", "UTC0", 1), 0);
	tzset();
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		json_int_t now = 1764500001000000; /* 2025-11-30 10:53:21 */

		assert_string_equal(text_moment(buffer, cases[i].usec, now), cases[i].moment);
		assert_string_equal(text_minute(buffer, cases[i].usec, now), cases[i].minute);
	}
	assert_true(text_now() > 1764500001000000);
}

/* What @record becomes; the caller frees it. */
static char *csv_of(const char *text)
{
	json_t *record = json_loads(text, 0, NULL);
	char *csv = NULL;
	size_t size;
	FILE *out = open_memstream(&csv, &size);

	assert_non_null(record);
	assert_non_null(out);
	csv_print_record(out, record);
	assert_int_equal(fclose(out), 0);
	json_decref(record);
	return csv;
}

static void test_csv_quoting(void **state)
{
	static const struct {
		const char *text, *cell;
	} cases[] = {
		{ "", "" },
		{ "plain text", "plain text" },
		{ "a,b", "\"a,b\"" },
		{ "say \"x\"", "\"say \"\"x\"\"\"" },
		{ "\"", "\"\"\"\"" },
		{ "two\nlines", "\"two\nlines\"" },
		{ "a\rb", "\"a\rb\"" },
		{ "=1+1", "=1+1" },
		{ "±1;2", "±1;2" },
	};

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_free_ char *cell = NULL;
		size_t size;
		FILE *out = open_memstream(&cell, &size);

		assert_non_null(out);
		csv_print_text(out, cases[i].text);
		assert_int_equal(fclose(out), 0);
		assert_string_equal(cell, cases[i].cell);
	}
}

static void test_csv_records(void **state)
{
	_cleanup_free_ char *good = NULL, *failed = NULL, *bare = NULL;
	_cleanup_free_ char *digits = NULL, *ended = NULL;

	(void)state;
	good = csv_of(RECORD "\"taints\":[\"disturbed\",\"few-switches\"],\"failed\":null,"
			     "\"metrics\":{\"round-trip\":{\"value\":4137,\"unit\":\"ns\"},"
			     "\"share\":{\"value\":0.1,\"unit\":\"%\"}}}");
	assert_string_equal(good,
			    "12,2025-11-30T10:53:20.000007Z,3,,0,1,2,sample,switch,1,1234,"
			    "\"switch:mode=pipe,as=process\",l3,0,17,round-trip,4137,ns,disturbed "
			    "few-switches,,200000.5,,f0,\"6.1 #1 \"\"x\"\"\",b0,,,\n"
			    "12,2025-11-30T10:53:20.000007Z,3,,0,1,2,sample,switch,1,1234,"
			    "\"switch:mode=pipe,as=process\",l3,0,17,share,0.1,%,disturbed "
			    "few-switches,,200000.5,,f0,\"6.1 #1 \"\"x\"\"\",b0,,,\n");
	failed = csv_of(RECORD "\"taints\":[],\"failed\":\"it died, by signal 9\",\"metrics\":{}}");
	assert_string_equal(failed,
			    "12,2025-11-30T10:53:20.000007Z,3,,0,1,2,sample,switch,1,1234,"
			    "\"switch:mode=pipe,as=process\",l3,0,17,,,,,\"it died, by signal 9\","
			    "200000.5,,f0,\"6.1 #1 \"\"x\"\"\",b0,,,\n");
	digits = csv_of("{\"memory_node\":1,\"metrics\":{\"x\":{\"value\":0.123456789012345,"
			"\"unit\":\"s\"},\"y\":{\"value\":10000000.5,\"unit\":\"ns\"}}}");
	assert_string_equal(digits, ",,,,,,,,,,,,,,,x,0.123456789012,s,,,,1,,,,,,\n"
				    ",,,,,,,,,,,,,,,y,10000000.5,ns,,,,1,,,,,,\n");
	ended = csv_of("{\"kind\":\"job\",\"job\":3,\"state\":\"failed\",\"title\":\"switch: 4 "
		       "rows, 3 rounds\",\"why\":\"the disk is full\"}");
	assert_string_equal(ended, ",,3,,,,,job,,,,,,,,,,,,,,,,,,failed,\"switch: 4 rows, 3 "
				   "rounds\",the disk is full\n");
	bare = csv_of("{\"pair\":null,\"taints\":7,\"metrics\":[],\"spec\":null}");
	assert_string_equal(bare, ",,,,,,,,,,,,,,,,,,,,,,,,,,,\n");
}

static void test_csv_header(void **state)
{
	_cleanup_free_ char *header = NULL;
	size_t size, commas = 0;
	FILE *out = open_memstream(&header, &size);

	(void)state;
	assert_non_null(out);
	csv_print_header(out);
	assert_int_equal(fclose(out), 0);
	assert_string_equal(header,
			    "sequence,time,job,experiment,block,arm,round,kind,benchmark,version,"
			    "parameters,spec,class,waker,wakee,metric,value,unit,taints,failed,"
			    "window_usec,memory_node,fingerprint,kernel,boot,state,title,why\n");
	for (const char *p = header; *p != '\0'; p++)
		commas += *p == ',';
	assert_int_equal(commas, 27);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spark),       cmocka_unit_test(test_spread),
		cmocka_unit_test(test_moments),     cmocka_unit_test(test_csv_quoting),
		cmocka_unit_test(test_csv_records), cmocka_unit_test(test_csv_header),
	};

	return cmocka_run_group_tests_name("render", tests, NULL, NULL);
}
