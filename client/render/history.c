/* SPDX-License-Identifier: MIT */
/*
 * What was kept, as tables.
 */
#include "render/history.h"

#include <errno.h>
#include <schedlab/units.h>
#include <stdio.h>
#include <string.h>

#include "render/events.h"
#include "render/samples.h"
#include "render/spark.h"
#include "render/table.h"
#include "render/text.h"
#include "stats/robust.h"
#include "util/parse.h"

#define COLUMNS_MAX    16
#define WINDOWS_DIFFER 1.5 /* the longest by the shortest */
#define REASONS_SHOWN  5
#define EXPLAIN_SPREAD                                                                             \
	"The spread is that of these samples (1.4826 x the median absolute deviation), not how\n"  \
	"sure the median is. TREND goes from the oldest to the newest: each mark is the median\n"  \
	"of as many samples in a row, from the lowest to the highest of its line (%s).\n"          \
	"Where they differ by less than 0.5 %% it is flat; of fewer than three samples there is\n" \
	"none.\n"

struct history {
	struct samples *samples;
	json_t *jobs, *others;
	bool written;
};

/* Which columns a section's table has beyond those that all have. */
struct view {
	const struct samples *samples;
	json_int_t now_usec;
	bool tainted, failed, fingerprint, arm;
};

struct history *history_new(bool all_metrics, bool by_job)
{
	_cleanup_(history_freep) struct history *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->samples = samples_new(all_metrics, by_job);
	h->jobs = json_object();
	h->others = json_array();
	return h->samples && h->jobs && h->others ? TAKE_PTR(h) : NULL;
}

struct history *history_free(struct history *h)
{
	if (!h)
		return NULL;
	(void)samples_free(h->samples);
	json_decref(h->jobs);
	json_decref(h->others);
	free(h);
	return NULL;
}

int history_add(struct history *h, json_t *record)
{
	const char *kind = text_of(record, "kind");

	if (strcmp(kind, "sample") == 0)
		return samples_add(h->samples, record);
	if (strcmp(kind, "job") == 0)
		events_add_job(h->jobs, record);
	else
		json_array_append(h->others, record);
	return 0;
}

void history_set_written(struct history *h, bool written)
{
	h->written = written;
}

bool history_has_jobs(const struct history *h)
{
	return json_object_size(h->jobs) > 0;
}

bool history_is_empty(const struct history *h)
{
	return h->samples->n == 0 && json_object_size(h->jobs) == 0 &&
	       json_array_size(h->others) == 0;
}

static const char *name_of(const char *id)
{
	return *id ? id : "unknown";
}

/* The median, how far the values are from it, and the ends: of a copy, as their order is needed. */
static bool add_figures(const struct line *line, const char **cells, char texts[6][NUMBER_MAX])
{
	_cleanup_free_ double *sorted = calloc(line->n, sizeof(*sorted));
	_cleanup_free_ double *scratch = calloc(line->n, sizeof(*scratch));
	double median;

	if (!sorted || !scratch)
		return false;
	memcpy(sorted, line->values, line->n * sizeof(*sorted));
	robust_sort(sorted, line->n);
	median = robust_median(sorted, line->n);
	(void)snprintf(texts[0], NUMBER_MAX, "%zu", line->n);
	cells[0] = texts[0];
	cells[1] = format_number(texts[1], median);
	cells[2] = line->n < 2 ? "-"
			       : format_spread(texts[2], median,
					       robust_mad(sorted, line->n, median, scratch));
	cells[3] = format_number(texts[3], sorted[0]);
	cells[4] = format_number(texts[4], sorted[line->n - 1]);
	cells[5] = line->unit;
	return true;
}

static const char *count_or_nothing(size_t n, char buffer[NUMBER_MAX])
{
	(void)snprintf(buffer, NUMBER_MAX, "%zu", n);
	return n > 0 ? buffer : "";
}

/* @line NULL: a group without any value, and @name says why. */
static void add_line(struct libscols_table *table, const struct view *view, const struct group *g,
		     const char *name, const struct line *line, bool first)
{
	char pairs[NUMBER_MAX], tainted[NUMBER_MAX], failed[NUMBER_MAX], texts[6][NUMBER_MAX];
	char trend[SPARK_MAX], job[NUMBER_MAX], began[TEXT_TIME_MAX], arm[NUMBER_MAX];
	const char *cells[COLUMNS_MAX] = { "", "", name, "", "", "", "", "",
					   "", "", "",   "", "", "", "", "" };
	size_t n = 10;

	if (first) {
		(void)snprintf(pairs, sizeof(pairs), "%zu", g->n_pairs);
		cells[0] = name_of(g->class_id);
		cells[1] = g->pinned ? pairs : "-";
	}
	if (line) {
		if (!add_figures(line, cells + 3, texts))
			return;
		cells[9] = spark(trend, line->values, line->n);
	}
	if (view->tainted)
		cells[n++] = first ? count_or_nothing(g->tainted, tainted) : "";
	if (view->failed)
		cells[n++] = first ? count_or_nothing(g->failed, failed) : "";
	if (view->samples->by_job) {
		cells[n++] = first ? count_or_nothing((size_t)g->job, job) : "";
		cells[n++] = first ? text_minute(began, g->began_usec, view->now_usec) : "";
	}
	if (view->arm) {
		(void)snprintf(arm, sizeof(arm), "%u", g->arm);
		cells[n++] = first ? arm : "";
	}
	if (view->fingerprint)
		cells[n++] = first ? name_of(view->samples->fingerprints[g->fingerprint].id) : "";
	(void)table_add(table, cells, n);
}

static void add_group(struct libscols_table *table, const struct view *view, const struct group *g)
{
	for (size_t i = 0; i < g->n_lines; i++)
		add_line(table, view, g, g->lines[i].metric, &g->lines[i], i == 0);
	if (g->n_lines == 0)
		add_line(table, view, g,
			 g->failed == g->n_samples ? "(all failed)" : "(none measured)", NULL,
			 true);
}

/* The spec, and what else it takes to tell this section from the others. */
static void print_heading(const struct samples *s, const struct section *section)
{
	bool versions = false, alike = false;

	for (size_t i = 0; i < s->n_sections; i++) {
		const struct section *other = &s->sections[i];

		if (strcmp(other->benchmark, section->benchmark) != 0)
			continue;
		versions |= other->version != section->version;
		alike |= other != section && other->version == section->version && other->spec &&
			 section->spec && strcmp(other->spec, section->spec) == 0;
	}
	if (section->spec)
		printf("%s", section->spec);
	else
		printf("%s", *section->benchmark ? section->benchmark : "unknown benchmark");
	if (!section->spec || alike)
		printf(", parameters %s", name_of(section->parameters));
	if (!section->spec)
		printf(" (spec no longer known)");
	if (versions)
		printf(", version %lld", (long long)section->version);
	puts("");
}

static void print_windows(const struct section *section)
{
	if (section->window_max_usec > section->window_min_usec * WINDOWS_DIFFER)
		printf("Samples of %s are from %s to %s long, and short ones scatter more than "
		       "long "
		       "ones.\n",
		       section->benchmark,
		       FORMAT_TIME((uint64_t)(section->window_min_usec * (double)NSEC_PER_USEC)),
		       FORMAT_TIME((uint64_t)(section->window_max_usec * (double)NSEC_PER_USEC)));
}

static void print_section(const struct samples *s, const struct section *section)
{
	struct table_column columns[COLUMNS_MAX] = {
		{ "CLASS", false }, { "PAIRS", true },  { "METRIC", false }, { "N", true },
		{ "MEDIAN", true }, { "SPREAD", true }, { "MIN", true },     { "MAX", true },
		{ "UNIT", false },  { "TREND", false },
	};
	struct view view = { .samples = s,
			     .now_usec = text_now(),
			     .fingerprint = s->n_fingerprints > 1 };
	struct libscols_table *table;
	size_t n = 10;

	for (size_t i = 0; i < section->n_groups; i++) {
		view.arm |= section->groups[i].arm != section->groups[0].arm;
		view.tainted |= section->groups[i].tainted > 0;
		view.failed |= section->groups[i].failed > 0;
	}
	if (view.tainted)
		columns[n++] = (struct table_column){ "TAINTED", true };
	if (view.failed)
		columns[n++] = (struct table_column){ "FAILED", true };
	if (s->by_job) {
		columns[n++] = (struct table_column){ "JOB", true };
		columns[n++] = (struct table_column){ "BEGAN", false };
	}
	if (view.arm)
		columns[n++] = (struct table_column){ "ARM", true };
	if (view.fingerprint)
		columns[n++] = (struct table_column){ "FINGERPRINT", false };
	table = table_new(columns, n);
	if (!table)
		return;
	print_heading(s, section);
	for (size_t i = 0; i < section->n_groups; i++)
		add_group(table, &view, &section->groups[i]);
	table_print(table);
	print_windows(section);
}

/* "123 samples of 4 jobs, 2026-11-28 10:00 to 2026-11-30 23:10." */
static void print_extent(const struct samples *s)
{
	char first[TEXT_TIME_MAX], last[TEXT_TIME_MAX];
	const char *from = text_time(first, s->first_usec), *to = text_time(last, s->last_usec);
	bool one = strcmp(from, to) == 0;

	printf("%zu sample%s of %zu job%s, %s%s%s.\n", s->n, s->n == 1 ? "" : "s", s->n_jobs,
	       s->n_jobs == 1 ? "" : "s", from, one ? "" : " to ", one ? "" : to);
}

static void print_taints(const struct samples *s)
{
	const char *name;
	json_t *times;
	json_int_t sum = 0;
	bool any = false;

	if (s->tainted == 0)
		return;
	printf("Tainted samples are in the figures, but not to be trusted: ");
	json_object_foreach (s->taints, name, times) {
		printf("%s%s %lld", any ? ", " : "", name, (long long)json_integer_value(times));
		sum += json_integer_value(times);
		any = true;
	}
	puts(sum > (json_int_t)s->tainted ? "; a sample may have more than one." : ".");
}

/* The first few, each with how often. */
static void print_reasons(json_t *reasons, const char *before)
{
	const char *reason;
	json_t *times;
	size_t shown = 0;

	json_object_foreach (reasons, reason, times) {
		long long n = json_integer_value(times);

		if (shown++ == REASONS_SHOWN) {
			printf("%sand other reasons, which --json=short shows\n", before);
			return;
		}
		printf("%s%s (%lld sample%s)\n", before, reason, n, n == 1 ? "" : "s");
	}
}

/* The rest of the machine's identity; what was unknown then is not named. */
static void print_fields(const json_t *fingerprint)
{
	static const struct {
		const char *key, *label;
	} shown[] = { { "cpu_model", "processor" },
		      { "microcode", "microcode" },
		      { "virtualisation", "hypervisor" },
		      { "command_line", "command line" } };
	const json_t *fields = json_object_get(fingerprint, "fields");

	for (size_t i = 0; i < ELEMENTSOF(shown); i++) {
		const char *value = text_of(fields, shown[i].key);

		if (*value)
			printf("  %-13s %s\n", shown[i].label, value);
	}
}

static void print_fingerprints(const struct samples *s, history_describe describe, void *userdata)
{
	for (size_t i = 0; i < s->n_fingerprints; i++) {
		const char *kernel = s->fingerprints[i].kernel;
		_cleanup_(json_decrefp) json_t *fingerprint =
			describe(s->fingerprints[i].id, userdata);

		printf("Fingerprint %s: kernel %s.\n", name_of(s->fingerprints[i].id),
		       kernel ? kernel : "no longer known");
		print_fields(fingerprint);
	}
}

static void print_samples(struct samples *s, history_describe describe, void *userdata)
{
	samples_finish(s);
	for (size_t i = 0; i < s->n_sections; i++) {
		print_section(s, &s->sections[i]);
		puts("");
	}
	print_extent(s);
	print_taints(s);
	if (s->failed > 0) {
		printf("%zu of these samples failed:\n", s->failed);
		print_reasons(s->failures, "  ");
	}
	print_reasons(s->missing, "");
	printf(EXPLAIN_SPREAD, output_is_utf8() ? "▁ to █" : "1 to 8");
	print_fingerprints(s, describe, userdata);
}

void history_print(struct history *h, history_describe describe, void *userdata)
{
	bool any = h->samples->n > 0;

	if (any)
		print_samples(h->samples, describe, userdata);
	if (json_object_size(h->jobs) > 0) {
		if (any)
			puts("");
		events_print_jobs(h->jobs, h->written);
		any = true;
	}
	if (json_array_size(h->others) > 0) {
		if (any)
			puts("");
		events_print_others(h->others);
	}
}
