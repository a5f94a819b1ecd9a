/* SPDX-License-Identifier: MIT */
/*
 * Failures and the table of named errors.
 */
#include "unit.h"

#include "util/fail.h"

static void test_table(void **state)
{
	(void)state;
	for (int i = 0; i < SCHEDLAB_ERROR_MAX; i++) {
		enum schedlab_error code = (enum schedlab_error)i;

		assert_int_equal(schedlab_error_from_name(schedlab_error_name(code)), code);
		assert_true(schedlab_error_errno(code) > 0);
		assert_in_range(schedlab_error_status(code), 1, 2);
		assert_true(strlen(schedlab_error_advice(code)) > 10);
	}
	assert_int_equal(schedlab_error_from_name("org.schedlab.Error.Busy"), SCHEDLAB_ERROR_BUSY);
	assert_int_equal(schedlab_error_from_name("org.freedesktop.DBus.Error.Failed"),
			 SCHEDLAB_ERROR_INVALID);
	assert_int_equal(schedlab_error_from_name(NULL), SCHEDLAB_ERROR_INVALID);
}

static void test_sentences(void **state)
{
	struct fail f = { 0 };

	(void)state;
	assert_int_equal(fail_set(&f, SCHEDLAB_ERROR_BUSY, "%d things", 3), -EBUSY);
	assert_string_equal(f.message, "3 things");
	assert_int_equal(fail_errno(&f, -ENOENT, "/x"), -ENOENT);
	assert_string_equal(f.message, "/x: No such file or directory");
	assert_int_equal(f.code, SCHEDLAB_ERROR_FAILED);
	assert_int_equal(fail_prefix(&f, -5, "in %s: ", "y"), -5);
	assert_string_equal(f.message, "in y: /x: No such file or directory");
	/* Where nobody reads it. */
	assert_int_equal(fail_set(NULL, SCHEDLAB_ERROR_BUSY, "x"), -EBUSY);
	assert_int_equal(fail_errno(NULL, ENOENT, "x"), -ENOENT);
	assert_int_equal(fail_prefix(NULL, -5, "x"), -5);
}

static void test_long_sentences_are_cut(void **state)
{
	static char text[3 * FAIL_MESSAGE_MAX];
	struct fail f = { 0 };

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	(void)fail_set(&f, SCHEDLAB_ERROR_FAILED, "%s", text);
	assert_int_equal(strlen(f.message), FAIL_MESSAGE_MAX - 1);
	assert_string_equal(f.message + FAIL_MESSAGE_MAX - 4, "...");
	(void)fail_errno(&f, ENOENT, "%s", text);
	assert_string_equal(f.message + FAIL_MESSAGE_MAX - 4, "...");
	(void)fail_prefix(&f, 0, "before ");
	assert_string_equal(f.message + FAIL_MESSAGE_MAX - 4, "...");
	assert_memory_equal(f.message, "before x", 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_sentences),
		cmocka_unit_test(test_long_sentences_are_cut),
	};

	return cmocka_run_group_tests_name("fail", tests, NULL, NULL);
}
