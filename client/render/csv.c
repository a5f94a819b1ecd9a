/* SPDX-License-Identifier: MIT */
/*
 * Records, long form: a value a line.
 */
#include "render/csv.h"

#include <schedlab/units.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "render/text.h"
#include "util/macro.h"

/* Members of the record stand in cells of their own; NULL: see print_special(). */
static const struct {
	const char *name;
	const char *member;
} columns[] = {
	{ "sequence", "sequence" },
	{ "time", NULL },
	{ "job", "job" },
	{ "experiment", "experiment" },
	{ "block", "block" },
	{ "arm", "arm" },
	{ "round", "round" },
	{ "kind", "kind" },
	{ "benchmark", "benchmark" },
	{ "version", "version" },
	{ "parameters", "parameters" },
	{ "spec", "spec" },
	{ "class", "class" },
	{ "waker", NULL },
	{ "wakee", NULL },
	{ "metric", NULL },
	{ "value", NULL },
	{ "unit", NULL },
	{ "taints", NULL },
	{ "failed", "failed" },
	{ "window_usec", "window_usec" },
	{ "memory_node", "memory_node" },
	{ "fingerprint", "fingerprint" },
	{ "kernel", "kernel" },
	{ "boot", "boot" },
	{ "state", "state" },
	{ "title", "title" },
	{ "why", "why" },
};

void csv_print_header(FILE *out)
{
	for (size_t i = 0; i < ELEMENTSOF(columns); i++)
		fprintf(out, "%s%s", i ? "," : "", columns[i].name);
	(void)fputc('\n', out);
}

void csv_print_text(FILE *out, const char *text)
{
	bool quoted = strpbrk(text, ",\"\r\n") != NULL;

	if (quoted)
		(void)fputc('"', out);
	for (; *text != '\0'; text++) {
		if (*text == '"')
			(void)fputc('"', out);
		(void)fputc(*text, out);
	}
	if (quoted)
		(void)fputc('"', out);
}

/* Twelve digits, as the daemon sends them; null and what is missing are empty cells. */
static void print_value(FILE *out, const json_t *value)
{
	if (json_is_string(value))
		csv_print_text(out, json_string_value(value));
	else if (json_is_integer(value))
		fprintf(out, "%lld", (long long)json_integer_value(value));
	else if (json_is_real(value))
		fprintf(out, "%.12g", json_real_value(value));
}

/* "2026-11-30T23:10:00.000000Z" */
static void print_time(FILE *out, const json_t *record)
{
	const json_t *usec = json_object_get(record, "time_usec");
	json_int_t value = json_integer_value(usec);
	time_t seconds = (time_t)(value / (json_int_t)USEC_PER_SEC);
	struct tm tm;
	char text[64];

	if (!json_is_integer(usec) || value < 0 || !gmtime_r(&seconds, &tm) ||
	    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm) == 0)
		return;
	fprintf(out, "%s.%06lldZ", text, (long long)(value % (json_int_t)USEC_PER_SEC));
}

static void print_special(FILE *out, const char *column, const json_t *record, const char *metric,
			  const json_t *measured)
{
	const json_t *pair = json_object_get(record, "pair");
	_cleanup_free_ char *taints = NULL;

	if (strcmp(column, "time") == 0)
		print_time(out, record);
	else if (strcmp(column, "waker") == 0)
		print_value(out, json_array_get(pair, 0));
	else if (strcmp(column, "wakee") == 0)
		print_value(out, json_array_get(pair, 1));
	else if (strcmp(column, "metric") == 0)
		csv_print_text(out, metric);
	else if (strcmp(column, "taints") == 0) {
		taints = text_join(json_object_get(record, "taints"), " ");
		csv_print_text(out, taints ? taints : "");
	} else
		print_value(out, json_object_get(measured, column));
}

static void print_line(FILE *out, const json_t *record, const char *metric, const json_t *measured)
{
	for (size_t i = 0; i < ELEMENTSOF(columns); i++) {
		if (i > 0)
			(void)fputc(',', out);
		if (columns[i].member)
			print_value(out, json_object_get(record, columns[i].member));
		else
			print_special(out, columns[i].name, record, metric, measured);
	}
	(void)fputc('\n', out);
}

void csv_print_record(FILE *out, const json_t *record)
{
	json_t *metrics = json_object_get(record, "metrics"), *measured;
	const char *name;

	json_object_foreach (metrics, name, measured)
		print_line(out, record, name, measured);
	if (json_object_size(metrics) == 0)
		print_line(out, record, "", NULL);
}
