/* SPDX-License-Identifier: MIT */
/*
 * Units: time is nanoseconds (uint64_t, suffix _ns) inside, microseconds (suffix -usec) on the bus.
 */
#pragma once

#include <stdint.h>

#define NSEC_PER_USEC UINT64_C(1000)
#define NSEC_PER_MSEC UINT64_C(1000000)
#define NSEC_PER_SEC  UINT64_C(1000000000)
#define USEC_PER_MSEC UINT64_C(1000)
#define USEC_PER_SEC  UINT64_C(1000000)

#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

/* Data that two CPUs write lies at least this far apart: two 64-byte lines, since x86 prefetches
 * lines in pairs, and the line of POWER is 128 bytes. */
#define CACHELINE_APART 128
