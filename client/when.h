/* SPDX-License-Identifier: MIT */
/*
 * Points in time as people type them, in the time zone of this process.
 */
#pragma once

#include <stdint.h>

#include "util/fail.h"

/*
 * Takes, relative to @now_usec: "now"; "-7d", "-1h 30min", "-2 days" (units ms, s, sec, m, min, h, d, w,
 * and second, minute, hour, day, week with or without s; a plain number is seconds; a day is 24 hours);
 * "yesterday", "today", "tomorrow" (their first moment), "today 8:15", "14:05" (today); "2026-11-30",
 * "2026-11-30 14:05:07.25" (or with T; with a final Z or " UTC" not in this time zone but in UTC);
 * "@1764500000". A time that the clocks show twice is the earlier one; one that they skip is refused.
 *
 * @what names the thing ("--since"). Fails with InvalidArgument and leaves *@ret_usec alone then.
 */
int when_parse(const char *what, const char *text, uint64_t now_usec, uint64_t *ret_usec,
	       struct fail *f);
