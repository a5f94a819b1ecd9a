/* SPDX-License-Identifier: MIT */
/*
 * The store as a whole: what it does when it cannot keep, and what it keeps through every change.
 */
#include "unit.h"

#include <systemd/sd-id128.h>

#include "bench/bench.h"
#include "store/internal.h"
#include "util/log.h"

static sd_event *event;

static int set_up(void **state)
{
	char *directory = unit_make_dir();

	log_set_level(LOG_ERR);
	*state = directory;
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

static struct store *make(const char *directory, uint64_t size)
{
	struct store_options options = { .directory = directory, .size = size };
	struct store *s = NULL;

	assert_int_equal(store_new(event, &options, &s, NULL), 0);
	return s;
}

static struct store *open_store(const char *directory, uint64_t size)
{
	struct store *s = make(directory, size);
	struct fail f = { 0 };

	if (store_open(s, &f) < 0)
		fail_msg("%s", f.message);
	return s;
}

static void append(struct store *s, uint64_t job, int n)
{
	struct fail f = { 0 };

	for (int i = 0; i < n; i++) {
		struct record r = { .kind = RECORD_SAMPLE, .job = job, .block = (uint32_t)i };

		if (store_append(s, &r, &f) < 0)
			fail_msg("%s", f.message);
		assert_true(r.realtime_ns > 0 && r.boottime_ns > 0);
	}
}

static uint64_t whole(struct store *s)
{
	_cleanup_(json_decrefp) json_t *root = NULL;
	struct fail f = { 0 };

	if (store_check(s, &root, &f) < 0)
		fail_msg("%s", f.message);
	return (uint64_t)json_integer_value(json_object_get(root, "whole"));
}

static void test_nothing_is_made_before_it_is_needed(void **state)
{
	_cleanup_free_ char *path = NULL;
	_cleanup_(json_decrefp) json_t *root = NULL;
	struct store_view view;
	struct store *s;

	assert_true(asprintf(&path, "%s/a/b", (char *)*state) > 0);
	s = make(path, 0);
	assert_int_equal(store_look(s, &view, NULL), 0);
	assert_null(view.ring);
	assert_int_equal(store_check(s, &root, NULL), 0);
	assert_null(store_trouble(s));
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(store_open(s, NULL), 1);
	append(s, 1, 3);
	assert_int_equal(whole(s), 3);
	store_free(s);
}

static void test_without_a_place(void **state)
{
	struct store_options options = { .why_not = "nobody said where" };
	struct record r = { .kind = RECORD_SAMPLE };
	struct store_view view;
	struct store *s = NULL;
	struct fail f = { 0 };

	(void)state;
	assert_int_equal(store_new(event, &options, &s, &f), 0);
	assert_true(store_open(s, &f) < 0);
	assert_string_equal(f.message, "nobody said where");
	assert_true(store_append(s, &r, &f) < 0);
	assert_int_equal(f.code, SCHEDLAB_ERROR_STORE_UNAVAILABLE);
	assert_int_equal(store_put(s, SIDE_TEXT, "x", 1), 0);
	assert_true(store_look(s, &view, &f) < 0);
	assert_int_equal(store_sync(s, NULL, NULL), 0);
	assert_false(store_sync_is_due(s));
	store_free(s);
}

/* Whoever looks at its name, nothing is read or written. */
static void test_an_empty_name(void **state)
{
	struct store *s = make("", 0);
	json_t *root = store_to_json(s);
	struct fail f = { 0 };

	(void)state;
	assert_contains(json_string_value(json_object_get(root, "why")), "an empty text");
	json_decref(root);
	assert_true(store_open(s, &f) < 0);
	assert_contains(f.message, "an empty text");
	store_free(s);
}

static void test_the_highest_job(void **state)
{
	struct store *s = open_store(*state, MIB);

	append(s, 7, 3);
	append(s, 5, 2);
	assert_int_equal(store_highest_job(s), 7);
	store_free(s);
	s = open_store(*state, MIB);
	assert_int_equal(store_highest_job(s), 7);
	store_free(s);
}

static void test_sizes(void **state)
{
	static const uint64_t sizes[] = { 2 * MIB, MIB, 1500000, 3 * MIB, MIB + 511 };
	struct store *s = open_store(*state, MIB);
	uint64_t left = 2048, key = store_put(s, SIDE_TEXT, "a text", 6);
	struct fail f = { 0 };

	append(s, 1, 3000);
	store_free(s);
	for (size_t i = 0; i < ELEMENTSOF(sizes); i++) {
		_cleanup_free_ void *text = NULL;
		struct store_view view;

		s = open_store(*state, sizes[i]);
		assert_int_equal(ring_slots(s->ring), sizes[i] / RING_RECORD);
		left = MIN_OF(left, sizes[i] / RING_RECORD);
		assert_int_equal(whole(s), left);
		assert_int_equal(ring_next(s->ring), 3001);
		assert_int_equal(ring_first(s->ring), 3001 - left);
		assert_int_equal(store_look(s, &view, &f), 0);
		assert_int_equal(side_get(view.side, key, &text, NULL, NULL), 0);
		assert_string_equal(text, "a text");
		/* The configuration would win at the next start. */
		assert_true(store_resize(s, 4 * MIB, &f) < 0);
		assert_int_equal(f.code, SCHEDLAB_ERROR_INVALID_ARGUMENT);
		store_free(s);
	}
	s = open_store(*state, 0);
	assert_int_equal(store_resize(s, 4 * MIB, &f), 0);
	append(s, 2, 1);
	assert_int_equal(whole(s), left + 1);
	assert_int_equal(store_clear(s, &left, &f), 0);
	assert_int_equal(left, 2049);
	assert_int_equal(whole(s), 0);
	assert_int_equal(ring_slots(s->ring), 4 * MIB / RING_RECORD);
	/* Numbers of jobs do not begin again while the daemon lives. */
	assert_int_equal(store_highest_job(s), 2);
	store_free(s);
}

/* A file with another machine's id, or with none. */
static void make_file(const char *directory, const uint8_t id[16])
{
	struct ring_options options = { .kind = STORE_KIND, .slots = 2048 };
	int fd = open(directory, O_RDONLY | O_DIRECTORY);
	struct ring_report report;
	struct ring *r = NULL;
	uint8_t body[RING_BODY_SIZE] = { RECORD_SAMPLE };

	memcpy(options.machine_id, id, sizeof(options.machine_id));
	assert_int_equal(ring_open(fd, STORE_FILE, &options, &r, &report, NULL), 0);
	assert_int_equal(ring_append(r, body, NULL, NULL), 0);
	ring_close(r);
	close(fd);
}

static void test_another_machines_file(void **state)
{
	static const uint8_t other[16] = { 1, 2, 3 };
	_cleanup_(json_decrefp) json_t *root = NULL;
	struct store *s;
	sd_id128_t id;

	if (sd_id128_get_machine(&id) < 0)
		skip(); /* a machine without an id cannot tell */
	make_file(*state, other);
	s = open_store(*state, MIB);
	assert_int_equal(whole(s), 0);
	assert_int_equal(store_check(s, &root, NULL), 0);
	assert_int_equal(json_array_size(json_object_get(root, "set_aside")), 1);
	store_free(s);
}

static void test_a_file_of_a_machine_without_an_id(void **state)
{
	static const uint8_t none[16];
	struct store *s;

	make_file(*state, none);
	s = open_store(*state, MIB);
	assert_int_equal(whole(s), 1);
	store_free(s);
}

static void test_two_writers(void **state)
{
	struct store *first = open_store(*state, MIB), *second = make(*state, MIB);
	struct record r = { .kind = RECORD_SAMPLE };
	struct fail f = { 0 };
	uint64_t removed;

	append(first, 1, 5);
	assert_true(store_open(second, &f) < 0);
	assert_int_equal(f.code, SCHEDLAB_ERROR_BUSY);
	assert_true(store_append(second, &r, &f) < 0);
	assert_true(store_resize(second, MIB, &f) < 0);
	assert_true(store_clear(second, &removed, &f) < 0);
	assert_int_equal(whole(second), 5);
	assert_string_not_equal(store_trouble(second), "");
	/* A new size makes a new file: the lock is on that as well. */
	assert_int_equal(store_clear(first, &removed, &f), 0);
	assert_true(store_open(second, &f) < 0);
	store_free(first);
	assert_int_equal(store_open(second, &f), 1);
	assert_null(store_trouble(second));
	append(second, 1, 1);
	store_free(second);
}

static void test_taken_away(void **state)
{
	_cleanup_free_ char *path = NULL;
	struct store *s = open_store(*state, MIB);

	append(s, 1, 5);
	assert_true(asprintf(&path, "%s/" STORE_FILE, (char *)*state) > 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(store_open(s, NULL), 1);
	append(s, 2, 1);
	assert_int_equal(whole(s), 1);
	store_free(s);
}

static void on_synced(void *userdata)
{
	*(bool *)userdata = true;
}

static void test_syncing(void **state)
{
	struct store *s = open_store(*state, MIB);
	bool done = false, forgotten = false;

	/* Nothing is waited for where nothing was added. */
	assert_int_equal(store_sync(s, on_synced, &done), 0);
	append(s, 1, 5);
	assert_int_equal(store_sync(s, on_synced, &done), 1);
	/* One at a time; nobody waits for another's. */
	assert_int_equal(store_sync(s, on_synced, &done), 0);
	append(s, 1, 1);
	while (!done)
		assert_true(sd_event_run(event, UINT64_MAX) >= 0);
	/* What came meanwhile is synced as well, by another. */
	assert_true(s->sync != NULL);
	done = false;
	while (s->sync)
		assert_true(sd_event_run(event, UINT64_MAX) >= 0);
	assert_false(done);
	assert_int_equal(store_sync(s, on_synced, &done), 0);
	append(s, 1, 1);
	assert_int_equal(store_sync(s, on_synced, &forgotten), 1);
	store_forget(s, &forgotten);
	while (s->sync)
		assert_true(sd_event_run(event, UINT64_MAX) >= 0);
	assert_false(forgotten);
	append(s, 1, 1);
	assert_int_equal(store_sync(s, on_synced, &done), 1);
	store_free(s); /* while it goes on */
}

static void test_the_clock_steps_back(void **state)
{
	struct store *s = open_store(*state, MIB);
	_cleanup_(json_decrefp) json_t *root = NULL;
	uint8_t body[RING_BODY_SIZE];

	for (uint64_t i = 0; i < 10; i++) {
		struct record r = { .kind = RECORD_SAMPLE,
				    .realtime_ns =
					    (i == 4 || i == 7 ? 500 : 1000 + i) * NSEC_PER_SEC };

		record_encode(&r, body);
		assert_int_equal(ring_append(s->ring, body, NULL, NULL), 0);
	}
	assert_int_equal(store_check(s, &root, NULL), 0);
	assert_int_equal(json_integer_value(json_object_get(root, "clock_steps_back")), 2);
	assert_int_equal(json_integer_value(json_object_get(root, "oldest_usec")), 500000000);
	assert_int_equal(json_integer_value(json_object_get(root, "newest_usec")), 1009000000);
	store_free(s);
}

/* A metric whose unit has no code would be kept as not measured. */
static void test_every_benchmark_fits_a_record(void **state)
{
	(void)state;
	for (size_t i = 0; i < bench_count(); i++) {
		const struct bench *b = bench_get(i);

		assert_true(strlen(b->name) <= RECORD_BENCHMARK);
		assert_true(b->n_metrics <= RECORD_METRICS);
		for (size_t m = 0; m < b->n_metrics; m++)
			assert_int_not_equal(record_unit(b->metrics[m].unit), 0);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_nothing_is_made_before_it_is_needed),
		TEST(test_without_a_place),
		TEST(test_an_empty_name),
		TEST(test_the_highest_job),
		TEST(test_sizes),
		TEST(test_another_machines_file),
		TEST(test_a_file_of_a_machine_without_an_id),
		TEST(test_two_writers),
		TEST(test_taken_away),
		TEST(test_syncing),
		TEST(test_the_clock_steps_back),
		cmocka_unit_test(test_every_benchmark_fits_a_record),
	};

	return cmocka_run_group_tests_name("store", tests, NULL, NULL);
}
