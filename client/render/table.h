/* SPDX-License-Identifier: MIT */
/*
 * Tables by libsmartcols, numbers for people.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct libscols_table;

struct table_column {
	const char *name;
	bool right; /* numbers stand to the right */
};

/* A new table with these columns; NULL without memory. */
struct libscols_table *table_new(const struct table_column *columns, size_t n);
/* Adds one line of @n texts. */
int table_add(struct libscols_table *table, const char *const *cells, size_t n);
/* Prints and frees it. */
void table_print(struct libscols_table *table);

/* Four significant digits, never an exponent: "4211", "119.5", "0.0213". */
#define NUMBER_MAX 40
const char *format_number(char buffer[NUMBER_MAX], double value);

/* Whether the terminal's characters are more than ASCII. */
bool output_is_utf8(void);

/* "±" where the terminal's characters have it, else "+-". */
const char *plus_minus(void);

/* @spread in percent of @median: "±1.6 %"; "-" where there is no median but 0. */
const char *format_spread(char buffer[NUMBER_MAX], double median, double spread);

/* "48 KiB", "32 MiB". */
const char *format_bytes(char buffer[NUMBER_MAX], double bytes);
#define FORMAT_BYTES(bytes) format_bytes((char[NUMBER_MAX]){ 0 }, bytes)
