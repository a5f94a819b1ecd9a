/* SPDX-License-Identifier: MIT */
/*
 * Records to bytes and back.
 */
#include "store/record.h"

#include <endian.h>
#include <string.h>

/* Offsets in the slot, as record.h has them; the body begins behind the sequence. */
enum {
	AT_KIND = 8,
	AT_FLAGS = 9,
	AT_VERSION = 10,
	AT_ROUND = 12,
	AT_BOOT = 16,
	AT_REALTIME = 24,
	AT_BOOTTIME = 32,
	AT_JOB = 40,
	AT_EXPERIMENT = 48,
	AT_BLOCK = 56,
	AT_ARM = 60,
	AT_MEMORY_NODE = 62,
	AT_PARAMETERS = 64,
	AT_FINGERPRINT = 72,
	AT_WAKER = 80,
	AT_WAKEE = 84,
	AT_WINDOW = 88,
	AT_TAINTS = 96,
	AT_ROW = 100,
	AT_BENCHMARK = 104,
	AT_CLASS = 128,
	AT_METRICS = 224,
	METRIC_SIZE = 16,
	AT_PROBES = 416,
	PROBE_SIZE = 8,
	AT_SPEC = 464,
	AT_TEXT = 472,
	AT_SET = 480,
	AT_PLAN = 488,
	AT_REASONS = 496,
};
_Static_assert(AT_CLASS == AT_BENCHMARK + RECORD_BENCHMARK, "the benchmark fits");
_Static_assert(AT_METRICS == AT_CLASS + RECORD_CLASS, "the class fits");
_Static_assert(AT_PROBES == AT_METRICS + RECORD_METRICS * METRIC_SIZE, "the metrics fit");
_Static_assert(AT_SPEC == AT_PROBES + RECORD_PROBES * PROBE_SIZE, "the probes fit");

/* For ever: a code is never used for another unit. */
static const char *const units[] = {
	NULL,         "ns",         "switches/s", "switches/trip", "iterations/s",
	"requests/s", "messages/s", "MB/s",       "work/s",        "s",
	"us",         "count",      "ratio",
};

static void put16(uint8_t *body, size_t at, uint16_t value)
{
	value = htole16(value);
	memcpy(body + at - RING_BODY, &value, sizeof(value));
}

static void put32(uint8_t *body, size_t at, uint32_t value)
{
	value = htole32(value);
	memcpy(body + at - RING_BODY, &value, sizeof(value));
}

static void put64(uint8_t *body, size_t at, uint64_t value)
{
	value = htole64(value);
	memcpy(body + at - RING_BODY, &value, sizeof(value));
}

static uint16_t get16(const uint8_t *body, size_t at)
{
	uint16_t value;

	memcpy(&value, body + at - RING_BODY, sizeof(value));
	return le16toh(value);
}

static uint32_t get32(const uint8_t *body, size_t at)
{
	uint32_t value;

	memcpy(&value, body + at - RING_BODY, sizeof(value));
	return le32toh(value);
}

static uint64_t get64(const uint8_t *body, size_t at)
{
	uint64_t value;

	memcpy(&value, body + at - RING_BODY, sizeof(value));
	return le64toh(value);
}

static void put_double(uint8_t *body, size_t at, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	put64(body, at, bits);
}

static double get_double(const uint8_t *body, size_t at)
{
	uint64_t bits = get64(body, at);
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static void put_float(uint8_t *body, size_t at, float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	put32(body, at, bits);
}

static float get_float(const uint8_t *body, size_t at)
{
	uint32_t bits = get32(body, at);
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static void put_text(uint8_t *body, size_t at, const char *text, size_t size)
{
	size_t length = strnlen(text, size);

	memcpy(body + at - RING_BODY, text, length);
}

static void get_text(const uint8_t *body, size_t at, char *text, size_t size)
{
	memcpy(text, body + at - RING_BODY, size);
	text[size] = '\0';
}

void record_encode(const struct record *r, uint8_t body[RING_BODY_SIZE])
{
	memset(body, 0, RING_BODY_SIZE);
	body[AT_KIND - RING_BODY] = (uint8_t)r->kind;
	body[AT_FLAGS - RING_BODY] = r->flags;
	put16(body, AT_VERSION, r->benchmark_version);
	put32(body, AT_ROUND, r->round);
	put64(body, AT_BOOT, r->boot_tag);
	put64(body, AT_REALTIME, r->realtime_ns);
	put64(body, AT_BOOTTIME, r->boottime_ns);
	put64(body, AT_JOB, r->job);
	put64(body, AT_EXPERIMENT, r->experiment);
	put32(body, AT_BLOCK, r->block);
	put16(body, AT_ARM, r->arm);
	put16(body, AT_MEMORY_NODE, r->memory_node_plus_one);
	put64(body, AT_PARAMETERS, r->parameters);
	put64(body, AT_FINGERPRINT, r->fingerprint);
	put32(body, AT_WAKER, r->waker);
	put32(body, AT_WAKEE, r->wakee);
	put64(body, AT_WINDOW, r->window_ns);
	put32(body, AT_TAINTS, r->taints);
	put32(body, AT_ROW, r->row);
	put_text(body, AT_BENCHMARK, r->benchmark, RECORD_BENCHMARK);
	put_text(body, AT_CLASS, r->class_id, RECORD_CLASS);
	for (size_t i = 0; i < RECORD_METRICS; i++) {
		put_double(body, AT_METRICS + i * METRIC_SIZE, r->metrics[i].value);
		put16(body, AT_METRICS + i * METRIC_SIZE + 8, r->metrics[i].unit);
	}
	for (size_t i = 0; i < RECORD_PROBES; i++) {
		put16(body, AT_PROBES + i * PROBE_SIZE, r->probes[i].code);
		put_float(body, AT_PROBES + i * PROBE_SIZE + 4, r->probes[i].value);
	}
	put64(body, AT_SPEC, r->spec_key);
	put64(body, AT_TEXT, r->text_key);
	put64(body, AT_SET, r->set_key);
	put64(body, AT_PLAN, r->plan_key);
	put64(body, AT_REASONS, r->reasons_key);
}

bool record_decode(const uint8_t body[RING_BODY_SIZE], struct record *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->kind = (enum record_kind)body[AT_KIND - RING_BODY];
	if (ret->kind < RECORD_SAMPLE || ret->kind > RECORD_JOB)
		return false;
	ret->flags = body[AT_FLAGS - RING_BODY];
	ret->benchmark_version = get16(body, AT_VERSION);
	ret->round = get32(body, AT_ROUND);
	ret->boot_tag = get64(body, AT_BOOT);
	ret->realtime_ns = get64(body, AT_REALTIME);
	ret->boottime_ns = get64(body, AT_BOOTTIME);
	ret->job = get64(body, AT_JOB);
	ret->experiment = get64(body, AT_EXPERIMENT);
	ret->block = get32(body, AT_BLOCK);
	ret->arm = get16(body, AT_ARM);
	ret->memory_node_plus_one = get16(body, AT_MEMORY_NODE);
	ret->parameters = get64(body, AT_PARAMETERS);
	ret->fingerprint = get64(body, AT_FINGERPRINT);
	ret->waker = get32(body, AT_WAKER);
	ret->wakee = get32(body, AT_WAKEE);
	ret->window_ns = get64(body, AT_WINDOW);
	ret->taints = get32(body, AT_TAINTS);
	ret->row = get32(body, AT_ROW);
	get_text(body, AT_BENCHMARK, ret->benchmark, RECORD_BENCHMARK);
	get_text(body, AT_CLASS, ret->class_id, RECORD_CLASS);
	for (size_t i = 0; i < RECORD_METRICS; i++) {
		ret->metrics[i].value = get_double(body, AT_METRICS + i * METRIC_SIZE);
		ret->metrics[i].unit = get16(body, AT_METRICS + i * METRIC_SIZE + 8);
	}
	for (size_t i = 0; i < RECORD_PROBES; i++) {
		ret->probes[i].code = get16(body, AT_PROBES + i * PROBE_SIZE);
		ret->probes[i].value = get_float(body, AT_PROBES + i * PROBE_SIZE + 4);
	}
	ret->spec_key = get64(body, AT_SPEC);
	ret->text_key = get64(body, AT_TEXT);
	ret->set_key = get64(body, AT_SET);
	ret->plan_key = get64(body, AT_PLAN);
	ret->reasons_key = get64(body, AT_REASONS);
	return true;
}

void record_read_key(const uint8_t body[RING_BODY_SIZE], struct record_key *ret)
{
	*ret = (struct record_key){
		.kind = body[AT_KIND - RING_BODY],
		.arm = get16(body, AT_ARM),
		.waker = get32(body, AT_WAKER),
		.wakee = get32(body, AT_WAKEE),
		.realtime_ns = get64(body, AT_REALTIME),
		.job = get64(body, AT_JOB),
		.experiment = get64(body, AT_EXPERIMENT),
		.parameters = get64(body, AT_PARAMETERS),
		.fingerprint = get64(body, AT_FINGERPRINT),
		.benchmark = (const char *)body + AT_BENCHMARK - RING_BODY,
		.class_id = (const char *)body + AT_CLASS - RING_BODY,
	};
}

uint16_t record_unit(const char *name)
{
	for (size_t i = 1; i < ELEMENTSOF(units); i++)
		if (strcmp(units[i], name) == 0)
			return (uint16_t)i;
	return 0;
}

const char *record_unit_name(uint16_t code)
{
	return code > 0 && code < ELEMENTSOF(units) ? units[code] : "?";
}

const char *record_kind_name(enum record_kind kind)
{
	static const char *const names[] = { [RECORD_SAMPLE] = "sample",
					     [RECORD_VERDICT] = "verdict",
					     [RECORD_NOISE_FLOOR] = "noise-floor",
					     [RECORD_CHANGE] = "change",
					     [RECORD_JOB] = "job" };

	return kind >= RECORD_SAMPLE && kind <= RECORD_JOB ? names[kind] : "unknown";
}
