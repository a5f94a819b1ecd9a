/* SPDX-License-Identifier: MIT */
/*
 * What the store keeps of one sample, verdict, noise floor, change or job: format version 1.
 *
 * A record is a slot of the ring (store/ring.h), which adds sequence and checksum. Numbers are
 * little-endian; texts are filled up with NULs and need not end in one. Offsets are those in the slot:
 *
 *       8 u8 kind, u8 flags, u16 benchmark version, u32 round
 *      16 u64 boot tag: the first 8 bytes of the kernel's boot id
 *      24 u64 CLOCK_REALTIME, ns             32 u64 CLOCK_BOOTTIME, ns
 *      40 u64 job                            48 u64 experiment, 0: none
 *      56 u32 block                          60 u16 arm, u16 memory node + 1, 0: not known
 *      64 u64 hash of the parameters         72 u64 fingerprint
 *      80 u32 waker CPU, u32 wakee CPU; both UINT32_MAX: not pinned
 *      88 u64 window, ns                     96 u32 taints, bit by enum taint
 *     100 u32 row of the job's table
 *     104 char benchmark[24]                128 char class[96]
 *     224 12 metrics: f64 value, u16 unit (0: not measured), 6 bytes nothing yet
 *     416 6 probes: u16 code (0: none), u16 nothing yet, f32 value
 *     464 u64 key of the benchmark's description in the side file; this and the others: 0: none
 *     472 u64 key of a text: a failure's sentence, a distribution, a job's begin or end
 *     480 u64 key of the CPU set's text
 *     488 u64 key of the plan that the job worked through
 *     496 u64 key of the reasons why metrics were not measured
 *
 * What is nothing yet is written as 0 and not looked at: a later program of this version may use it.
 * Codes of units and taints are never given another meaning.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "store/ring.h"

#define RECORD_METRICS   12
#define RECORD_PROBES    6
#define RECORD_BENCHMARK 24
#define RECORD_CLASS     96
#define RECORD_NO_CPU    UINT32_MAX

enum record_kind {
	RECORD_SAMPLE = 1,
	RECORD_VERDICT = 2,
	RECORD_NOISE_FLOOR = 3,
	RECORD_CHANGE = 4,
	RECORD_JOB = 5, /* that a job begins, or has ended */
};

enum record_flag {
	RECORD_FAILED = 1 << 0, /* the sample failed: no metrics, and the other text says why */
	RECORD_ENDED = 1 << 1,  /* of a job: it has ended; without it, it begins */
};

/* One metric; names follow from benchmark and version, the unit is told with each value. */
struct record_metric {
	uint16_t unit; /* of record_unit_name(); 0: not measured */
	double value;
};

struct record_probe {
	uint16_t code; /* 0: none */
	float value;
};

struct record {
	uint64_t sequence; /* the ring's; not encoded here */
	enum record_kind kind;
	uint8_t flags;
	uint16_t benchmark_version;
	uint32_t round;
	uint64_t boot_tag, realtime_ns, boottime_ns;
	uint64_t job, experiment;
	uint32_t block;
	uint16_t arm;
	uint16_t memory_node_plus_one;
	uint64_t parameters, fingerprint;
	uint32_t waker, wakee;
	uint64_t window_ns;
	uint32_t taints;
	uint32_t row;
	char benchmark[RECORD_BENCHMARK + 1], class_id[RECORD_CLASS + 1];
	struct record_metric metrics[RECORD_METRICS];
	struct record_probe probes[RECORD_PROBES];
	uint64_t spec_key, text_key, set_key, plan_key, reasons_key;
};

void record_encode(const struct record *r, uint8_t body[RING_BODY_SIZE]);

/* False for a kind that this program does not know, of which only the kind is filled in. */
bool record_decode(const uint8_t body[RING_BODY_SIZE], struct record *ret);

/* What records are chosen by, read where they lie: texts belong to @body, and need not end in a NUL. */
struct record_key {
	uint8_t kind;
	uint16_t arm;
	uint32_t waker, wakee;
	uint64_t realtime_ns, job, experiment, parameters, fingerprint;
	const char *benchmark, *class_id; /* of RECORD_BENCHMARK and RECORD_CLASS bytes */
};
void record_read_key(const uint8_t body[RING_BODY_SIZE], struct record_key *ret);

/* The code of a unit's name, or 0 for one that has none yet; and back ("?" for an unknown code). */
uint16_t record_unit(const char *name);
const char *record_unit_name(uint16_t code);

const char *record_kind_name(enum record_kind kind);
