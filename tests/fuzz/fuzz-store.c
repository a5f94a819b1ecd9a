/* SPDX-License-Identifier: MIT */
/*
 * The store's readers: files of any bytes, and records of any bytes in whole slots.
 *
 * The first byte chooses. A file: what follows overwrites a file that was whole, from an offset on; it is
 * opened to be looked at and to be written. Records: what follows is cut into bodies, and entries of the side
 * file, which are asked for as a client does.
 */
#include "fuzz.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "measure/recall.h"
#include "store/store.h"
#include "util/log.h"

#define SLOTS 64

static const struct ring_options options = { .kind = 1, .slots = SLOTS, .machine_id = "fuzz" };
static char directory[64];
static int directory_fd = -1;

static void remove_directory(void)
{
	(void)unlinkat(directory_fd, "ring", 0);
	(void)unlinkat(directory_fd, "side", 0);
	(void)rmdir(directory);
}

static void set_up(void)
{
	(void)snprintf(directory, sizeof(directory), "%s/schedlab-fuzz-XXXXXX",
		       access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	fuzz_check(mkdtemp(directory) != NULL);
	directory_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fuzz_check(directory_fd >= 0);
	log_set_level(LOG_ERR);
	(void)atexit(remove_directory);
}

static int look(const struct record *record, void *userdata)
{
	json_t *json = recall_record(userdata, record);

	fuzz_check(json != NULL);
	json_decref(json);
	return 0;
}

/* All that a client can ask of it. */
static void ask(const struct ring *ring, const struct side *side)
{
	struct store_view view = { .ring = ring, .side = side };
	_cleanup_(recall_freep) struct recall *recall = NULL;
	struct query_filter all = query_any();
	struct query_counts counts;
	struct fail f;
	json_t *job = NULL;
	uint64_t cursor = 0;

	fuzz_check(recall_new(&view, &recall, &f) >= 0);
	fuzz_check(query_page(ring, &all, &cursor, 0, look, recall, &counts, &f) >= 0);
	fuzz_check(counts.fitting <= ring_slots(ring));
	if (recall_job(&view, 1, &job, &f) >= 0)
		json_decref(job);
}

static void make(const char *name, bool as_side)
{
	struct ring_report report;
	struct ring *ring = NULL;
	struct side *side = NULL;
	struct fail f;
	uint64_t key;

	(void)unlinkat(directory_fd, name, 0);
	if (as_side) {
		fuzz_check(side_open(directory_fd, name, &options, &side, &report, &f) >= 0);
		fuzz_check(side_put(side, SIDE_TEXT, "a text", 6, &key, &f) >= 0);
		fuzz_check(side_put(side, SIDE_FINGERPRINT, "{\"id\":\"1\"}", 10, &key, &f) >= 0);
		side_close(side);
		return;
	}
	fuzz_check(ring_open(directory_fd, name, &options, &ring, &report, &f) >= 0);
	for (uint64_t i = 0; i < 3; i++) {
		struct record record = { .kind = RECORD_SAMPLE, .job = 1 };
		uint8_t body[RING_BODY_SIZE];

		record_encode(&record, body);
		fuzz_check(ring_append(ring, body, NULL, &f) >= 0);
	}
	ring_close(ring);
}

static void overwrite(const char *name, const uint8_t *data, size_t size)
{
	_cleanup_fd_ int fd = openat(directory_fd, name, O_WRONLY | O_CLOEXEC);
	uint32_t at = 0;

	memcpy(&at, data, MIN_OF(size, sizeof(at)));
	at %= 2 * RING_SUPERBLOCK + SLOTS * RING_RECORD;
	data += MIN_OF(size, sizeof(at));
	size -= MIN_OF(size, sizeof(at));
	fuzz_check(fd >= 0 && pwrite(fd, data, size, at) == (ssize_t)size);
	if (size == 0)
		fuzz_check(ftruncate(fd, at) == 0);
}

/* However it is opened, either it is refused, or what is asked of it is answered. */
static void open_and_ask(bool read_only)
{
	struct ring_options how = options;
	struct ring_report report;
	struct ring *ring = NULL;
	struct side *side = NULL;
	struct fail f;

	how.read_only = read_only;
	if (ring_open(directory_fd, "ring", &how, &ring, &report, &f) < 0)
		return;
	if (report.set_aside[0] != '\0')
		(void)unlinkat(directory_fd, report.set_aside, 0);
	if (side_open(directory_fd, "side", &how, &side, &report, &f) < 0)
		side = NULL;
	else if (report.set_aside[0] != '\0')
		(void)unlinkat(directory_fd, report.set_aside, 0);
	ask(ring, side);
	side_close(side);
	ring_close(ring);
}

static void files(const uint8_t *data, size_t size, bool of_side)
{
	make("ring", false);
	make("side", true);
	overwrite(of_side ? "side" : "ring", data, size);
	open_and_ask(true);
	open_and_ask(false);
}

static void records(const uint8_t *data, size_t size)
{
	struct ring_report report;
	struct ring *ring = NULL;
	struct side *side = NULL;
	struct fail f;

	make("ring", false);
	make("side", true);
	fuzz_check(ring_open(directory_fd, "ring", &options, &ring, &report, &f) >= 0);
	fuzz_check(side_open(directory_fd, "side", &options, &side, &report, &f) >= 0);
	while (size > 1) {
		uint8_t body[RING_BODY_SIZE] = { 0 }, kind = *data;
		uint64_t key;
		size_t n = MIN_OF(size - 1, sizeof(body) - 1);

		/* A piece of the input is an entry, and the record that has it for all its texts. */
		memcpy(body, data + 1, n);
		fuzz_check(side_put(side, kind & 1 ? SIDE_TEXT : SIDE_FINGERPRINT, data + 1, n,
				    &key, &f) >= 0);
		for (size_t at = 464; kind & 2 && at < 504; at += 8)
			memcpy(body + at - RING_BODY, &key, sizeof(key));
		if (kind & 4)
			memset(body + 40 - RING_BODY, 0, 8), body[40 - RING_BODY] = 1;
		fuzz_check(ring_append(ring, body, NULL, &f) >= 0);
		data += 1 + n;
		size -= 1 + n;
	}
	ask(ring, side);
	side_close(side);
	ring_close(ring);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (directory_fd < 0)
		set_up();
	if (size < 1)
		return 0;
	if (data[0] % 3 == 2)
		records(data + 1, size - 1);
	else
		files(data + 1, size - 1, data[0] % 3 == 1);
	return 0;
}
