/* SPDX-License-Identifier: MIT */
/*
 * Parts of the daemon's JSON as text.
 */
#pragma once

#include <jansson.h>
#include <stdio.h>
#include <string.h>

/* The daemon's JSON, its texts made fit for a terminal; NULL where it is none. */
json_t *text_load(const char *text);

/* Member @key of @object as text; "" where it is none. */
const char *text_of(const json_t *object, const char *key);

/* The texts of an array with @between between them. The caller frees it; NULL without memory. */
char *text_join(const json_t *array, const char *between);

/* A time (CLOCK_REALTIME) in the time zone of this process, "2026-11-30 14:05"; "unknown" for 0. */
#define TEXT_TIME_MAX 40
const char *text_time(char buffer[TEXT_TIME_MAX], json_int_t usec);
#define TEXT_TIME(usec) text_time((char[TEXT_TIME_MAX]){ 0 }, usec)

/* To the second, and with the date where it is another day than that of @now_usec; "-" for 0. */
const char *text_moment(char buffer[TEXT_TIME_MAX], json_int_t usec, json_int_t now_usec);
/* The same to the minute. */
const char *text_minute(char buffer[TEXT_TIME_MAX], json_int_t usec, json_int_t now_usec);
/* The clock's time, in us. */
json_int_t text_now(void);

/* What the pairs of a class (of a topology) or of a row (of a result) share, for people. The caller
 * frees it. */
char *text_shares(const json_t *object);

/* "AMD EPYC 7763, 128 CPUs, kernel 6.1.0" and, in a guest, whose. From a status or a topology. */
void text_print_machine(const json_t *root);

/* The sentence that stands with every figure of a guest; nothing on bare metal. */
void text_print_guest(const char *hypervisor);
