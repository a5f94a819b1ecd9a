/* SPDX-License-Identifier: MIT */
/*
 * Measured pair classes as tables.
 */
#include "render/result.h"

#include <schedlab/units.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "render/table.h"
#include "render/text.h"
#include "util/macro.h"
#include "util/parse.h"

/* TAINTED stands last, and only where there is something to tell in it. */
static const struct table_column columns[] = {
	{ "CLASS", false },  { "SHARES", false }, { "PAIRS", true },  { "PAIR", false },
	{ "METRIC", false }, { "N", true },       { "MEDIAN", true }, { "SPREAD", true },
	{ "MIN", true },     { "MAX", true },     { "UNIT", false },  { "TAINTED", false },
};

/* What a row of the table is made of. */
struct view {
	const json_t *root;
	bool all_metrics, tainted;
};

static json_int_t integer_of(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static double number_of(const json_t *object, const char *key)
{
	return json_number_value(json_object_get(object, key));
}

static bool has_ended(const json_t *root)
{
	return strcmp(text_of(root, "state"), "queued") != 0 &&
	       strcmp(text_of(root, "state"), "running") != 0;
}

static const char *pair_of(const json_t *row, char buffer[NUMBER_MAX])
{
	const json_t *pair = json_object_get(row, "pair");

	if (!json_is_array(pair))
		return "-";
	(void)snprintf(buffer, NUMBER_MAX, "%lld-%lld",
		       (long long)json_integer_value(json_array_get(pair, 0)),
		       (long long)json_integer_value(json_array_get(pair, 1)));
	return buffer;
}

/* "class l3, pair 0-1"; for the unpinned "class unpinned". */
static const char *name_of(const json_t *row, char *buffer, size_t size)
{
	char pair[NUMBER_MAX];
	bool pinned = json_is_array(json_object_get(row, "pair"));

	(void)snprintf(buffer, size, "class %s%s%s", text_of(row, "class"), pinned ? ", pair " : "",
		       pinned ? pair_of(row, pair) : "");
	return buffer;
}

/* In percent of the median; one sample has no spread. */
static const char *spread_of(const json_t *metric, char buffer[NUMBER_MAX])
{
	if (!json_is_number(json_object_get(metric, "spread")))
		return "-";
	return format_spread(buffer, number_of(metric, "median"), number_of(metric, "spread"));
}

/* How many samples of a row have a taint; a sample may have several. */
static json_int_t tainted_in(const json_t *row)
{
	return integer_of(row, "tainted");
}

/* One line; @metric NULL: nothing was measured, and @name says why. */
static void add_line(struct libscols_table *table, const struct view *view, const json_t *row,
		     const char *name, const json_t *metric, bool first)
{
	_cleanup_free_ char *shares = text_shares(row);
	char n_pairs[NUMBER_MAX], pair[NUMBER_MAX], spread[NUMBER_MAX], n[NUMBER_MAX],
		tainted[NUMBER_MAX], median[NUMBER_MAX], min[NUMBER_MAX], max[NUMBER_MAX];
	const char *cells[ELEMENTSOF(columns)] = {
		"", "", "", "", name, "", "", "", "", "", "", ""
	};

	(void)snprintf(n_pairs, sizeof(n_pairs), "%lld", (long long)integer_of(row, "n_pairs"));
	(void)snprintf(tainted, sizeof(tainted), "%lld", (long long)tainted_in(row));
	if (first) {
		cells[0] = text_of(row, "class");
		cells[1] = shares;
		cells[2] = json_is_array(json_object_get(row, "pair")) ? n_pairs : "-";
		cells[3] = pair_of(row, pair);
		cells[11] = tainted_in(row) > 0 ? tainted : "";
	}
	if (metric) {
		(void)snprintf(n, sizeof(n), "%lld", (long long)integer_of(metric, "n"));
		cells[5] = n;
		cells[6] = format_number(median, number_of(metric, "median"));
		cells[7] = spread_of(metric, spread);
		cells[8] = format_number(min, number_of(metric, "min"));
		cells[9] = format_number(max, number_of(metric, "max"));
		cells[10] = text_of(metric, "unit");
	}
	(void)table_add(table, cells, ELEMENTSOF(cells) - !view->tainted);
}

/* A pair without any good sample stands in the table too. */
static void add_row(struct libscols_table *table, const struct view *view, const json_t *row)
{
	const char *name;
	json_t *metric;
	bool first = true;

	json_object_foreach (json_object_get(row, "metrics"), name, metric) {
		if (!view->all_metrics && !json_is_true(json_object_get(metric, "headline")))
			continue;
		add_line(table, view, row, name, metric, first);
		first = false;
	}
	if (first)
		add_line(table, view, row,
			 integer_of(row, "failed") > 0 ? "(all failed)"
			 : has_ended(view->root)       ? "(none measured)"
						       : "(none measured yet)",
			 NULL, true);
}

static void print_tainted(const json_t *row)
{
	char name[160];
	const char *taint;
	json_t *count;
	bool any = false;

	if (tainted_in(row) == 0)
		return;
	printf("%s: %lld of %lld samples tainted:", name_of(row, name, sizeof(name)),
	       (long long)tainted_in(row), (long long)integer_of(row, "samples"));
	json_object_foreach (json_object_get(row, "taints"), taint, count) {
		printf("%s %lld %s", any ? "," : "", (long long)json_integer_value(count), taint);
		any = true;
	}
	puts("");
}

/* Each reason once for each pair. */
static void print_failed(const json_t *root, const json_t *row, size_t benchmark)
{
	_cleanup_(json_decrefp) json_t *said = json_object();
	char name[160];
	size_t i;
	json_t *failure;

	if (integer_of(row, "failed") == 0)
		return;
	printf("%s: %lld of %lld samples failed:\n", name_of(row, name, sizeof(name)),
	       (long long)integer_of(row, "failed"),
	       (long long)(integer_of(row, "failed") + integer_of(row, "samples")));
	json_array_foreach (json_object_get(root, "failures"), i, failure) {
		const char *why = text_of(failure, "why");

		if (integer_of(failure, "benchmark") != (json_int_t)benchmark ||
		    strcmp(text_of(failure, "class"), text_of(row, "class")) != 0 ||
		    !json_equal(json_object_get(failure, "pair"), json_object_get(row, "pair")) ||
		    json_object_get(said, why))
			continue;
		json_object_set_new(said, why, json_true());
		printf("  %s\n", why);
	}
}

/* The table of one benchmark, and below it which of its samples are doubtful or lost. */
static void print_benchmark(const json_t *root, size_t index, const json_t *benchmark,
			    bool all_metrics)
{
	struct view view = { .root = root, .all_metrics = all_metrics };
	const json_t *rows = json_object_get(root, "rows");
	struct libscols_table *table;
	size_t i;
	json_t *row;

	json_array_foreach (rows, i, row)
		view.tainted |=
			integer_of(row, "benchmark") == (json_int_t)index && tainted_in(row) > 0;
	table = table_new(columns, ELEMENTSOF(columns) - !view.tainted);
	if (!table)
		return;
	printf("%s%s\n", index ? "\n" : "", text_of(benchmark, "spec"));
	json_array_foreach (rows, i, row)
		if (integer_of(row, "benchmark") == (json_int_t)index)
			add_row(table, &view, row);
	table_print(table);
	json_array_foreach (rows, i, row) {
		if (integer_of(row, "benchmark") != (json_int_t)index)
			continue;
		print_tainted(row);
		print_failed(root, row, index);
	}
}

/* Which metrics are missing and why: each reason once. */
static void print_missing(const json_t *root)
{
	_cleanup_(json_decrefp) json_t *said = json_object();
	size_t i;
	json_t *row, *why;
	const char *metric;

	json_array_foreach (json_object_get(root, "rows"), i, row) {
		json_object_foreach (json_object_get(row, "unavailable"), metric, why) {
			char sentence[512];

			if (integer_of(row, "samples") == 0)
				continue;
			(void)snprintf(sentence, sizeof(sentence), "%s: unavailable, because %s.",
				       metric, json_string_value(why));
			if (json_object_get(said, sentence))
				continue;
			json_object_set_new(said, sentence, json_true());
			puts(sentence);
		}
	}
}

static void print_taints(const json_t *root)
{
	const char *name;
	json_t *meaning;

	if (integer_of(json_object_get(root, "counts"), "tainted") == 0)
		return;
	puts("Tainted samples are in the figures, but not to be trusted:");
	json_object_foreach (json_object_get(root, "taints"), name, meaning)
		printf("  %s: %s.\n", name, json_string_value(meaning));
}

/* What nobody named and cannot be measured: each reason once. */
static void print_left_out(const json_t *root)
{
	_cleanup_(json_decrefp) json_t *said = json_object();
	size_t i;
	json_t *omission;

	json_array_foreach (json_object_get(root, "left_out"), i, omission) {
		const char *why = text_of(omission, "why");

		if (json_object_get(said, why))
			continue;
		json_object_set_new(said, why, json_true());
		printf("Left out: %s.\n", why);
	}
}

/* What the store has not got. */
static void print_unkept(const json_t *root)
{
	const json_t *store = json_object_get(root, "store");
	json_int_t kept = integer_of(store, "kept"), unkept = integer_of(store, "unkept");
	json_int_t gone = integer_of(store, "gone");
	const char *why = text_of(store, "why");

	if (unkept > 0)
		printf("Not kept: %lld of %lld samples, because %s.\n", (long long)unkept,
		       (long long)(kept + unkept), *why ? why : "of a reason that nobody told");
	if (gone > 0)
		printf("%lld sample%s of this job %s no longer kept; the figures are of the "
		       "others.\n",
		       (long long)gone, gone == 1 ? "" : "s", gone == 1 ? "is" : "are");
	if (kept > 0 && has_ended(root))
		printf("Kept as job %lld.\n", (long long)integer_of(root, "job"));
}

/* Other than a usual task has it. */
static void print_scheduling(const json_t *machine)
{
	const char *policy = text_of(machine, "policy");
	json_int_t nice = integer_of(machine, "nice");

	if ((*policy && strcmp(policy, "other") != 0) || nice != 0)
		printf("Scheduled with policy %s and nice %lld, as the daemon is.\n",
		       *policy ? policy : "unknown", (long long)nice);
}

static void print_conditions(const json_t *root)
{
	const json_t *options = json_object_get(root, "options");
	const json_t *machine = json_object_get(root, "machine");
	json_int_t rounds = integer_of(options, "rounds"), done = integer_of(root, "rounds_done");
	const char *model = text_of(machine, "cpu_model"), *kernel = text_of(machine, "kernel");

	puts("");
	if (done < rounds)
		printf("%lld complete round%s of ", (long long)done, done == 1 ? "" : "s");
	printf("%lld round%s of %s (warm-up %s) in random order, seed %lld.\n"
	       "The spread is that of this measurement's samples (1.4826 x the median absolute\n"
	       "deviation), not how sure the median is.\n",
	       (long long)rounds, rounds == 1 ? "" : "s",
	       FORMAT_TIME((uint64_t)integer_of(options, "duration_usec") * NSEC_PER_USEC),
	       FORMAT_TIME((uint64_t)integer_of(options, "warm_up_usec") * NSEC_PER_USEC),
	       (long long)integer_of(options, "seed"));
	printf("%s, fingerprint %s,\nkernel %s.\n", *model ? model : "processor unknown",
	       text_of(machine, "fingerprint"), *kernel ? kernel : "unknown");
	print_scheduling(machine);
	text_print_guest(text_of(machine, "hypervisor"));
}

void result_print(const json_t *root, bool all_metrics)
{
	size_t i;
	json_t *benchmark;

	json_array_foreach (json_object_get(root, "benchmarks"), i, benchmark)
		print_benchmark(root, i, benchmark, all_metrics);
	print_taints(root);
	print_missing(root);
	print_left_out(root);
	print_unkept(root);
	print_conditions(root);
}
