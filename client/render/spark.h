/* SPDX-License-Identifier: MIT */
/*
 * How values went over time, in one word of text.
 */
#pragma once

#include <stddef.h>

#define SPARK_BUCKETS    24
#define SPARK_VALUES_MIN 3                       /* fewer have no trend */
#define SPARK_MAX        (SPARK_BUCKETS * 3 + 1) /* bytes */

/*
 * Cuts @values, which are in the order of time, into at most SPARK_BUCKETS parts of as many values
 * each, and draws the median of every part between the least and the greatest of these medians:
 * blocks of eight heights where the terminal's characters have them, else digits 1 to 8. All are of
 * middle height where they differ by less than 0.5 % of their own median. Returns @buffer; "" for fewer than SPARK_VALUES_MIN
 * values or without memory.
 */
const char *spark(char buffer[SPARK_MAX], const double *values, size_t n);
