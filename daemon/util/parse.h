/* SPDX-License-Identifier: MIT */
/*
 * Numbers as people write them: "64M", "200ms", "1min 30s", "2.5%", "on".
 *
 * Each function takes the whole text (blanks at its ends are allowed), fails with InvalidArgument
 * and a sentence that quotes the text and says what would be accepted, and leaves *@ret alone then.
 * @what names the thing for that sentence ("rounds", "--duration").
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "util/fail.h"

/* A whole number in @min..@max. */
int parse_u64(const char *what, const char *text, uint64_t min, uint64_t max, uint64_t *ret,
	      struct fail *f);

/* Bytes: a number with K, M, G or T (1024 each; KiB and the like too), without one: bytes. */
int parse_size(const char *what, const char *text, uint64_t min, uint64_t max, uint64_t *ret,
	       struct fail *f);

/* Nanoseconds: numbers with ns, us, ms, s, min or h, added up; without a unit: seconds. */
int parse_time(const char *what, const char *text, uint64_t min_ns, uint64_t max_ns,
	       uint64_t *ret_ns, struct fail *f);

/* A fraction: "2.5%" is 0.025. The sign % is required, so that nobody has to guess. */
int parse_percent(const char *what, const char *text, double min, double max, double *ret,
		  struct fail *f);

/* yes, on, true, 1; no, off, false, 0. */
int parse_bool(const char *what, const char *text, bool *ret, struct fail *f);

/* Two CPU numbers, "0-1" or "0,1"; equal ones are allowed. */
int parse_cpu_pair(const char *what, const char *text, uint32_t *ret_a, uint32_t *ret_b,
		   struct fail *f);

/* A time for people, "1.5 s", "200 ms", "12.4 us"; three significant digits. */
#define FORMAT_TIME_MAX 32
const char *format_time(char buffer[FORMAT_TIME_MAX], uint64_t ns);
#define FORMAT_TIME(ns) format_time((char[FORMAT_TIME_MAX]){ 0 }, ns)
