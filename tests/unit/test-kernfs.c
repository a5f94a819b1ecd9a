/* SPDX-License-Identifier: MIT */
/*
 * Kernel files below a root: sizes, numbers, links, and what is not the kernel's.
 */
#include "unit.h"

#include "util/kernfs.h"

static char *dir;

static int set_up(void **state)
{
	struct kernfs *k = NULL;

	dir = unit_make_dir();
	unit_write(dir, "sys/number", "42\n");
	unit_write(dir, "sys/negative", "-1\n");
	unit_write(dir, "sys/text", "  some text \n");
	unit_write(dir, "sys/list", "0-1,4\n");
	unit_write(dir, "sys/mask", "00000013\n");
	unit_write(dir, "sys/badlist", "0-x\n");
	unit_write(dir, "sys/empty", "");
	unit_write(dir, "sys/cpu/cpu0/x", "");
	unit_write(dir, "sys/cpu/cpu12/x", "");
	unit_write(dir, "sys/cpu/cpufreq/x", "");
	unit_write(dir, "sys/cpu/cpu3y/x", "");
	assert_int_equal(kernfs_new(dir, &k, NULL), 0);
	*state = k;
	return 0;
}

static int tear_down(void **state)
{
	kernfs_free(*state);
	unit_remove_dir(dir);
	free(dir);
	return 0;
}

static void test_read(void **state)
{
	const struct kernfs *k = *state;
	_cleanup_free_ char *text = NULL, *raw = NULL, *head = NULL, *empty = NULL;
	struct fail f = { 0 };
	size_t size;

	assert_false(kernfs_is_real(k));
	assert_int_equal(kernfs_read_trimmed(k, "/sys/text", &text, &f), 0);
	assert_string_equal(text, "some text");
	assert_int_equal(kernfs_read(k, "/sys/text", &raw, &size, &f), 0);
	assert_int_equal(size, 13);
	assert_int_equal(kernfs_read_head(k, "/sys/text", 4, &head, &f), 0);
	assert_string_equal(head, "  so");
	assert_int_equal(kernfs_read_trimmed(k, "/sys/empty", &empty, &f), 0);
	assert_string_equal(empty, "");
}

/* Files larger than any first guess: /proc/interrupts of a large machine is 27 MB. */
static void test_read_large(void **state)
{
	const struct kernfs *k = *state;
	_cleanup_free_ char *large = malloc(3000001), *back = NULL;
	size_t size;

	memset(large, 'x', 3000000);
	large[3000000] = '\0';
	unit_write(dir, "sys/large", large);
	assert_int_equal(kernfs_read(k, "/sys/large", &back, &size, NULL), 0);
	assert_int_equal(size, 3000000);
	assert_string_equal(back, large);
}

static void test_numbers(void **state)
{
	const struct kernfs *k = *state;
	struct fail f = { 0 };
	uint64_t u = 7;
	int64_t i = 7;

	assert_int_equal(kernfs_read_u64(k, "/sys/number", &u, &f), 0);
	assert_int_equal(u, 42);
	assert_int_equal(kernfs_read_i64(k, "/sys/negative", &i, &f), 0);
	assert_int_equal(i, -1);
	assert_true(kernfs_read_u64(k, "/sys/negative", &u, &f) < 0);
	assert_contains(f.message, "/sys/negative");
	assert_true(kernfs_read_i64(k, "/sys/text", &i, &f) < 0);
	assert_contains(f.message, "some text");
	assert_true(kernfs_read_i64(k, "/sys/empty", &i, &f) < 0);
	assert_int_equal(u, 42);
	assert_int_equal(i, -1);
}

static void test_sets(void **state)
{
	const struct kernfs *k = *state;
	_cleanup_(cpuset_freep) struct cpuset *list = NULL, *mask = NULL, *cpus = NULL,
					      *none = NULL;
	_cleanup_free_ char *text = NULL;
	struct fail f = { 0 };

	assert_int_equal(kernfs_read_list(k, "/sys/list", &list, &f), 0);
	assert_int_equal(kernfs_read_mask(k, "/sys/mask", &mask, &f), 0);
	assert_true(cpuset_equal(list, mask));
	assert_int_equal(kernfs_read_numbers(k, "/sys/cpu", "cpu", &cpus, &f), 0);
	text = cpuset_format_list(cpus);
	assert_string_equal(text, "0,12");
	assert_true(kernfs_read_list(k, "/sys/badlist", &none, &f) < 0);
	assert_contains(f.message, "/sys/badlist: '0-x");
}

static void test_missing(void **state)
{
	const struct kernfs *k = *state;
	_cleanup_free_ char *text = NULL;
	struct fail f = { 0 };
	struct kernfs *none = NULL;

	assert_true(kernfs_exists(k, "/sys/number"));
	assert_true(kernfs_exists(k, "/sys/cpu"));
	assert_false(kernfs_exists(k, "/sys/nothing"));
	assert_int_equal(kernfs_read(k, "/sys/nothing", &text, NULL, &f), -ENOENT);
	assert_contains(f.message, "/sys/nothing: No such file");
	assert_true(kernfs_new("/nonexistent-root", &none, &f) < 0);
	assert_contains(f.message, "/nonexistent-root");
}

/* In a foreign tree an absolute link leads inside the tree, and ".." not out of it. */
static void test_links_stay_inside(void **state)
{
	const struct kernfs *k = *state;
	_cleanup_free_ char *text = NULL, *link = NULL, *out = NULL;

	assert_true(asprintf(&link, "%s/sys/link", dir) > 0);
	assert_int_equal(symlink("/sys/number", link), 0);
	assert_int_equal(kernfs_read_trimmed(k, "/sys/link", &text, NULL), 0);
	assert_string_equal(text, "42");
	assert_true(asprintf(&out, "%s/sys/out", dir) > 0);
	assert_int_equal(symlink("../../../../../../etc/passwd", out), 0);
	assert_int_equal(kernfs_read(k, "/sys/out", &text, NULL, NULL), -ENOENT);
}

static void test_real_root(void **state)
{
	_cleanup_(kernfs_freep) struct kernfs *k = NULL;
	_cleanup_(cpuset_freep) struct cpuset *online = NULL;
	_cleanup_free_ char *text = NULL, *path = NULL, *link = NULL;
	struct fail f = { 0 };

	(void)state;
	assert_int_equal(kernfs_new(NULL, &k, &f), 0);
	assert_true(kernfs_is_real(k));
	assert_int_equal(kernfs_read_list(k, "/sys/devices/system/cpu/online", &online, &f), 0);
	assert_false(cpuset_is_empty(online));
	/* Not the kernel's: a plain file, and a link to one that is. */
	assert_true(asprintf(&path, "%s/sys/number", dir) > 0);
	assert_true(kernfs_read(k, path, &text, NULL, &f) < 0);
	assert_contains(f.message, "not trusted");
	assert_true(asprintf(&link, "%s/sys/real", dir) > 0);
	assert_int_equal(symlink("/sys/devices/system/cpu/online", link), 0);
	assert_int_equal(kernfs_read(k, link, &text, NULL, &f), -ELOOP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),      cmocka_unit_test(test_read_large),
		cmocka_unit_test(test_numbers),   cmocka_unit_test(test_sets),
		cmocka_unit_test(test_missing),   cmocka_unit_test(test_links_stay_inside),
		cmocka_unit_test(test_real_root),
	};

	return cmocka_run_group_tests_name("kernfs", tests, set_up, tear_down);
}
