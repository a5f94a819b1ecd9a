/* SPDX-License-Identifier: MIT */
/*
 * Jobs and other records, one a line.
 */
#include "render/events.h"

#include <schedlab/units.h>
#include <string.h>

#include "render/table.h"
#include "render/text.h"
#include "util/macro.h"
#include "util/parse.h"

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

/* {"begin": record, "end": record}, either of which may be gone from the store. */
void events_add_job(json_t *jobs, json_t *record)
{
	bool begins = strcmp(text_of(record, "state"), "running") == 0;
	char number[NUMBER_MAX];
	const char *id = cell_of(record, "job", number);

	/* Its place among the others stays that of the first one. */
	if (!json_object_get(jobs, id))
		json_object_set_new(jobs, id, json_object());
	json_object_set(json_object_get(jobs, id), begins ? "begin" : "end", record);
}

/* The end of a lost job was written later, by another daemon. */
static void format_took(char *buffer, size_t size, const json_t *begin, const json_t *end)
{
	json_int_t usec = time_of(end) - time_of(begin);

	if (!begin || !end || usec < 0 || json_is_true(json_object_get(end, "lost")))
		(void)snprintf(buffer, size, "-");
	else
		(void)snprintf(buffer, size, "%s", FORMAT_TIME((uint64_t)usec * NSEC_PER_USEC));
}

/* The last one that began. */
static const json_t *find_last(json_t *jobs)
{
	const json_t *last = NULL;
	const char *id;
	json_t *job;

	json_object_foreach (jobs, id, job)
		if (json_object_get(job, "begin"))
			last = job;
	return last;
}

static int add_job(struct libscols_table *table, const char *id, const json_t *job, bool runs)
{
	const json_t *begin = json_object_get(job, "begin"), *end = json_object_get(job, "end");
	const char *state = end ? text_of(end, "state") : runs ? "running" : "lost";
	char began[TEXT_TIME_MAX], took[FORMAT_TIME_MAX], what[NUMBER_MAX], why[NUMBER_MAX];

	format_took(took, sizeof(took), begin, end);
	return table_add(table,
			 (const char *const[]){ id, text_moment(began, time_of(begin), text_now()),
						took, *state ? state : "-",
						cell_of(end ? end : begin, "title", what),
						cell_of(end, "why", why) },
			 6);
}

void events_print_jobs(json_t *jobs, bool written)
{
	static const struct table_column columns[] = {
		{ "JOB", true },    { "BEGAN", false }, { "TOOK", true },
		{ "STATE", false }, { "WHAT", false },  { "WHY", false },
	};
	struct libscols_table *table = table_new(columns, ELEMENTSOF(columns));
	const json_t *last = find_last(jobs);
	const char *id;
	json_t *job;

	/* One measures at a time. */
	json_object_foreach (jobs, id, job)
		if (!table || add_job(table, id, job, written && job == last) != 0)
			break;
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
