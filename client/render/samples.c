/* SPDX-License-Identifier: MIT */
/*
 * Sorting samples into lines.
 */
#include "render/samples.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "render/text.h"

#define REASONS_MAX   32 /* sentences may hold numbers, so that there may be any number of them */
#define OTHER_REASONS "other reasons"

struct samples *samples_new(bool all_metrics, bool by_job)
{
	struct samples *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->all_metrics = all_metrics;
	s->by_job = by_job;
	s->taints = json_object();
	s->failures = json_object();
	s->missing = json_object();
	return s;
}

static void free_group(struct group *g)
{
	for (size_t i = 0; i < g->n_lines; i++) {
		free(g->lines[i].metric);
		free(g->lines[i].unit);
		free(g->lines[i].values);
	}
	free(g->lines);
	free(g->pairs);
	free(g->class_id);
}

static void free_section(struct section *section)
{
	for (size_t i = 0; i < section->n_groups; i++)
		free_group(&section->groups[i]);
	free(section->groups);
	free(section->benchmark);
	free(section->parameters);
	free(section->spec);
}

struct samples *samples_free(struct samples *s)
{
	if (!s)
		return NULL;
	for (size_t i = 0; i < s->n_sections; i++)
		free_section(&s->sections[i]);
	for (size_t i = 0; i < s->n_fingerprints; i++) {
		free(s->fingerprints[i].id);
		free(s->fingerprints[i].kernel);
	}
	free(s->sections);
	free(s->fingerprints);
	free(s->jobs);
	json_decref(s->taints);
	json_decref(s->failures);
	json_decref(s->missing);
	free(s);
	return NULL;
}

static bool add_u64(uint64_t **list, size_t *n, size_t *room, uint64_t value)
{
	if (*n == *room) {
		size_t larger_room = *room ? *room * 2 : 16;
		uint64_t *larger = reallocarray(*list, larger_room, sizeof(*larger));

		if (!larger)
			return false;
		*list = larger;
		*room = larger_room;
	}
	(*list)[(*n)++] = value;
	return true;
}

static void count(json_t *counts, const char *text)
{
	if (!json_object_get(counts, text) && json_object_size(counts) >= REASONS_MAX)
		text = OTHER_REASONS;
	json_object_set_new(counts, text,
			    json_integer(json_integer_value(json_object_get(counts, text)) + 1));
}

/* The place of the record's fingerprint in our list, or -ENOMEM. */
static ssize_t find_fingerprint(struct samples *s, const json_t *record)
{
	const char *id = text_of(record, "fingerprint"), *kernel = text_of(record, "kernel");
	void *larger;
	size_t i;

	for (i = 0; i < s->n_fingerprints; i++)
		if (strcmp(s->fingerprints[i].id, id) == 0)
			break;
	if (i == s->n_fingerprints) {
		larger = reallocarray(s->fingerprints, i + 1, sizeof(*s->fingerprints));
		if (!larger)
			return -ENOMEM;
		s->fingerprints = larger;
		s->fingerprints[i].id = strdup(id);
		s->fingerprints[i].kernel = NULL;
		if (!s->fingerprints[i].id)
			return -ENOMEM;
		s->n_fingerprints++;
	}
	if (!s->fingerprints[i].kernel && *kernel)
		s->fingerprints[i].kernel = strdup(kernel);
	return (ssize_t)i;
}

static struct section *add_section(struct samples *s, const char *benchmark, json_int_t version,
				   const char *parameters)
{
	struct section *larger = reallocarray(s->sections, s->n_sections + 1, sizeof(*larger));
	struct section *section;

	if (!larger)
		return NULL;
	s->sections = larger;
	section = &larger[s->n_sections];
	*section = (struct section){ .benchmark = strdup(benchmark),
				     .parameters = strdup(parameters),
				     .version = version,
				     .window_min_usec = INFINITY };
	if (!section->benchmark || !section->parameters) {
		free_section(section);
		return NULL;
	}
	s->n_sections++;
	return section;
}

static struct section *get_section(struct samples *s, const json_t *record)
{
	const char *benchmark = text_of(record, "benchmark"), *spec = text_of(record, "spec");
	const char *parameters = text_of(record, "parameters");
	json_int_t version = json_integer_value(json_object_get(record, "version"));
	double window = json_number_value(json_object_get(record, "window_usec"));
	struct section *found = NULL;

	for (size_t i = 0; i < s->n_sections && !found; i++)
		if (s->sections[i].version == version &&
		    strcmp(s->sections[i].parameters, parameters) == 0 &&
		    strcmp(s->sections[i].benchmark, benchmark) == 0)
			found = &s->sections[i];
	if (!found)
		found = add_section(s, benchmark, version, parameters);
	if (!found)
		return NULL;
	if (!found->spec && *spec)
		found->spec = strdup(spec);
	if (window > 0) {
		found->window_min_usec = fmin(found->window_min_usec, window);
		found->window_max_usec = fmax(found->window_max_usec, window);
	}
	return found;
}

static struct group *get_group(struct section *section, const char *class_id, size_t fingerprint,
			       uint64_t job, json_int_t began_usec, unsigned int arm)
{
	struct group *larger;

	for (size_t i = 0; i < section->n_groups; i++)
		if (section->groups[i].fingerprint == fingerprint &&
		    section->groups[i].job == job && section->groups[i].arm == arm &&
		    strcmp(section->groups[i].class_id, class_id) == 0)
			return &section->groups[i];
	larger = reallocarray(section->groups, section->n_groups + 1, sizeof(*larger));
	if (!larger)
		return NULL;
	section->groups = larger;
	larger += section->n_groups;
	*larger = (struct group){ .class_id = strdup(class_id),
				  .fingerprint = fingerprint,
				  .job = job,
				  .began_usec = began_usec,
				  .arm = arm };
	if (!larger->class_id)
		return NULL;
	section->n_groups++;
	return larger;
}

static struct line *get_line(struct group *g, const char *metric, const char *unit)
{
	struct line *larger;

	for (size_t i = 0; i < g->n_lines; i++)
		if (strcmp(g->lines[i].metric, metric) == 0 && strcmp(g->lines[i].unit, unit) == 0)
			return &g->lines[i];
	larger = reallocarray(g->lines, g->n_lines + 1, sizeof(*larger));
	if (!larger)
		return NULL;
	g->lines = larger;
	larger += g->n_lines;
	*larger = (struct line){ .metric = strdup(metric), .unit = strdup(unit) };
	if (!larger->metric || !larger->unit) {
		free(larger->metric);
		free(larger->unit);
		return NULL;
	}
	g->n_lines++;
	return larger;
}

static bool add_value(struct line *line, double value)
{
	if (line->n == line->room) {
		size_t larger_room = line->room ? line->room * 2 : 16;
		double *larger = reallocarray(line->values, larger_room, sizeof(*larger));

		if (!larger)
			return false;
		line->values = larger;
		line->room = larger_room;
	}
	line->values[line->n++] = value;
	return true;
}

static int add_metrics(struct samples *s, struct group *g, const json_t *record)
{
	const char *name;
	json_t *metric;

	json_object_foreach (json_object_get(record, "metrics"), name, metric) {
		const json_t *value = json_object_get(metric, "value");
		struct line *line;

		if (!json_is_number(value) ||
		    (!s->all_metrics && !json_is_true(json_object_get(metric, "headline"))))
			continue;
		line = get_line(g, name, text_of(metric, "unit"));
		if (!line || !add_value(line, json_number_value(value)))
			return -ENOMEM;
	}
	return 0;
}

static int add_pair(struct group *g, const json_t *record)
{
	const json_t *pair = json_object_get(record, "pair");
	uint64_t waker, wakee;

	if (!json_is_array(pair))
		return 0;
	g->pinned = true;
	if (*text_of(record, "failed"))
		return 0;
	waker = (uint64_t)json_integer_value(json_array_get(pair, 0));
	wakee = (uint64_t)json_integer_value(json_array_get(pair, 1));
	return add_u64(&g->pairs, &g->n_pairs, &g->room, waker << 32 | wakee) ? 0 : -ENOMEM;
}

/* What is wrong with it: for the columns of its group, and for the words below. */
static void count_troubles(struct samples *s, struct group *g, const json_t *record)
{
	const char *failed = text_of(record, "failed"), *metric;
	const json_t *taints = json_object_get(record, "taints");
	json_t *each;
	bool any = false;
	size_t i;

	if (*failed) {
		s->failed++;
		g->failed++;
		count(s->failures, failed);
		return;
	}
	json_array_foreach (taints, i, each) {
		if (!json_is_string(each))
			continue;
		count(s->taints, json_string_value(each));
		any = true;
	}
	s->tainted += any;
	g->tainted += any;
	json_object_foreach (json_object_get(record, "unavailable"), metric, each) {
		char sentence[512];

		(void)snprintf(sentence, sizeof(sentence), "%s: unavailable, because %s", metric,
			       json_is_string(each) ? json_string_value(each) : "nobody knows why");
		count(s->missing, sentence);
	}
}

static void count_times(struct samples *s, const json_t *record)
{
	json_int_t usec = json_integer_value(json_object_get(record, "time_usec"));

	if (usec <= 0)
		return;
	s->first_usec = s->first_usec ? MIN_OF(s->first_usec, usec) : usec;
	s->last_usec = MAX_OF(s->last_usec, usec);
}

int samples_add(struct samples *s, const json_t *record)
{
	json_int_t job = json_integer_value(json_object_get(record, "job"));
	ssize_t fingerprint = find_fingerprint(s, record);
	struct section *section = get_section(s, record);
	struct group *g;

	if (fingerprint < 0 || !section)
		return -ENOMEM;
	if (job > 0 && (s->n_jobs == 0 || s->jobs[s->n_jobs - 1] != (uint64_t)job)) {
		if (!add_u64(&s->jobs, &s->n_jobs, &s->room, (uint64_t)job))
			return -ENOMEM;
		s->began_usec = json_integer_value(json_object_get(record, "time_usec"));
	}
	g = get_group(section, text_of(record, "class"), (size_t)fingerprint,
		      s->by_job && job > 0 ? (uint64_t)job : 0, job > 0 ? s->began_usec : 0,
		      (unsigned int)json_integer_value(json_object_get(record, "arm")));
	if (!g || add_pair(g, record) < 0 || add_metrics(s, g, record) < 0)
		return -ENOMEM;
	s->n++;
	g->n_samples++;
	count_troubles(s, g, record);
	count_times(s, record);
	return 0;
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Sorts, and leaves each value once; returns how many there are. */
static size_t unite(uint64_t *values, size_t n)
{
	size_t kept = 0;

	if (n == 0)
		return 0;
	qsort(values, n, sizeof(*values), compare_u64);
	for (size_t i = 1; i < n; i++)
		if (values[i] != values[kept])
			values[++kept] = values[i];
	return kept + 1;
}

/* Nearest first; names that the list lacks come before the last one. */
static size_t rank_class(const char *id)
{
	static const char *const names[] = { "self", "core",    "l1",  "l2",      "l3",  "l4",
					     "l5",   "cluster", "die", "package", "numa" };
	size_t length = strcspn(id, "-:");

	for (size_t i = 0; i < ELEMENTSOF(names); i++)
		if (strlen(names[i]) == length && strncmp(names[i], id, length) == 0)
			return i;
	return strcmp(id, "unpinned") == 0 ? ELEMENTSOF(names) + 1 : ELEMENTSOF(names);
}

static int compare_groups(const void *a, const void *b)
{
	const struct group *x = a, *y = b;
	size_t rank_x = rank_class(x->class_id), rank_y = rank_class(y->class_id);
	int named = strverscmp(x->class_id, y->class_id);

	if (rank_x != rank_y)
		return rank_x < rank_y ? -1 : 1;
	if (named != 0)
		return named;
	if (x->fingerprint != y->fingerprint)
		return x->fingerprint < y->fingerprint ? -1 : 1;
	if (x->job != y->job)
		return x->job < y->job ? -1 : 1;
	return x->arm < y->arm ? -1 : x->arm > y->arm;
}

void samples_finish(struct samples *s)
{
	s->n_jobs = unite(s->jobs, s->n_jobs);
	for (size_t i = 0; i < s->n_sections; i++) {
		struct section *section = &s->sections[i];

		qsort(section->groups, section->n_groups, sizeof(*section->groups), compare_groups);
		for (size_t g = 0; g < section->n_groups; g++)
			section->groups[g].n_pairs =
				unite(section->groups[g].pairs, section->groups[g].n_pairs);
	}
}
