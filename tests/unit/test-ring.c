/* SPDX-License-Identifier: MIT */
/*
 * The ring file against a model: whatever is cut off, torn, flipped or killed, no record is ever wrong, and
 * none is lost but the one that was being written and the one that it overwrites.
 */
#include "unit.h"

#include <endian.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <xxhash.h>

#include "store/ring.h"
#include "util/random.h"

#define SLOTS 64
#define SIZE  (2 * RING_SUPERBLOCK + SLOTS * RING_RECORD)
#define KIND  7

static const struct ring_options options = { .kind = KIND,
					     .slots = SLOTS,
					     .machine_id = "machine" };

struct place {
	char *path;
	int fd;
};

static int set_up(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	p->path = unit_make_dir();
	p->fd = open(p->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	*state = p;
	return p->fd < 0;
}

static int tear_down(void **state)
{
	struct place *p = *state;

	close(p->fd);
	unit_remove_dir(p->path);
	free(p->path);
	free(p);
	return 0;
}

/* A body that tells its sequence in every byte. */
static void make_body(uint64_t sequence, uint64_t salt, uint8_t body[RING_BODY_SIZE])
{
	struct random r = { sequence * 1000003 + salt };

	for (size_t i = 0; i < RING_BODY_SIZE; i += 8) {
		uint64_t word = random_next(&r);

		memcpy(body + i, &word, RING_BODY_SIZE - i < 8 ? RING_BODY_SIZE - i : 8);
	}
}

static struct ring *open_ring(const struct place *p, const char *name, struct ring_report *report)
{
	struct ring_report unused;
	struct fail f = { 0 };
	struct ring *r = NULL;

	if (ring_open(p->fd, name, &options, &r, report ? report : &unused, &f) < 0)
		fail_msg("cannot open: %s", f.message);
	return r;
}

static void append(struct ring *r, uint64_t salt, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint8_t body[RING_BODY_SIZE];
		uint64_t sequence = 0, expected = ring_next(r);

		make_body(expected, salt, body);
		assert_int_equal(ring_append(r, body, &sequence, NULL), 0);
		assert_int_equal(sequence, expected);
	}
}

static void load(const struct place *p, const char *name, uint8_t image[SIZE])
{
	int fd = openat(p->fd, name, O_RDONLY);

	assert_int_equal(read(fd, image, SIZE), SIZE);
	close(fd);
}

static void store(const struct place *p, const char *name, const uint8_t image[SIZE])
{
	int fd = openat(p->fd, name, O_WRONLY | O_CREAT | O_TRUNC, 0640);

	assert_int_equal(write(fd, image, SIZE), SIZE);
	close(fd);
}

/* Opens an image: each record that is served is the one that was written under its sequence. Returns how
 * many are, and marks them in @served (by sequence, up to @n). */
static size_t count_served(const struct place *p, const uint8_t image[SIZE], uint64_t salt,
			   bool *served, size_t n)
{
	struct ring *r;
	size_t count = 0;

	store(p, "image", image);
	r = open_ring(p, "image", NULL);
	memset(served, 0, n * sizeof(*served));
	for (uint64_t sequence = 1; sequence < ring_next(r); sequence++) {
		uint8_t body[RING_BODY_SIZE], expected[RING_BODY_SIZE];

		if (ring_read(r, sequence, body) < 0)
			continue;
		make_body(sequence, salt, expected);
		assert_memory_equal(body, expected, sizeof(body));
		assert_true(sequence < n);
		served[sequence] = true;
		count++;
	}
	ring_close(r);
	return count;
}

static void test_what_was_written_is_read(void **state)
{
	struct ring_report report;
	struct ring *r = open_ring(*state, "ring", &report);
	uint8_t body[RING_BODY_SIZE], expected[RING_BODY_SIZE];

	assert_true(report.created && !report.mended && report.empty == SLOTS);
	assert_int_equal(ring_first(r), ring_next(r));
	assert_int_equal(ring_read(r, 1, body), -ENOENT);
	append(r, 0, 3 * SLOTS + 5);
	assert_int_equal(ring_sync(r, NULL), 0);
	assert_int_equal(ring_first(r), 2 * SLOTS + 6);
	assert_int_equal(ring_next(r), 3 * SLOTS + 6);
	ring_close(r);
	r = open_ring(*state, "ring", &report);
	assert_true(!report.created && !report.mended);
	assert_int_equal(report.whole, SLOTS);
	assert_int_equal(ring_next(r), 3 * SLOTS + 6);
	for (uint64_t i = ring_first(r); i < ring_next(r); i++) {
		make_body(i, 0, expected);
		assert_int_equal(ring_read(r, i, body), 0);
		assert_memory_equal(body, expected, sizeof(body));
	}
	assert_int_equal(ring_read(r, 0, body), -ENOENT);
	assert_int_equal(ring_read(r, ring_first(r) - 1, body), -ENOENT);
	assert_int_equal(ring_read(r, ring_next(r), body), -ENOENT);
	ring_continue_after(r, 1000);
	append(r, 0, 1);
	assert_int_equal(ring_next(r), 1002);
	ring_close(r);
}

/* One write, of which only the first or the last bytes came to the disk. */
static void test_a_write_cut_at_every_byte(void **state)
{
	static uint8_t before[SIZE], after[SIZE], image[SIZE];
	bool served[3 * SLOTS];

	for (size_t written = 0; written <= SLOTS + 1; written += written < 2 ? 1 : SLOTS / 2 - 1) {
		struct ring *r = open_ring(*state, "ring", NULL);
		uint64_t offset, lap = written >= SLOTS;

		append(r, 3, written);
		load(*state, "ring", before);
		offset = 2 * RING_SUPERBLOCK + ring_next(r) % SLOTS * RING_RECORD;
		append(r, 3, 1);
		load(*state, "ring", after);
		ring_close(r);
		for (size_t cut = 0; cut <= RING_RECORD; cut++) {
			for (int head = 0; head < 2; head++) {
				size_t n;

				memcpy(image, before, SIZE);
				if (head)
					memcpy(image + offset, after + offset, cut);
				else
					memcpy(image + offset + RING_RECORD - cut,
					       after + offset + RING_RECORD - cut, cut);
				n = count_served(*state, image, 3, served, 3 * SLOTS);
				if (cut == RING_RECORD)
					assert_int_equal(n,
							 written + 1 - lap * (written + 1 - SLOTS));
				else
					assert_in_range(n, MIN_OF(written, SLOTS) - lap,
							MIN_OF(written + 1, SLOTS));
			}
		}
		unlinkat(((struct place *)*state)->fd, "ring", 0);
	}
}

/* Many writes, of which some came to the disk, in any order, one of them in part. */
static void test_a_crash_between_many_writes(void **state)
{
	static uint8_t before[SIZE], after[SIZE], image[SIZE];
	bool served[8 * SLOTS], touched[SLOTS];

	for (uint64_t seed = 1; seed <= 3000; seed++) {
		struct random random = { seed };
		struct ring *r = open_ring(*state, "ring", NULL);
		size_t old = (size_t)random_below(&random, 3 * SLOTS);
		size_t new = 1 + (size_t)random_below(&random, SLOTS / 2);
		uint64_t first;

		append(r, seed, old);
		load(*state, "ring", before);
		first = ring_next(r);
		append(r, seed, new);
		load(*state, "ring", after);
		ring_close(r);
		memcpy(image, before, SIZE);
		memset(touched, 0, sizeof(touched));
		for (size_t i = 0; i < new; i++) {
			size_t slot = (size_t)((first + i) % SLOTS);
			size_t offset = 2 * RING_SUPERBLOCK + slot * RING_RECORD;
			size_t part = random_below(&random, 3) == 0
					      ? (size_t)random_below(&random, RING_RECORD + 1)
					      : random_below(&random, 2) * RING_RECORD;

			memcpy(image + offset, after + offset, part);
			touched[slot] = true;
		}
		(void)count_served(*state, image, seed, served, 8 * SLOTS);
		/* What was not being overwritten is all there, but what the highest says is of old. */
		for (uint64_t i = first > SLOTS ? first - SLOTS : 1; i < first; i++)
			if (!touched[i % SLOTS])
				assert_true(served[i]);
		unlinkat(((struct place *)*state)->fd, "ring", 0);
	}
}

static void test_flipped_bits(void **state)
{
	static uint8_t whole[SIZE], image[SIZE];
	bool served[3 * SLOTS];
	struct ring *r = open_ring(*state, "ring", NULL);

	append(r, 9, 2 * SLOTS);
	ring_close(r);
	load(*state, "ring", whole);
	for (uint64_t seed = 1; seed <= 3000; seed++) {
		struct random random = { seed };
		size_t slot = (size_t)random_below(&random, SLOTS), n;
		size_t byte = 2 * RING_SUPERBLOCK + slot * RING_RECORD +
			      (size_t)random_below(&random, RING_RECORD);

		memcpy(image, whole, SIZE);
		image[byte] ^= (uint8_t)(1 << random_below(&random, 8));
		/* A record that lies in another slot is none. */
		if (seed % 10 == 0)
			memcpy(image + 2 * RING_SUPERBLOCK + slot * RING_RECORD,
			       whole + 2 * RING_SUPERBLOCK + (slot + 1) % SLOTS * RING_RECORD,
			       RING_RECORD);
		n = count_served(*state, image, 9, served, 3 * SLOTS);
		assert_int_equal(n, SLOTS - 1);
		assert_false(served[SLOTS + slot == SLOTS ? 2 * SLOTS : SLOTS + slot]);
	}
}

static void expect_set_aside(struct place *p, const uint8_t image[SIZE], const char *why)
{
	struct ring_report report;
	struct ring *r;
	struct stat st;

	store(p, "ring", image);
	r = open_ring(p, "ring", &report);
	assert_true(report.created);
	assert_contains(report.why, why);
	assert_int_equal(fstatat(p->fd, report.set_aside, &st, 0), 0);
	assert_int_equal(st.st_size, SIZE);
	assert_int_equal(ring_next(r), 1);
	ring_close(r);
}

static void test_files_that_cannot_be_used_are_set_aside(void **state)
{
	static uint8_t whole[SIZE], image[SIZE];
	struct ring *r = open_ring(*state, "ring", NULL);

	append(r, 1, 10);
	ring_close(r);
	load(*state, "ring", whole);
	memset(image, 0xa5, SIZE);
	expect_set_aside(*state, image, "neither of its superblocks is whole");
	memset(image, 0, SIZE);
	expect_set_aside(*state, image, "neither of its superblocks is whole");
	memcpy(image, whole, SIZE);
	image[100] ^= 1;
	image[RING_SUPERBLOCK + 100] ^= 1;
	expect_set_aside(*state, image, "neither of its superblocks is whole");
}

static void test_another_machines_file(void **state)
{
	struct ring_options other = { .kind = KIND, .slots = SLOTS, .machine_id = "another" };
	struct ring_report report;
	struct ring *r = open_ring(*state, "ring", NULL);

	append(r, 1, 10);
	ring_close(r);
	assert_int_equal(ring_open(((struct place *)*state)->fd, "ring", &other, &r, &report, NULL),
			 0);
	assert_contains(report.why, "another machine wrote it");
	assert_int_equal(ring_next(r), 1);
	ring_close(r);
	other = options;
	other.kind++;
	assert_int_equal(ring_open(((struct place *)*state)->fd, "ring", &other, &r, &report, NULL),
			 0);
	assert_true(report.created);
	ring_close(r);
}

static void test_one_superblock_is_enough(void **state)
{
	static uint8_t image[SIZE];

	for (size_t broken = 0; broken < 2; broken++) {
		struct ring_report report;
		struct ring *r = open_ring(*state, "ring", NULL);

		append(r, 1, 10);
		ring_close(r);
		load(*state, "ring", image);
		memset(image + broken * RING_SUPERBLOCK, 0xff, 100);
		store(*state, "ring", image);
		r = open_ring(*state, "ring", &report);
		assert_true(report.mended && !report.created && report.whole == 10);
		ring_close(r);
		r = open_ring(*state, "ring", &report);
		assert_false(report.mended);
		ring_close(r);
		unlinkat(((struct place *)*state)->fd, "ring", 0);
	}
}

static void test_a_file_that_was_cut(void **state)
{
	static const off_t sizes[] = { SIZE - 1, SIZE - RING_RECORD, SIZE - 10 * RING_RECORD - 7,
				       2 * RING_SUPERBLOCK, RING_SUPERBLOCK + 5 };

	for (size_t i = 0; i < ELEMENTSOF(sizes); i++) {
		struct ring_report report;
		struct ring *r = open_ring(*state, "ring", NULL);
		struct stat st;
		int fd;
		size_t left = sizes[i] < 2 * RING_SUPERBLOCK
				      ? 0
				      : (size_t)(sizes[i] - 2 * RING_SUPERBLOCK) / RING_RECORD;

		append(r, 1, SLOTS);
		ring_close(r);
		fd = openat(((struct place *)*state)->fd, "ring", O_WRONLY);
		assert_int_equal(ftruncate(fd, sizes[i]), 0);
		close(fd);
		r = open_ring(*state, "ring", &report);
		assert_true(report.mended);
		/* Sequence 64 lies in slot 0. */
		assert_int_equal(report.whole, left);
		ring_close(r);
		assert_int_equal(fstatat(((struct place *)*state)->fd, "ring", &st, 0), 0);
		assert_int_equal(st.st_size, SIZE);
		unlinkat(((struct place *)*state)->fd, "ring", 0);
	}
}

static void patch_superblocks(struct place *p, size_t offset, uint32_t value)
{
	static uint8_t image[SIZE];

	load(p, "ring", image);
	for (size_t i = 0; i < 2; i++) {
		uint8_t *s = image + i * RING_SUPERBLOCK;
		uint64_t hash;

		value = htole32(value);
		memcpy(s + offset, &value, offset == 8 ? 2 : 4);
		hash = htole64(XXH3_64bits(s, RING_SUPERBLOCK - 8));
		memcpy(s + RING_SUPERBLOCK - 8, &hash, 8);
	}
	store(p, "ring", image);
}

static void test_newer_files_are_refused(void **state)
{
	static const struct {
		size_t offset;
		uint32_t value;
		bool read_only_too;
	} newer[] = { { 8, 2, true }, { 12, 1, false }, { 16, 1, true } };
	struct ring_options reading = options;

	reading.read_only = true;
	for (size_t i = 0; i < ELEMENTSOF(newer); i++) {
		struct ring *r = open_ring(*state, "ring", NULL);
		struct ring_report report;
		struct fail f = { 0 };
		int fd = ((struct place *)*state)->fd;

		append(r, 1, 3);
		ring_close(r);
		patch_superblocks(*state, newer[i].offset, newer[i].value);
		assert_true(ring_open(fd, "ring", &options, &r, &report, &f) < 0);
		assert_int_equal(f.code, SCHEDLAB_ERROR_STORE_UNAVAILABLE);
		assert_contains(f.message, "use a newer schedlab");
		assert_int_equal(ring_open(fd, "ring", &reading, &r, &report, &f) < 0,
				 newer[i].read_only_too);
		if (!newer[i].read_only_too)
			ring_close(r);
		unlinkat(fd, "ring", 0);
	}
}

static void test_one_writer_at_a_time(void **state)
{
	struct ring *first = open_ring(*state, "ring", NULL), *second;
	struct ring_options reading = options;
	struct ring_report report;
	struct fail f = { 0 };
	uint8_t body[RING_BODY_SIZE];
	int fd = ((struct place *)*state)->fd;

	append(first, 1, 5);
	assert_true(ring_open(fd, "ring", &options, &second, &report, &f) < 0);
	assert_int_equal(f.code, SCHEDLAB_ERROR_BUSY);
	assert_contains(f.message, "writes this store");
	reading.read_only = true;
	assert_int_equal(ring_open(fd, "ring", &reading, &second, &report, &f), 0);
	assert_int_equal(ring_read(second, 5, body), 0);
	ring_close(second);
	ring_close(first);
}

static void test_what_stands_in_the_way(void **state)
{
	struct rlimit limit, small = { SIZE / 2, SIZE / 2 };
	struct ring_report report;
	struct fail f = { 0 };
	struct ring *r;
	struct stat st;
	int fd = ((struct place *)*state)->fd;

	assert_int_equal(mkfifoat(fd, "pipe", 0600), 0);
	assert_true(ring_open(fd, "pipe", &options, &r, &report, &f) < 0);
	assert_int_equal(f.code, SCHEDLAB_ERROR_STORE_UNAVAILABLE);
	assert_int_equal(mkdirat(fd, "dir", 0700), 0);
	assert_true(ring_open(fd, "dir", &options, &r, &report, &f) < 0);
	assert_int_equal(symlinkat("pipe", fd, "link"), 0);
	assert_true(ring_open(fd, "link", &options, &r, &report, &f) < 0);
	/* No room: nothing half made is left. */
	(void)signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	small.rlim_max = limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_true(ring_open(fd, "ring", &options, &r, &report, &f) < 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(f.code, SCHEDLAB_ERROR_STORE_UNAVAILABLE);
	assert_contains(f.message, "cannot make room for the store ring");
	assert_true(fstatat(fd, "ring", &st, 0) < 0);
}

/* SIGKILL while appending, again and again: all before is there, and each is right. */
static void test_killed_while_appending(void **state)
{
	uint64_t highest = 0;

	/* Until it has gone round, however slow the machine is. */
	for (unsigned int i = 0; i < 30 || highest <= SLOTS; i++) {
		uint8_t body[RING_BODY_SIZE], expected[RING_BODY_SIZE];
		struct ring *r;
		pid_t child = fork();

		if (child == 0) {
			r = open_ring(*state, "ring", NULL);
			for (;;)
				append(r, 5, 1);
		}
		usleep(2000 + i * 300);
		kill(child, SIGKILL);
		assert_int_equal(waitpid(child, NULL, 0), child);
		r = open_ring(*state, "ring", NULL);
		assert_true(ring_next(r) >= highest);
		highest = ring_next(r);
		for (uint64_t s = ring_first(r); s < ring_next(r); s++) {
			make_body(s, 5, expected);
			assert_int_equal(ring_read(r, s, body), 0);
			assert_memory_equal(body, expected, sizeof(body));
		}
		ring_close(r);
	}
	assert_true(highest > SLOTS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_what_was_written_is_read, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_write_cut_at_every_byte, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_crash_between_many_writes, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_flipped_bits, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_files_that_cannot_be_used_are_set_aside,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_another_machines_file, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_one_superblock_is_enough, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_file_that_was_cut, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_newer_files_are_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_one_writer_at_a_time, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_what_stands_in_the_way, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_killed_while_appending, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("ring", tests, NULL, NULL);
}
