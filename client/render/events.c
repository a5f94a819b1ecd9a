/* SPDX-License-Identifier: MIT */
/*
 * Jobs and other records, one a line.
 */
#include "render/events.h"

#include <string.h>

#include "render/table.h"
#include "render/text.h"
#include "util/macro.h"

/* A text or a whole number as a cell; "-" where there is none. */
static const char *cell_of(const json_t *record, const char *key, char buffer[NUMBER_MAX])
{
	const json_t *value = json_object_get(record, key);

	if (json_is_integer(value)) {
		(void)snprintf(buffer, NUMBER_MAX, "%lld", (long long)json_integer_value(value));
		return buffer;
	}
	return *text_of(record, key) ? text_of(record, key) : "-";
}

static json_int_t time_of(const json_t *record)
{
	return json_integer_value(json_object_get(record, "time_usec"));
}

void events_add_job(json_t *jobs, json_t *record)
{
	char number[NUMBER_MAX];

	/* Its place among the others stays that of the first one. */
	json_object_set(jobs, cell_of(record, "job", number), record);
}

void events_print_jobs(json_t *jobs)
{
	static const struct table_column columns[] = {
		{ "JOB", true },   { "TIME", false }, { "STATE", false },
		{ "WHAT", false }, { "WHY", false },
	};
	struct libscols_table *table = table_new(columns, ELEMENTSOF(columns));
	const char *job, *state;
	json_t *record;

	json_object_foreach (jobs, job, record) {
		char what[NUMBER_MAX], why[NUMBER_MAX];

		state = text_of(record, "state");
		if (strcmp(state, "running") == 0)
			state = "running or lost";
		if (!table || table_add(table,
					(const char *const[]){ job, TEXT_TIME(time_of(record)),
							       *state ? state : "-",
							       cell_of(record, "title", what),
							       cell_of(record, "why", why) },
					ELEMENTSOF(columns)) != 0)
			break;
	}
	table_print(table);
}

void events_print_others(const json_t *records)
{
	static const struct table_column columns[] = {
		{ "SEQUENCE", true },   { "TIME", false },      { "KIND", false },
		{ "JOB", true },        { "EXPERIMENT", true }, { "ARM", true },
		{ "BENCHMARK", false }, { "CLASS", false },
	};
	struct libscols_table *table = table_new(columns, ELEMENTSOF(columns));
	size_t i;
	json_t *record;

	json_array_foreach (records, i, record) {
		char cells[ELEMENTSOF(columns)][NUMBER_MAX];
		const char *benchmark = *text_of(record, "spec") ? "spec" : "benchmark";

		if (!table ||
		    table_add(table,
			      (const char *const[]){ cell_of(record, "sequence", cells[0]),
						     TEXT_TIME(time_of(record)),
						     cell_of(record, "kind", cells[2]),
						     cell_of(record, "job", cells[3]),
						     cell_of(record, "experiment", cells[4]),
						     cell_of(record, "arm", cells[5]),
						     cell_of(record, benchmark, cells[6]),
						     cell_of(record, "class", cells[7]) },
			      ELEMENTSOF(columns)) != 0)
			break;
	}
	table_print(table);
}
