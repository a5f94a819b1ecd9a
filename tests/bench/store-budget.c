/* SPDX-License-Identifier: MIT */
/*
 * The budgets of the store: a full one of 64 MiB is opened in 200 ms (the ring alone, and all that a daemon
 * opens: with a full side file, and the highest job found), a filtered query over 100,000 records takes
 * 20 ms, and memory does not grow with the store, but for 8 bytes a slot of the side file. The file is in the page cache, as that
 * of a running daemon is.
 */
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stats/robust.h"
#include "store/internal.h"
#include "util/clock.h"

#define SLOTS       131072
#define ASKED       100000
#define RUNS        9
#define OPEN_LIMIT  200.0 /* ms */
#define QUERY_LIMIT 20.0

static const struct ring_options options = { .kind = 1, .slots = SLOTS, .machine_id = "bench" };

static double now_ms(void)
{
	return (double)clock_monotonic_ns() / 1e6;
}

static int count(const struct record *record, void *userdata)
{
	*(double *)userdata += record->metrics[0].value;
	return 0;
}

static int fill(int directory)
{
	struct ring_report report;
	struct ring *r = NULL;

	if (ring_open(directory, "ring", &options, &r, &report, NULL) < 0)
		return -1;
	for (uint64_t i = 1; i <= SLOTS + 10; i++) {
		struct record record = { .kind = RECORD_SAMPLE, .realtime_ns = i, .job = i / 100 };
		uint8_t body[RING_BODY_SIZE];

		(void)strcpy(record.benchmark, i % 3 ? "switch" : "cacheline");
		(void)snprintf(record.class_id, sizeof(record.class_id), "class-%ju",
			       (uintmax_t)(i % 20));
		record.metrics[0] = (struct record_metric){ 1, (double)i };
		record_encode(&record, body);
		if (ring_append(r, body, NULL, NULL) < 0)
			return -1;
	}
	ring_close(r);
	return 0;
}

static int report(const char *what, double *ms, double limit, int number)
{
	double median;

	robust_sort(ms, RUNS);
	median = robust_median(ms, RUNS);
	printf("# %s: %.1f ms (median of %d, %.1f to %.1f), at most %.0f\n", what, median, RUNS,
	       ms[0], ms[RUNS - 1], limit);
	printf("%s %d - %s within its time\n", median <= limit ? "ok" : "not ok", number, what);
	return median <= limit ? 0 : 1;
}

/* The side file, as full as it can be. */
static int fill_side(struct store *s)
{
	uint64_t slots = ring_slots(side_ring(s->side));

	for (uint64_t i = 0; i < slots + 10; i++) {
		char text[64];
		int n = snprintf(text, sizeof(text), "text %ju", (uintmax_t)i);

		if (store_put(s, SIDE_TEXT, text, (size_t)n) == 0)
			return -1;
	}
	return 0;
}

/* All that a daemon opens; how much of the heap it keeps to *@ret_heap. */
static int open_all(const char *directory, double *ms, double *ret_heap)
{
	struct store_options o = { .directory = directory };

	for (int i = 0; i < RUNS; i++) {
		struct store *s = NULL;
		double start, heap = (double)mallinfo2().uordblks;

		if (store_new(NULL, &o, &s, NULL) < 0)
			return -1;
		start = now_ms();
		if (store_open(s, NULL) < 0)
			return -1;
		ms[i] = now_ms() - start;
		*ret_heap = (double)(mallinfo2().uordblks + mallinfo2().hblkhd) - heap;
		if (i == 0 && fill_side(s) < 0)
			return -1;
		store_free(s);
	}
	return 0;
}

int main(int argc, char *argv[])
{
	double open_ms[RUNS], query_ms[RUNS], append_us[RUNS], all_ms[RUNS], sum = 0, heap,
									     index = 0;
	static const char *const class = "class-7";
	const double index_max = 8.0 * SLOTS / STORE_SIDE_SHARE + 65536;
	int directory = argc == 3 ? open(argv[1], O_RDONLY | O_DIRECTORY) : -1, bad = 0;

	if (directory < 0 || fill(directory) < 0)
		return 2;
	heap = (double)mallinfo2().uordblks;
	for (int i = 0; i < RUNS; i++) {
		struct query_filter filter = query_any();
		struct query_counts counts;
		struct ring_report unused;
		struct ring *r = NULL;
		uint8_t body[RING_BODY_SIZE] = { 0 };
		double start = now_ms();
		uint64_t cursor;

		if (ring_open(directory, "ring", &options, &r, &unused, NULL) < 0)
			return 2;
		open_ms[i] = now_ms() - start;
		filter.benchmark = "switch";
		filter.classes = &class;
		filter.n_classes = 1;
		cursor = ring_next(r) - ASKED;
		start = now_ms();
		if (query_page(r, &filter, &cursor, 0, count, &sum, &counts, NULL) < 0)
			return 2;
		query_ms[i] = now_ms() - start;
		if (counts.fitting < ASKED / 20 / 2)
			return 2;
		start = now_ms();
		for (int j = 0; j < 1000; j++)
			if (ring_append(r, body, NULL, NULL) < 0)
				return 2;
		append_us[i] = now_ms() - start;
		ring_close(r);
	}
	heap = (double)mallinfo2().uordblks - heap;
	bad += report("opening a full store of 64 MiB", open_ms, OPEN_LIMIT, 1);
	bad += report("a filtered query over 100,000 records", query_ms, QUERY_LIMIT, 2);
	robust_sort(append_us, RUNS);
	printf("# an append takes %.1f us (median of %d)\n", robust_median(append_us, RUNS), RUNS);
	printf("%s 3 - the store keeps no memory (%.0f bytes)\n", heap < 4096 ? "ok" : "not ok",
	       heap);
	if (open_all(argv[2], all_ms, &index) < 0)
		return 2;
	bad += report("opening all of a full store", all_ms, OPEN_LIMIT, 4);
	printf("%s 5 - an index of 8 bytes a slot (%.0f bytes)\n1..5\n",
	       index <= index_max ? "ok" : "not ok", index);
	return bad || heap >= 4096 || index > index_max;
}
