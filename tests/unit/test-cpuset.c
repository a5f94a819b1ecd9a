/* SPDX-License-Identifier: MIT */
/*
 * CPU sets: what the kernel writes, in every width, and what it never writes.
 */
#include "unit.h"

#include "util/affinity.h"
#include "util/cpuset.h"
#include "util/random.h"

static void assert_list(const char *text, const char *expected)
{
	_cleanup_(cpuset_freep) struct cpuset *s = NULL;
	_cleanup_free_ char *out = NULL;
	struct fail f = { 0 };

	if (cpuset_parse_list(text, &s, &f) < 0)
		fail_msg("list '%s': %s", text, f.message);
	out = cpuset_format_list(s);
	assert_string_equal(out, expected);
}

static void assert_mask(const char *text, const char *expected)
{
	_cleanup_(cpuset_freep) struct cpuset *s = NULL;
	_cleanup_free_ char *out = NULL;
	struct fail f = { 0 };

	if (cpuset_parse_mask(text, &s, &f) < 0)
		fail_msg("mask '%s': %s", text, f.message);
	out = cpuset_format_list(s);
	assert_string_equal(out, expected);
}

static void test_lists(void **state)
{
	(void)state;
	assert_list("0\n", "0");
	assert_list("0-3,8,10-12\n", "0-3,8,10-12");
	assert_list("3,1,2,0", "0-3");
	assert_list("0-15,88-103", "0-15,88-103");
	assert_list("0-15:2/4", "0-1,4-5,8-9,12-13");
	assert_list("0-8191\n", "0-8191");
	assert_list("63-64", "63-64");
}

static void test_nothing(void **state)
{
	static const char *const nothing[] = { "", "\n", "  \n", "(null)\n", "   (null)  \n" };

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(nothing); i++) {
		assert_list(nothing[i], "");
		assert_mask(nothing[i], "");
	}
}

static void test_refused_lists(void **state)
{
	static const char *const bad[] = {
		"x",       "0-",      "-3",    "3-1",        "0,,1",
		"0,",      "1 2",     "0 -",   "0-3:",       "0-107:2",
		"0-3:0/4", "0-3:5/4", "65536", "4294967296", "99999999999999999999",
		"0x3",     "+1",
	};

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
		struct cpuset *s = (void *)1;
		struct fail f = { 0 };

		assert_true(cpuset_parse_list(bad[i], &s, &f) < 0);
		assert_ptr_equal(s, (void *)1);
		assert_int_equal(f.code, SCHEDLAB_ERROR_INVALID_ARGUMENT);
		assert_contains(f.message, bad[i]);
	}
}

static void test_masks(void **state)
{
	(void)state;
	assert_mask("1\n", "0");
	assert_mask("00000000,000000ff\n", "0-7");
	assert_mask("ff,00000003", "0-1,32-39");
	assert_mask("0x3", "0-1");
	assert_mask("80000000,00000000,00000000", "95");
	assert_mask("FF", "0-7");
}

static void test_wide_mask(void **state)
{
	char text[128 * 9 + 1] = "";

	/* 4096 CPUs are 128 words. */
	(void)state;
	for (int i = 0; i < 128; i++)
		strcat(text, i ? ",ffffffff" : "ffffffff");
	assert_mask(text, "0-4095");
}

static void test_refused_masks(void **state)
{
	static const char *const bad[] = { "g", "1,,1", ",1", "1,", "1,123456789", "1 1", "-1" };

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
		struct cpuset *s = NULL;
		struct fail f = { 0 };

		if (cpuset_parse_mask(bad[i], &s, &f) >= 0)
			fail_msg("mask '%s' was taken", bad[i]);
		assert_contains(f.message, bad[i]);
	}
}

static void test_operations(void **state)
{
	_cleanup_(cpuset_freep) struct cpuset *a = NULL, *b = NULL, *c = NULL;
	_cleanup_free_ char *text = NULL;

	(void)state;
	assert_int_equal(cpuset_parse_list("0-3,100,4000", &a, NULL), 0);
	assert_int_equal(cpuset_parse_list("2-5,4000", &b, NULL), 0);
	c = cpuset_copy(a);
	assert_true(cpuset_equal(a, c));
	cpuset_and(c, b);
	text = cpuset_format_list(c);
	assert_string_equal(text, "2-3,4000");
	assert_true(cpuset_is_subset(c, a));
	assert_false(cpuset_is_subset(a, c));
	cpuset_andnot(c, b);
	assert_true(cpuset_is_empty(c));
	assert_true(cpuset_is_subset(c, NULL));
	assert_true(cpuset_equal(c, NULL));
	assert_int_equal(cpuset_count(a), 6);
	assert_int_equal(cpuset_next(a, 4), 100);
	assert_int_equal(cpuset_next(a, 4001), -1);
	assert_int_equal(cpuset_next(a, 1000000), -1);
	cpuset_remove(a, 1000000);
	cpuset_remove(a, 100);
	assert_false(cpuset_has(a, 100));
	assert_int_equal(cpuset_or(a, b), 0);
	assert_true(cpuset_has(a, 5));
}

/* What is written out is read back the same, for sets of every density. */
static void test_round_trip(void **state)
{
	struct random r = { .state = 20261130 };

	(void)state;
	for (int i = 0; i < 300; i++) {
		_cleanup_(cpuset_freep) struct cpuset *s = cpuset_new(), *back = NULL;
		_cleanup_free_ char *text = NULL;
		uint64_t n = random_below(&r, 200), span = random_below(&r, 9000) + 1;

		for (uint64_t j = 0; j < n; j++)
			assert_int_equal(cpuset_add(s, (unsigned int)random_below(&r, span)), 0);
		text = cpuset_format_list(s);
		assert_int_equal(cpuset_parse_list(text, &back, NULL), 0);
		assert_true(cpuset_equal(s, back));
	}
}

static void test_affinity(void **state)
{
	_cleanup_(cpuset_freep) struct cpuset *before = NULL, *after = NULL;
	struct fail f = { 0 };
	unsigned int cpu;

	(void)state;
	assert_int_equal(affinity_get(0, &before, &f), 0);
	assert_false(cpuset_is_empty(before));
	cpu = (unsigned int)cpuset_first(before);
	assert_int_equal(affinity_pin(cpu, &f), 0);
	assert_int_equal(affinity_get(0, &after, &f), 0);
	assert_int_equal(cpuset_count(after), 1);
	assert_true(cpuset_has(after, cpu));
	assert_true(affinity_pin(60000, &f) < 0);
	assert_contains(f.message, "CPU 60000");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lists),         cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_refused_lists), cmocka_unit_test(test_masks),
		cmocka_unit_test(test_wide_mask),     cmocka_unit_test(test_refused_masks),
		cmocka_unit_test(test_operations),    cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_affinity),
	};

	return cmocka_run_group_tests_name("cpuset", tests, NULL, NULL);
}
