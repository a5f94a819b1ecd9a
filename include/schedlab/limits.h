/* SPDX-License-Identifier: MIT */
/*
 * What one measurement may ask for: the daemon refuses more, and the client before it.
 */
#pragma once

#include <schedlab/units.h>

#define MEASURE_BENCHMARKS_MAX      16
#define MEASURE_CLASSES_MAX         64
#define MEASURE_PAIRS_MAX           256
#define MEASURE_PAIRS_PER_CLASS_MAX 64
#define MEASURE_DURATION_MIN_NS     NSEC_PER_MSEC
#define MEASURE_DURATION_MAX_NS     (3600 * NSEC_PER_SEC)
#define MEASURE_ROUNDS_MAX          100000
#define MEASURE_SAMPLES_MAX         100000              /* rounds times rows */
#define MEASURE_SEED_MAX            (UINT64_C(1) << 53) /* a double holds it, and so JSON does */
