/* SPDX-License-Identifier: MIT */
/*
 * Asking against a model that looks at every record by hand.
 */
#include "unit.h"

#include "store/query.h"
#include "util/random.h"

#define SLOTS   256
#define RECORDS 700

static const struct ring_options options = { .kind = 1, .slots = SLOTS, .machine_id = "machine" };
static const char *const benchmarks[] = { "switch", "cacheline", "producer-consumer" };
static const char *const classes[] = { "self", "l3", "l3:P-E", "numa-21" };

static struct record model[RECORDS + 1];
static char *directory;
static int fd;

static int set_up(void **state)
{
	struct ring_report report;
	struct random random = { 4 };
	struct fail f = { 0 };
	struct ring *r = NULL;

	directory = unit_make_dir();
	fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (ring_open(fd, "ring", &options, &r, &report, &f) < 0)
		return -1;
	for (uint64_t i = 1; i <= RECORDS; i++) {
		struct record *m = &model[i];
		uint8_t body[RING_BODY_SIZE];

		*m = (struct record){ .kind = (enum record_kind)(1 + random_below(&random, 4)),
				      .realtime_ns =
					      1000 * i - random_below(&random, 5000) % (1000 * i),
				      .job = 1 + random_below(&random, 20),
				      .experiment = random_below(&random, 3),
				      .arm = (uint16_t)random_below(&random, 2),
				      .parameters = 1 + random_below(&random, 2),
				      .fingerprint = 1 + random_below(&random, 2),
				      .waker = (uint32_t)random_below(&random, 3),
				      .wakee = (uint32_t)random_below(&random, 3) };
		(void)snprintf(m->benchmark, sizeof(m->benchmark), "%s",
			       benchmarks[random_below(&random, ELEMENTSOF(benchmarks))]);
		(void)snprintf(m->class_id, sizeof(m->class_id), "%s",
			       classes[random_below(&random, ELEMENTSOF(classes))]);
		m->sequence = i;
		record_encode(m, body);
		if (ring_append(r, body, NULL, &f) < 0)
			return -1;
	}
	*state = r;
	return 0;
}

static int tear_down(void **state)
{
	ring_close(*state);
	close(fd);
	unit_remove_dir(directory);
	free(directory);
	return 0;
}

static bool fits(const struct record *m, const struct query_filter *q)
{
	if (q->kinds && !(q->kinds & 1U << m->kind))
		return false;
	if (m->realtime_ns < q->since_ns || (q->until_ns && m->realtime_ns >= q->until_ns))
		return false;
	if (q->benchmark && strcmp(q->benchmark, m->benchmark) != 0)
		return false;
	if (q->n_classes > 0) {
		bool found = false;

		for (size_t i = 0; i < q->n_classes; i++)
			found |= strcmp(q->classes[i], m->class_id) == 0;
		if (!found)
			return false;
	}
	if (q->n_pairs > 0) {
		bool found = false;

		for (size_t i = 0; i < q->n_pairs; i++)
			found |= q->pairs[i].waker == m->waker && q->pairs[i].wakee == m->wakee;
		if (!found)
			return false;
	}
	if ((q->job && q->job != m->job) || (q->experiment && q->experiment != m->experiment))
		return false;
	if (q->parameters && q->parameters != m->parameters)
		return false;
	if (q->by_fingerprint) {
		bool found = false;

		for (size_t i = 0; i < q->n_fingerprints; i++)
			found |= q->fingerprints[i] == m->fingerprint;
		if (!found)
			return false;
	}
	return q->arm < 0 || q->arm == m->arm;
}

struct visited {
	uint64_t sequences[RECORDS];
	size_t n;
};

static int note(const struct record *record, void *userdata)
{
	struct visited *v = userdata;

	assert_string_equal(record->benchmark, model[record->sequence].benchmark);
	assert_int_equal(record->job, model[record->sequence].job);
	v->sequences[v->n++] = record->sequence;
	return 0;
}

/* In pages of @limit: each that fits once, in order. */
static void check(const struct ring *r, const struct query_filter *q, uint64_t limit)
{
	struct visited visited = { .n = 0 };
	struct query_counts counts;
	uint64_t cursor = 0;
	size_t n = 0;

	while (cursor < ring_next(r)) {
		size_t before = visited.n;

		assert_int_equal(query_page(r, q, &cursor, limit, note, &visited, &counts, NULL),
				 0);
		assert_int_equal(counts.fitting, visited.n - before);
		assert_int_equal(counts.rotten, 0);
		assert_true(limit == 0 || counts.fitting <= limit);
	}
	for (uint64_t s = ring_first(r); s < ring_next(r); s++) {
		if (!fits(&model[s], q))
			continue;
		assert_true(n < visited.n);
		assert_int_equal(visited.sequences[n++], s);
	}
	assert_int_equal(n, visited.n);
}

static void test_every_filter(void **state)
{
	static const char *const beginning = "l";
	static const uint64_t fingerprints[] = { 1, 3, 2, 1, 0 };
	struct query_filter q = query_any();

	check(*state, &q, 0);
	check(*state, &q, 1);
	for (uint64_t seed = 1; seed < 3000; seed++) {
		struct random random = { seed };
		struct query_pair pairs[2];

		q = query_any();
		if (random_below(&random, 3) == 0)
			q.kinds = (uint32_t)random_below(&random, 32);
		if (random_below(&random, 3) == 0)
			q.since_ns = random_below(&random, 1000 * RECORDS);
		if (random_below(&random, 3) == 0)
			q.until_ns = random_below(&random, 1000 * RECORDS);
		if (random_below(&random, 3) == 0)
			q.benchmark = benchmarks[random_below(&random, ELEMENTSOF(benchmarks))];
		q.classes = classes + random_below(&random, 3);
		q.n_classes = random_below(&random, 3);
		for (size_t i = 0; i < ELEMENTSOF(pairs); i++)
			pairs[i] = (struct query_pair){ (uint32_t)random_below(&random, 3),
							(uint32_t)random_below(&random, 3) };
		q.pairs = pairs;
		q.n_pairs = random_below(&random, 5) == 0 ? random_below(&random, 3) : 0;
		if (random_below(&random, 5) == 0)
			q.job = random_below(&random, 22);
		if (random_below(&random, 5) == 0)
			q.experiment = random_below(&random, 3);
		q.by_fingerprint = random_below(&random, 3) == 0;
		q.fingerprints = fingerprints + random_below(&random, 3);
		q.n_fingerprints = random_below(&random, 3);
		if (random_below(&random, 3) == 0)
			q.parameters = random_below(&random, 4);
		if (random_below(&random, 3) == 0)
			q.arm = (int32_t)random_below(&random, 3);
		check(*state, &q, random_below(&random, 40));
	}
	/* A class is not its beginning. */
	q = query_any();
	q.classes = &beginning;
	q.n_classes = 1;
	check(*state, &q, 0);
}

static int stop(const struct record *record, void *userdata)
{
	(void)record;
	(void)userdata;
	return -EINTR;
}

static void test_a_visitor_may_end_it(void **state)
{
	struct query_filter q = query_any();
	struct query_counts counts;
	uint64_t cursor = 0;

	assert_int_equal(query_page(*state, &q, &cursor, 0, stop, NULL, &counts, NULL), -EINTR);
	assert_int_equal(counts.fitting, 1);
	assert_int_equal(cursor, ring_first(*state) + 1);
}

/* While a reader is on its way more is written: nothing twice, nothing wrong, the overwritten is not served. */
static void test_appending_between_pages(void **state)
{
	struct query_filter q = query_any();
	struct query_counts counts;
	struct visited v = { .n = 0 };
	uint64_t cursor = 0, next = ring_next(*state);

	assert_int_equal(query_page(*state, &q, &cursor, 10, note, &v, &counts, NULL), 0);
	for (uint64_t i = 0; i < 100; i++) {
		uint8_t body[RING_BODY_SIZE];

		record_encode(&model[1], body);
		assert_int_equal(ring_append(*state, body, NULL, NULL), 0);
	}
	assert_int_equal(query_page(*state, &q, &cursor, 20, note, &v, &counts, NULL), 0);
	for (size_t i = 1; i < v.n; i++)
		assert_true(v.sequences[i] > v.sequences[i - 1]);
	assert_int_equal(v.sequences[9], next - SLOTS + 9);
	assert_int_equal(v.sequences[10], next + 100 - SLOTS);
}

static void test_rotten_ones_are_counted_not_served(void **state)
{
	struct query_filter q = query_any();
	struct query_counts counts;
	struct visited v = { .n = 0 };
	uint64_t cursor = 0;
	int file = openat(fd, "ring", O_WRONLY);

	/* In the metrics: what records are chosen by is as it was. */
	for (uint64_t slot = 3; slot < SLOTS; slot += 50)
		assert_int_equal(pwrite(file, "x", 1,
					(off_t)(2 * RING_SUPERBLOCK + slot * RING_RECORD + 300)),
				 1);
	close(file);
	assert_int_equal(query_page(*state, &q, &cursor, 0, note, &v, &counts, NULL), 0);
	assert_int_equal(counts.rotten, 6);
	assert_int_equal(counts.fitting, SLOTS - 6);
	q.job = 77;
	cursor = 0;
	assert_int_equal(query_page(*state, &q, &cursor, 0, note, &v, &counts, NULL), 0);
	assert_int_equal(counts.rotten, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_every_filter, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_visitor_may_end_it, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_appending_between_pages, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_rotten_ones_are_counted_not_served, set_up,
						tear_down),
	};

	return cmocka_run_group_tests_name("query", tests, NULL, NULL);
}
