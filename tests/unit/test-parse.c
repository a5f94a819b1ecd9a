/* SPDX-License-Identifier: MIT */
/*
 * Numbers with units, near misses, seeded randomness: accepted exactly, refused by name.
 */
#include "unit.h"

#include <schedlab/units.h>

#include "util/parse.h"
#include "util/random.h"
#include "util/suggest.h"

static void test_time(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} good[] = {
		{ "5", 5 * NSEC_PER_SEC },         { "0.2", 200 * NSEC_PER_MSEC },
		{ "200ms", 200 * NSEC_PER_MSEC },  { " 200 ms ", 200 * NSEC_PER_MSEC },
		{ "20us", 20 * NSEC_PER_USEC },    { "7ns", 7 },
		{ "1min 30s", 90 * NSEC_PER_SEC }, { "1.5h", 5400 * NSEC_PER_SEC },
	};
	static const char *const bad[] = { "",    "x",    "5x",      "-1s", "1e3",   "nan", "inf",
					   "0x5", "1 30", "1min 30", "ms",  "1..5s", "5s;" };

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(good); i++) {
		uint64_t ns = 0;
		struct fail f = { 0 };

		if (parse_time("t", good[i].text, 0, 86400 * NSEC_PER_SEC, &ns, &f) < 0)
			fail_msg("%s: %s", good[i].text, f.message);
		assert_int_equal(ns, good[i].ns);
	}
	for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
		uint64_t ns = 77;
		struct fail f = { 0 };

		if (parse_time("--duration", bad[i], 0, UINT64_MAX / 4, &ns, &f) >= 0)
			fail_msg("'%s' was taken as %ju ns", bad[i], (uintmax_t)ns);
		assert_int_equal(ns, 77);
		assert_contains(f.message, "--duration");
		assert_contains(f.message, "200ms");
	}
}

static void test_time_range(void **state)
{
	uint64_t ns = 77;
	struct fail f = { 0 };

	(void)state;
	assert_true(parse_time("d", "2h", NSEC_PER_MSEC, NSEC_PER_SEC, &ns, &f) < 0);
	assert_string_equal(f.message, "d: 2h is out of range; accepted is 1 ms to 1 s");
	assert_int_equal(ns, 77);
}

static void test_u64(void **state)
{
	static const char *const bad[] = {
		"", "-1", "1.5", "x", "0x10", "1 2", "18446744073709551616"
	};
	uint64_t v = 0;
	struct fail f = { 0 };

	(void)state;
	assert_int_equal(parse_u64("n", " 18446744073709551615\n", 0, UINT64_MAX, &v, &f), 0);
	assert_true(v == UINT64_MAX);
	for (size_t i = 0; i < ELEMENTSOF(bad); i++)
		if (parse_u64("n", bad[i], 0, UINT64_MAX, &v, &f) >= 0)
			fail_msg("'%s' was taken", bad[i]);
	assert_true(v == UINT64_MAX);
	assert_true(parse_u64("rounds", "0", 1, 100, &v, &f) < 0);
	assert_string_equal(f.message, "rounds: 0 is out of range; accepted is 1 to 100");
}

static void test_size(void **state)
{
	uint64_t v = 0;

	(void)state;
	assert_int_equal(parse_size("s", "64M", 0, GIB, &v, NULL), 0);
	assert_int_equal(v, 64 * MIB);
	assert_int_equal(parse_size("s", "1.5KiB", 0, GIB, &v, NULL), 0);
	assert_int_equal(v, 1536);
	assert_int_equal(parse_size("s", "4096", 0, GIB, &v, NULL), 0);
	assert_int_equal(v, 4096);
	assert_true(parse_size("s", "0.5", 0, GIB, &v, NULL) < 0);
	assert_true(parse_size("s", "64M 1K", 0, GIB, &v, NULL) < 0);
	assert_true(parse_size("s", "2G", 0, GIB, &v, NULL) < 0);
}

static void test_percent_and_bool(void **state)
{
	double p = 0;
	bool b = false;

	(void)state;
	assert_int_equal(parse_percent("p", "2.5%", 0, 1, &p, NULL), 0);
	assert_true(p > 0.02499 && p < 0.02501);
	assert_true(parse_percent("p", "2.5", 0, 1, &p, NULL) < 0);
	assert_true(parse_percent("p", "101%", 0, 1, &p, NULL) < 0);
	assert_int_equal(parse_bool("b", "On", &b, NULL), 0);
	assert_true(b);
	assert_int_equal(parse_bool("b", "0", &b, NULL), 0);
	assert_false(b);
	assert_true(parse_bool("b", "maybe", &b, NULL) < 0);
}

static void test_format_time(void **state)
{
	(void)state;
	assert_string_equal(FORMAT_TIME(0), "0 ns");
	assert_string_equal(FORMAT_TIME(1500), "1.5 us");
	assert_string_equal(FORMAT_TIME(200 * NSEC_PER_MSEC), "200 ms");
	assert_string_equal(FORMAT_TIME(90 * NSEC_PER_SEC), "1.5 min");
}

static void test_suggest(void **state)
{
	static const char *const names[] = { "switch", "cacheline", "wakeup", "l3" };
	_cleanup_free_ char *near = suggest_sentence("swich", names, ELEMENTSOF(names));
	_cleanup_free_ char *far = suggest_sentence("zzz", names, ELEMENTSOF(names));

	(void)state;
	assert_string_equal(suggest_name("swtich", names, ELEMENTSOF(names)), "switch");
	assert_string_equal(suggest_name("CacheLine", names, ELEMENTSOF(names)), "cacheline");
	assert_string_equal(suggest_name("l4", names, ELEMENTSOF(names)), "l3");
	assert_null(suggest_name("xy", names, ELEMENTSOF(names)));
	assert_null(suggest_name("", names, ELEMENTSOF(names)));
	assert_contains(near, "; did you mean 'switch'? There are: switch, cacheline");
	assert_contains(far, "; there are: switch");
}

static void test_random(void **state)
{
	struct random a = { .state = 1 }, b = { .state = 1 };
	size_t order[50], seen[50] = { 0 };

	(void)state;
	for (int i = 0; i < 100; i++)
		assert_true(random_next(&a) == random_next(&b));
	for (int i = 0; i < 1000; i++)
		assert_true(random_below(&a, 7) < 7);
	random_order(&a, order, 50);
	for (size_t i = 0; i < 50; i++)
		seen[order[i]]++;
	for (size_t i = 0; i < 50; i++)
		assert_int_equal(seen[i], 1);
	assert_true(random_seed() < UINT64_C(1) << 53);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_time),
		cmocka_unit_test(test_time_range),
		cmocka_unit_test(test_u64),
		cmocka_unit_test(test_size),
		cmocka_unit_test(test_percent_and_bool),
		cmocka_unit_test(test_format_time),
		cmocka_unit_test(test_suggest),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests_name("parse", tests, NULL, NULL);
}
