/* SPDX-License-Identifier: MIT */
/*
 * Records: all fields there and back, the bytes of version 1 as they were written once, codes that stay.
 */
#include "unit.h"

#include "store/record.h"

static const struct ring_options options = { .kind = 1,
					     .slots = RING_SLOTS_MIN,
					     .machine_id = "golden" };

/* Each field another value, so that none can be taken for another. */
static struct record make_record(uint64_t n)
{
	struct record r = {
		.kind = (enum record_kind)(RECORD_SAMPLE + n % 5),
		.flags = n % 2 ? RECORD_FAILED : 0,
		.benchmark_version = (uint16_t)(3 + n),
		.round = (uint32_t)(0x01020304 + n),
		.boot_tag = 0x1111111111111111 + n,
		.realtime_ns = 0x2222222222222222 + n,
		.boottime_ns = 0x3333333333333333 + n,
		.job = 0x4444444444444444 + n,
		.experiment = 0x5555555555555555 + n,
		.block = (uint32_t)(0x66666666 + n),
		.arm = (uint16_t)(0x7777 + n),
		.memory_node_plus_one = (uint16_t)(0x7070 + n),
		.parameters = 0x8888888888888888 + n,
		.fingerprint = 0x9999999999999999 + n,
		.waker = (uint32_t)(0xaaaaaaaa + n),
		.wakee = n % 3 ? (uint32_t)(0xbbbbbbbb + n) : RECORD_NO_CPU,
		.window_ns = 0xcccccccccccccccc + n,
		.taints = (uint32_t)(0xdddddddd + n),
		.row = (uint32_t)(0xd0d0d0d0 + n),
		.spec_key = 0xeeeeeeeeeeeeeeee + n,
		.text_key = 0x0f0f0f0f0f0f0f0f + n,
		.set_key = 0xf0f0f0f0f0f0f0f0 + n,
		.plan_key = 0x1e1e1e1e1e1e1e1e + n,
		.reasons_key = 0x2d2d2d2d2d2d2d2d + n,
	};

	(void)snprintf(r.benchmark, sizeof(r.benchmark), "benchmark-of-24-letters%ju",
		       (uintmax_t)n % 10);
	(void)snprintf(r.class_id, sizeof(r.class_id), "class-%ju", (uintmax_t)n);
	for (size_t i = 0; i < RECORD_METRICS; i++)
		r.metrics[i] =
			(struct record_metric){ (uint16_t)(i + n), 1.5 * (double)i - (double)n };
	for (size_t i = 0; i < RECORD_PROBES; i++)
		r.probes[i] = (struct record_probe){ (uint16_t)(100 + i + n), (float)i / 3 };
	return r;
}

static void assert_same(const struct record *a, const struct record *b)
{
	uint8_t x[RING_BODY_SIZE], y[RING_BODY_SIZE];

	assert_int_equal(a->kind, b->kind);
	assert_string_equal(a->benchmark, b->benchmark);
	assert_string_equal(a->class_id, b->class_id);
	assert_int_equal(a->realtime_ns, b->realtime_ns);
	assert_int_equal(a->set_key, b->set_key);
	assert_int_equal(a->plan_key, b->plan_key);
	assert_int_equal(a->reasons_key, b->reasons_key);
	assert_int_equal(a->row, b->row);
	assert_int_equal(a->memory_node_plus_one, b->memory_node_plus_one);
	assert_true(a->metrics[7].value == b->metrics[7].value);
	assert_true(a->probes[5].value == b->probes[5].value);
	record_encode(a, x);
	record_encode(b, y);
	assert_memory_equal(x, y, sizeof(x));
}

static void test_there_and_back(void **state)
{
	(void)state;
	for (uint64_t n = 0; n < 50; n++) {
		struct record r = make_record(n), back;
		uint8_t body[RING_BODY_SIZE];

		record_encode(&r, body);
		assert_true(record_decode(body, &back));
		assert_same(&r, &back);
		assert_int_equal(back.arm, r.arm);
		assert_int_equal(back.flags, r.flags);
		assert_int_equal(back.wakee, r.wakee);
		assert_int_equal(back.metrics[11].unit, r.metrics[11].unit);
		assert_int_equal(back.probes[0].code, r.probes[0].code);
	}
}

static void test_texts_that_fill_their_place(void **state)
{
	struct record r = { .kind = RECORD_SAMPLE }, back;
	uint8_t body[RING_BODY_SIZE];

	(void)state;
	memset(r.benchmark, 'b', RECORD_BENCHMARK);
	memset(r.class_id, 'c', RECORD_CLASS);
	record_encode(&r, body);
	assert_true(record_decode(body, &back));
	assert_int_equal(strlen(back.benchmark), RECORD_BENCHMARK);
	assert_int_equal(strlen(back.class_id), RECORD_CLASS);
	assert_int_equal(back.metrics[0].unit, 0);
}

static void test_unknown_kinds(void **state)
{
	uint8_t body[RING_BODY_SIZE] = { 0 };
	struct record back;

	(void)state;
	assert_false(record_decode(body, &back));
	body[0] = RECORD_JOB + 1;
	assert_false(record_decode(body, &back));
	assert_string_equal(record_kind_name(back.kind), "unknown");
	assert_string_equal(record_kind_name(RECORD_NOISE_FLOOR), "noise-floor");
	assert_string_equal(record_kind_name(RECORD_JOB), "job");
}

static void test_codes_stay(void **state)
{
	(void)state;
	assert_int_equal(record_unit("ns"), 1);
	assert_int_equal(record_unit("switches/s"), 2);
	assert_int_equal(record_unit("switches/trip"), 3);
	assert_int_equal(record_unit("count"), 11);
	assert_int_equal(record_unit("parsecs"), 0);
	assert_string_equal(record_unit_name(1), "ns");
	assert_string_equal(record_unit_name(0), "?");
	assert_string_equal(record_unit_name(60000), "?");
}

/* tests/golden/store-v1.ring was written once by version 1, on a little-endian machine: 70 records of which
 * the first six are overwritten. SCHEDLAB_WRITE_GOLDEN=1 writes a new one, for a new version only. */
static void test_files_of_version_1(void **state)
{
	struct ring_report report;
	struct fail f = { 0 };
	struct ring *r = NULL;
	int fd = open(GOLDEN, O_RDONLY | O_DIRECTORY);
	bool write = getenv("SCHEDLAB_WRITE_GOLDEN") != NULL;
	struct ring_options how = options;

	(void)state;
	how.read_only = !write;
	if (ring_open(fd, "store-v1.ring", &how, &r, &report, &f) < 0)
		fail_msg("%s", f.message);
	for (uint64_t n = 1; write && n <= 70; n++) {
		struct record record = make_record(n);
		uint8_t body[RING_BODY_SIZE];

		record_encode(&record, body);
		assert_int_equal(ring_append(r, body, NULL, NULL), 0);
	}
	assert_int_equal(ring_next(r), 71);
	assert_int_equal(ring_first(r), 7);
	assert_int_equal(report.whole, write ? 0 : 64);
	for (uint64_t n = 7; n <= 70; n++) {
		struct record expected = make_record(n), found;
		uint8_t body[RING_BODY_SIZE];

		assert_int_equal(ring_read(r, n, body), 0);
		assert_true(record_decode(body, &found));
		assert_same(&found, &expected);
	}
	ring_close(r);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_there_and_back),
		cmocka_unit_test(test_texts_that_fill_their_place),
		cmocka_unit_test(test_unknown_kinds),
		cmocka_unit_test(test_codes_stay),
		cmocka_unit_test(test_files_of_version_1),
	};

	return cmocka_run_group_tests_name("record", tests, NULL, NULL);
}
