/* SPDX-License-Identifier: MIT */
/*
 * Entries beside the records: once each, whole or not there, whatever was overwritten or is broken.
 */
#include "unit.h"

#include "store/side.h"
#include "util/random.h"

#define SLOTS 256

static const struct ring_options options = { .slots = SLOTS, .machine_id = "machine" };

static char *directory;
static int fd;

static int set_up(void **state)
{
	(void)state;
	directory = unit_make_dir();
	fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0;
}

static int tear_down(void **state)
{
	(void)state;
	close(fd);
	unit_remove_dir(directory);
	free(directory);
	return 0;
}

static struct side *open_side(void)
{
	struct ring_report report;
	struct fail f = { 0 };
	struct side *s = NULL;

	if (side_open(fd, "side", &options, &s, &report, &f) < 0)
		fail_msg("%s", f.message);
	return s;
}

/* Bytes that tell their number, of a length that it chooses. */
static size_t make_bytes(uint64_t number, uint8_t *bytes)
{
	struct random r = { number };
	size_t size = (size_t)random_below(&r, 5000);

	for (size_t i = 0; i < size; i++)
		bytes[i] = (uint8_t)random_next(&r);
	return size;
}

static uint64_t size_of_file(void)
{
	struct stat st;

	assert_int_equal(fstatat(fd, "side", &st, 0), 0);
	return (uint64_t)st.st_size;
}

static void test_once_each(void **state)
{
	struct side *s = open_side();
	uint64_t first, second, size = size_of_file();
	enum side_type type;
	void *found;
	size_t n;

	(void)state;
	assert_int_equal(side_put(s, SIDE_TEXT, "hello", 5, &first, NULL), 0);
	for (int i = 0; i < 10 * SLOTS; i++)
		assert_int_equal(side_put(s, SIDE_TEXT, "hello", 5, &second, NULL), 0);
	assert_int_equal(first, second);
	/* Another type is another entry. */
	assert_int_equal(side_put(s, SIDE_FINGERPRINT, "hello", 5, &second, NULL), 0);
	assert_int_not_equal(first, second);
	assert_int_equal(side_put(s, SIDE_TEXT, "", 0, &second, NULL), 0);
	assert_int_equal(side_get(s, second, &found, &n, &type), 0);
	assert_int_equal(n, 0);
	free(found);
	side_close(s);
	s = open_side();
	assert_int_equal(side_get(s, first, &found, &n, &type), 0);
	assert_string_equal(found, "hello");
	assert_int_equal(type, SIDE_TEXT);
	free(found);
	assert_int_equal(side_get(s, first + 1, &found, NULL, NULL), -ENOENT);
	assert_int_equal(size_of_file(), size);
	side_close(s);
}

static void test_too_large(void **state)
{
	static uint8_t bytes[SIDE_SIZE_MAX + 1];
	struct side *s = open_side();
	struct fail f = { 0 };
	uint64_t key;

	(void)state;
	assert_true(side_put(s, SIDE_TEXT, bytes, sizeof(bytes), &key, &f) < 0);
	assert_int_equal(f.code, SCHEDLAB_ERROR_LIMITS_EXCEEDED);
	/* Not even what would overwrite itself soon. */
	assert_true(side_put(s, SIDE_TEXT, bytes, SLOTS / 4 * 480, &key, &f) < 0);
	side_close(s);
}

/* Thousands of entries through a small file, which is opened anew now and then. */
static void test_whole_or_not_there(void **state)
{
	static uint8_t bytes[5000];
	static uint64_t keys[2000];
	struct side *s = open_side();
	size_t there = 0;

	(void)state;
	for (uint64_t i = 0; i < 2000; i++) {
		size_t size = make_bytes(i, bytes), n;
		void *found;

		assert_int_equal(side_put(s, SIDE_DISTRIBUTION, bytes, size, &keys[i], NULL), 0);
		/* The newest are there. */
		for (uint64_t j = i > 5 ? i - 5 : 0; j <= i; j++) {
			size = make_bytes(j, bytes);
			assert_int_equal(side_get(s, keys[j], &found, &n, NULL), 0);
			assert_int_equal(n, size);
			assert_memory_equal(found, bytes, size);
			free(found);
		}
		if (i % 100 == 99) {
			side_close(s);
			s = open_side();
		}
	}
	for (uint64_t i = 0; i < 2000; i++) {
		size_t size = make_bytes(i, bytes), n;
		void *found;

		if (side_get(s, keys[i], &found, &n, NULL) < 0)
			continue;
		there++;
		assert_int_equal(n, size);
		assert_memory_equal(found, bytes, size);
		free(found);
	}
	assert_in_range(there, 10, SLOTS);
	side_close(s);
}

/* Somebody who goes on putting the same keeps it, however much else comes. */
static void test_what_is_used_stays(void **state)
{
	static uint8_t bytes[5000];
	struct side *s = open_side();

	(void)state;
	for (uint64_t i = 0; i < 500; i++) {
		uint64_t key, other;
		void *found;

		assert_int_equal(side_put(s, SIDE_FINGERPRINT, "the machine", 11, &key, NULL), 0);
		assert_int_equal(side_put(s, SIDE_TEXT, bytes, make_bytes(i, bytes), &other, NULL),
				 0);
		assert_int_equal(side_get(s, key, &found, NULL, NULL), 0);
		free(found);
	}
	side_close(s);
}

static void test_rotten_pieces(void **state)
{
	static uint8_t bytes[5000];
	struct side *s = open_side();
	uint64_t keys[40];
	size_t lost = 0;
	int file;

	(void)state;
	for (uint64_t i = 0; i < 40; i++)
		assert_int_equal(
			side_put(s, SIDE_TEXT, bytes, make_bytes(i, bytes), &keys[i], NULL), 0);
	side_close(s);
	file = openat(fd, "side", O_RDWR);
	for (off_t slot = 1; slot < SLOTS; slot += 40)
		assert_int_equal(
			pwrite(file, "x", 1, 2 * RING_SUPERBLOCK + slot * RING_RECORD + 100), 1);
	close(file);
	s = open_side();
	for (uint64_t i = 0; i < 40; i++) {
		size_t size = make_bytes(i, bytes), n;
		void *found;
		uint64_t key;

		if (side_get(s, keys[i], &found, &n, NULL) == 0) {
			assert_int_equal(n, size);
			assert_memory_equal(found, bytes, size);
			free(found);
			continue;
		}
		lost++;
		/* Put again it is there again. */
		assert_int_equal(side_put(s, SIDE_TEXT, bytes, size, &key, NULL), 0);
		assert_int_equal(key, keys[i]);
		assert_int_equal(side_get(s, key, &found, &n, NULL), 0);
		free(found);
	}
	assert_in_range(lost, 1, 7);
	side_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_once_each, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_too_large, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_whole_or_not_there, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_what_is_used_stays, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_rotten_pieces, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("side", tests, NULL, NULL);
}
