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

static const struct table_column columns[] = {
	{ "CLASS", false },  { "SHARES", false }, { "PAIRS", true },  { "PAIR", false },
	{ "METRIC", false }, { "MEDIAN", true },  { "SPREAD", true }, { "MIN", true },
	{ "MAX", true },     { "UNIT", false },
};

static json_int_t integer_of(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static double number_of(const json_t *object, const char *key)
{
	return json_number_value(json_object_get(object, key));
}

/* The median absolute deviation in percent of the median; one sample has no spread. */
static const char *spread_of(const json_t *metric, char buffer[NUMBER_MAX])
{
	double median = number_of(metric, "median"), mad = number_of(metric, "mad");

	if (integer_of(metric, "n") < 2 || median == 0)
		return "-";
	(void)snprintf(buffer, NUMBER_MAX, "%s%.*f %%", plus_minus(), mad / median < 0.0995 ? 1 : 0,
		       mad / median * 100);
	return buffer;
}

static void add_metric(struct libscols_table *table, const json_t *row, const char *name,
		       const json_t *metric, bool first)
{
	_cleanup_free_ char *shares = text_shares(row);
	const json_t *pair = json_object_get(row, "pair");
	char n_pairs[24], pair_text[48] = "-", spread[NUMBER_MAX];
	const char *cells[ELEMENTSOF(columns)] = { "", "", "", "", name };

	(void)snprintf(n_pairs, sizeof(n_pairs), "%lld", (long long)integer_of(row, "n_pairs"));
	if (json_is_array(pair))
		(void)snprintf(pair_text, sizeof(pair_text), "%lld-%lld",
			       (long long)json_integer_value(json_array_get(pair, 0)),
			       (long long)json_integer_value(json_array_get(pair, 1)));
	if (first) {
		cells[0] = text_of(row, "class");
		cells[1] = shares;
		cells[2] = n_pairs;
		cells[3] = pair_text;
	}
	cells[5] = FORMAT_NUMBER(number_of(metric, "median"));
	cells[6] = spread_of(metric, spread);
	cells[7] = FORMAT_NUMBER(number_of(metric, "min"));
	cells[8] = FORMAT_NUMBER(number_of(metric, "max"));
	cells[9] = text_of(metric, "unit");
	(void)table_add(table, cells, ELEMENTSOF(cells));
}

/* A pair without any good sample stands in the table too. */
static void add_row(struct libscols_table *table, const json_t *row, bool all_metrics)
{
	const char *name;
	json_t *metric;
	bool first = true;

	json_object_foreach (json_object_get(row, "metrics"), name, metric) {
		if (!all_metrics && !json_is_true(json_object_get(metric, "headline")))
			continue;
		add_metric(table, row, name, metric, first);
		first = false;
	}
	if (first) {
		const char *cells[ELEMENTSOF(columns)] = {
			text_of(row, "class"), "", "", "", "-", "-", "-", "-", "-", ""
		};

		(void)table_add(table, cells, ELEMENTSOF(cells));
	}
}

static void print_benchmark(const json_t *root, size_t index, const json_t *benchmark,
			    bool all_metrics)
{
	struct libscols_table *table = table_new(columns, ELEMENTSOF(columns));
	size_t i;
	json_t *row;

	if (!table)
		return;
	printf("%s%s\n", index ? "\n" : "", text_of(benchmark, "spec"));
	json_array_foreach (json_object_get(root, "rows"), i, row)
		if (integer_of(row, "benchmark") == (json_int_t)index)
			add_row(table, row, all_metrics);
	table_print(table);
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
	json_int_t tainted = integer_of(json_object_get(root, "counts"), "tainted");
	size_t i;
	json_t *row, *count;
	const char *taint;

	if (tainted == 0)
		return;
	printf("%lld of %lld samples are tainted (kept, but not to be trusted):\n",
	       (long long)tainted,
	       (long long)integer_of(json_object_get(root, "counts"), "samples"));
	json_array_foreach (json_object_get(root, "rows"), i, row)
		json_object_foreach (json_object_get(row, "tainted"), taint, count)
			printf("  class %s: %lld of %lld %s\n", text_of(row, "class"),
			       (long long)json_integer_value(count),
			       (long long)integer_of(row, "samples"), taint);
}

static void print_failures(const json_t *root)
{
	json_int_t failed = integer_of(json_object_get(root, "counts"), "failed");
	_cleanup_(json_decrefp) json_t *said = json_object();
	size_t i;
	json_t *failure;

	if (failed == 0)
		return;
	printf("%lld sample%s failed:\n", (long long)failed, failed == 1 ? "" : "s");
	json_array_foreach (json_object_get(root, "failures"), i, failure) {
		char sentence[2200];

		(void)snprintf(sentence, sizeof(sentence), "  class %s: %s",
			       text_of(failure, "class"), text_of(failure, "why"));
		if (json_object_get(said, sentence))
			continue;
		json_object_set_new(said, sentence, json_true());
		puts(sentence);
	}
}

static void print_conditions(const json_t *root)
{
	const json_t *options = json_object_get(root, "options");
	const json_t *machine = json_object_get(root, "machine");
	json_int_t rounds = integer_of(options, "rounds");

	printf("\n%lld round%s of %s (warm-up %s), in random order, seed %lld; spread is the "
	       "median "
	       "absolute deviation.\n",
	       (long long)rounds, rounds == 1 ? "" : "s",
	       FORMAT_TIME((uint64_t)integer_of(options, "duration_usec") * NSEC_PER_USEC),
	       FORMAT_TIME((uint64_t)integer_of(options, "warm_up_usec") * NSEC_PER_USEC),
	       (long long)integer_of(options, "seed"));
	printf("%s, kernel %s, fingerprint %s.\n",
	       *text_of(machine, "cpu_model") ? text_of(machine, "cpu_model") : "processor unknown",
	       *text_of(machine, "kernel") ? text_of(machine, "kernel") : "unknown",
	       text_of(machine, "fingerprint"));
	text_print_guest(text_of(machine, "hypervisor"));
}

void result_print(const json_t *root, bool all_metrics)
{
	size_t i;
	json_t *benchmark;

	json_array_foreach (json_object_get(root, "benchmarks"), i, benchmark)
		print_benchmark(root, i, benchmark, all_metrics);
	print_conditions(root);
	print_missing(root);
	print_taints(root);
	print_failures(root);
}
