/* SPDX-License-Identifier: MIT */
/*
 * Records of the store (schema "schedlab.record/1") as comma-separated values, RFC 4180 but for the
 * ends of lines, which are those of this system.
 */
#pragma once

#include <jansson.h>
#include <stdio.h>

void csv_print_header(FILE *out);
/* One line for each metric of a record; one without a metric for a record that has none. */
void csv_print_record(FILE *out, const json_t *record);

/* One cell, quoted where it has to be. */
void csv_print_text(FILE *out, const char *text);
