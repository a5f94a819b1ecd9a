/* SPDX-License-Identifier: MIT */
/*
 * The store on a disk that fails: reads, writes and syncs go through here, and fail where a test says so.
 */
#include "unit.h"

#include <sys/syscall.h>

#include "store/internal.h"
#include "util/log.h"

static struct {
	int error;
	uint64_t from, to; /* offsets */
} bad_read, bad_write;
static int bad_sync;
static sd_event *event;

/* In the place of libc's. */
ssize_t pread(int fd, void *buffer, size_t n, off_t at);
ssize_t pread(int fd, void *buffer, size_t n, off_t at)
{
	if (bad_read.error && (uint64_t)at < bad_read.to && (uint64_t)at + n > bad_read.from) {
		errno = bad_read.error;
		return -1;
	}
	return syscall(SYS_pread64, fd, buffer, n, at);
}

ssize_t pwrite(int fd, const void *buffer, size_t n, off_t at);
ssize_t pwrite(int fd, const void *buffer, size_t n, off_t at)
{
	if (bad_write.error && (uint64_t)at < bad_write.to && (uint64_t)at + n > bad_write.from) {
		errno = bad_write.error;
		return -1;
	}
	return syscall(SYS_pwrite64, fd, buffer, n, at);
}

int fdatasync(int fd)
{
	if (!bad_sync)
		return (int)syscall(SYS_fdatasync, fd);
	errno = bad_sync;
	return -1;
}

static int set_up(void **state)
{

	*state = unit_make_dir();
	log_set_level(LOG_EMERG);
	memset(&bad_read, 0, sizeof(bad_read));
	memset(&bad_write, 0, sizeof(bad_write));
	bad_sync = 0;
	if (unit_block_children() < 0)
		return -1;
	return sd_event_default(&event) < 0;
}

static int tear_down(void **state)
{
	unit_remove_dir(*state);
	free(*state);
	event = sd_event_unref(event);
	return 0;
}

static struct store *make(const char *directory)
{
	struct store_options options = { .directory = directory, .size = MIB };
	struct store *s = NULL;

	assert_int_equal(store_new(event, &options, &s, NULL), 0);
	return s;
}

static struct store *filled(const char *directory, int n)
{
	struct store *s = make(directory);

	assert_true(store_open(s, NULL) >= 0);
	for (int i = 0; i < n; i++) {
		struct record r = { .kind = RECORD_SAMPLE, .job = 3 };

		assert_int_equal(store_append(s, &r, NULL), 0);
	}
	return s;
}

static json_int_t checked(struct store *s, const char *key)
{
	_cleanup_(json_decrefp) json_t *root = NULL;
	struct fail f = { 0 };

	if (store_check(s, &root, &f) < 0)
		fail_msg("%s", f.message);
	return json_is_array(json_object_get(root, key))
		       ? (json_int_t)json_array_size(json_object_get(root, key))
		       : json_integer_value(json_object_get(root, key));
}

/* What cannot be read now is not broken. */
static void test_superblocks_that_cannot_be_read(void **state)
{
	struct store *s = filled(*state, 5);
	struct fail f = { 0 };

	store_free(s);
	s = make(*state);
	bad_read.error = EIO;
	bad_read.to = 2 * RING_SUPERBLOCK;
	assert_true(store_open(s, &f) < 0);
	assert_contains(f.message, "Input/output error");
	bad_read.error = 0;
	assert_int_equal(store_open(s, &f), 1);
	assert_int_equal(checked(s, "whole"), 5);
	assert_int_equal(checked(s, "set_aside"), 0);
	store_free(s);
}

static int count(const struct record *record, void *userdata)
{
	(void)record;
	++*(int *)userdata;
	return 0;
}

static void test_a_sector_that_cannot_be_read(void **state)
{
	struct query_filter all = query_any();
	struct query_counts counts;
	struct store *s = filled(*state, 20);
	struct fail f = { 0 };
	uint64_t cursor = 0;
	int n = 0;

	store_free(s);
	s = make(*state);
	bad_read.error = EIO;
	bad_read.from = 2 * RING_SUPERBLOCK + 8 * RING_RECORD;
	bad_read.to = bad_read.from + 4096;
	assert_int_equal(store_open(s, &f), 1);
	assert_int_equal(checked(s, "whole"), 12);
	assert_int_equal(checked(s, "torn"), 8);
	assert_int_equal(query_page(s->ring, &all, &cursor, 0, count, &n, &counts, &f), 0);
	assert_int_equal(n, 12);
	store_free(s);
}

static void test_a_disk_that_is_full(void **state)
{
	struct store *s = filled(*state, 5);
	struct record r = { .kind = RECORD_SAMPLE };
	struct fail f = { 0 };

	bad_write.error = ENOSPC;
	bad_write.to = UINT64_MAX;
	assert_true(store_append(s, &r, &f) < 0);
	assert_contains(f.message, "No space left");
	assert_contains(store_trouble(s), "No space left");
	assert_int_equal(store_put(s, SIDE_TEXT, "new", 3), 0);
	bad_write.error = 0;
	assert_int_equal(store_append(s, &r, &f), 0);
	assert_null(store_trouble(s));
	assert_int_not_equal(store_put(s, SIDE_TEXT, "new", 3), 0);
	assert_int_equal(checked(s, "whole"), 6);
	store_free(s);
}

static void on_synced(void *userdata)
{
	*(bool *)userdata = true;
}

static void test_a_disk_that_does_not_sync(void **state)
{
	struct store *s = filled(*state, 5);
	bool done = false;

	bad_sync = EIO;
	assert_int_equal(store_sync(s, on_synced, &done), 1);
	while (!done)
		assert_true(sd_event_run(event, UINT64_MAX) >= 0);
	assert_contains(store_trouble(s), "the disk does not keep what is written");
	/* It is tried again, and then it is well. */
	bad_sync = 0;
	done = false;
	assert_int_equal(store_sync(s, on_synced, &done), 1);
	while (!done)
		assert_true(sd_event_run(event, UINT64_MAX) >= 0);
	assert_null(store_trouble(s));
	store_free(s);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_superblocks_that_cannot_be_read),
		TEST(test_a_sector_that_cannot_be_read),
		TEST(test_a_disk_that_is_full),
		TEST(test_a_disk_that_does_not_sync),
	};

	return cmocka_run_group_tests_name("store-trouble", tests, NULL, NULL);
}
