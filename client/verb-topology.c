/* SPDX-License-Identifier: MIT */
/*
 * topology: what machine this is, and its pair classes.
 */
#include <schedlab/names.h>

#include "client.h"
#include "render/pager.h"
#include "render/table.h"
#include "render/text.h"

/* "2 packages, 48 cores, 96 CPUs": the levels that group anything, from the outside in. */
static void print_counts(const json_t *root)
{
	static const struct {
		const char *key, *one, *many;
	} levels[] = {
		{ "drawer", "drawer", "drawers" },     { "book", "book", "books" },
		{ "package", "package", "packages" },  { "die", "die", "dies" },
		{ "node", "NUMA node", "NUMA nodes" }, { "cluster", "cluster", "clusters" },
		{ "core", "core", "cores" },           { "cpus", "CPU", "CPUs" },
	};
	const json_t *counts = json_object_get(root, "counts");
	bool any = false;

	printf("  %-13s ", "objects");
	for (size_t i = 0; i < ELEMENTSOF(levels); i++) {
		json_int_t n = json_integer_value(json_object_get(counts, levels[i].key));

		if (n == 0)
			continue;
		printf("%s%lld %s", any ? ", " : "", (long long)n,
		       n == 1 ? levels[i].one : levels[i].many);
		any = true;
	}
	puts("");
}

static void print_caches(const json_t *root)
{
	const json_t *caches = json_object_get(root, "caches");
	size_t i;
	json_t *c;

	printf("  %-13s ", "caches");
	if (json_array_size(caches) == 0)
		puts("none that the kernel tells");
	json_array_foreach (caches, i, c) {
		json_int_t cpus = json_integer_value(json_object_get(c, "cpus_each"));

		printf("%s%lld x %s %s for %lld CPU%s", i ? ", " : "",
		       (long long)json_integer_value(json_object_get(c, "count")),
		       text_of(c, "level"),
		       json_is_null(json_object_get(c, "bytes"))
			       ? "(size not told)"
			       : FORMAT_BYTES(json_number_value(json_object_get(c, "bytes"))),
		       (long long)cpus, cpus == 1 ? "" : "s");
	}
	if (json_array_size(caches) > 0)
		puts(*text_of(root, "hypervisor") ? " (claimed)" : "");
}

static void print_kinds(const json_t *root)
{
	size_t i;
	json_t *kind;

	json_array_foreach (json_object_get(root, "kinds"), i, kind)
		printf("  %-13s %s: CPU %s\n", i ? "" : "core kinds", text_of(kind, "name"),
		       text_of(kind, "cpus"));
}

static void print_nodes(const json_t *root)
{
	const json_t *nodes = json_object_get(root, "nodes");
	const json_t *distances = json_object_get(root, "distances");
	size_t i, j;
	json_t *node, *distance;

	/* More would fill the screen; --json has all. */
	if (json_array_size(nodes) < 2 || json_array_size(nodes) > 16)
		return;
	json_array_foreach (nodes, i, node) {
		const char *cpus = text_of(node, "cpus");

		printf("  %-13s %lld: %s%s; distances", i ? "" : "NUMA nodes",
		       (long long)json_integer_value(json_object_get(node, "node")),
		       *cpus ? "CPU " : "memory only", cpus);
		if (json_is_null(distances))
			printf(" not told");
		json_array_foreach (json_array_get(distances, i), j, distance)
			printf(" %lld", (long long)json_integer_value(distance));
		puts("");
	}
}

static void print_llc(const json_t *root)
{
	const json_t *llc = json_object_get(root, "scheduler_llc");
	size_t i;
	json_t *d;

	if (!json_is_true(json_object_get(llc, "known"))) {
		printf("  %-13s unavailable, because %s\n", "scheduler LLC",
		       text_of(llc, "why_not"));
		return;
	}
	if (json_is_true(json_object_get(llc, "agrees"))) {
		printf("  %-13s the same CPUs as the last cache level\n", "scheduler LLC");
		return;
	}
	printf("  %-13s DIFFERS from the last cache level on %lld CPUs\n", "scheduler LLC",
	       (long long)json_integer_value(json_object_get(llc, "n_different")));
	json_array_foreach (json_object_get(llc, "differences"), i, d)
		printf("  %-13s CPU %lld: scheduler %s, hardware %s\n", "",
		       (long long)json_integer_value(json_object_get(d, "cpu")),
		       text_of(d, "scheduler"), text_of(d, "hardware"));
}

static void print_frequency(const json_t *root)
{
	const json_t *domains = json_object_get(root, "frequency_domains");

	if (json_is_true(json_object_get(domains, "known")))
		printf("  %-13s %lld domains\n", "frequency",
		       (long long)json_integer_value(json_object_get(domains, "count")));
	else
		printf("  %-13s domains unavailable, because %s\n", "frequency",
		       text_of(domains, "why_not"));
}

/* Which CPUs are left out, and why; silent where none is. */
static void print_left_out(const json_t *root)
{
	static const char *const keys[] = { "offline", "isolated", "nohz_full" };
	const json_t *lists = json_object_get(root, "cpu_lists");

	printf("  %-13s CPU %s\n", "pairs among", text_of(lists, "measured"));
	if (strcmp(text_of(lists, "allowed"), text_of(lists, "online")) != 0)
		printf("  %-13s CPU %s of %s online ones (cpuset or affinity)\n", "allowed",
		       text_of(lists, "allowed"), text_of(lists, "online"));
	for (size_t i = 0; i < ELEMENTSOF(keys); i++)
		if (*text_of(lists, keys[i]))
			printf("  %-13s CPU %s%s\n", keys[i], text_of(lists, keys[i]),
			       i ? " (left out unless named)" : "");
}

static char *pairs_text(const json_t *pairs)
{
	_cleanup_free_ char *text = NULL;
	size_t size, i;
	FILE *out = open_memstream(&text, &size);
	json_t *pair;

	if (!out)
		return NULL;
	json_array_foreach (pairs, i, pair)
		fprintf(out, "%s%lld-%lld", i ? " " : "",
			(long long)json_integer_value(json_array_get(pair, 0)),
			(long long)json_integer_value(json_array_get(pair, 1)));
	if (fclose(out) != 0)
		return NULL;
	return TAKE_PTR(text);
}

static int print_classes(const json_t *root)
{
	static const struct table_column columns[] = {
		{ "CLASS", false },
		{ "SHARES", false },
		{ "PAIRS", true },
		{ "REPRESENTATIVES", false },
	};
	struct libscols_table *table = table_new(columns, ELEMENTSOF(columns));
	size_t i;
	json_t *class;

	json_array_foreach (json_object_get(root, "classes"), i, class) {
		_cleanup_free_ char *shares = text_shares(class);
		_cleanup_free_ char *pairs = pairs_text(json_object_get(class, "representatives"));
		json_int_t n = json_integer_value(json_object_get(class, "n_pairs"));
		char count[24];
		const char *cells[] = { text_of(class, "id"), shares, count, pairs };

		(void)snprintf(count, sizeof(count), "%lld", (long long)n);
		if (n == 0) /* the unpinned have none */
			cells[2] = "-";
		if (!table || table_add(table, cells, ELEMENTSOF(cells)) != 0)
			return -1;
	}
	table_print(table);
	return 0;
}

static void print_topology(const json_t *root)
{
	size_t i;
	json_t *note;

	text_print_machine(root);
	print_counts(root);
	print_caches(root);
	print_kinds(root);
	print_nodes(root);
	print_llc(root);
	print_frequency(root);
	print_left_out(root);
	puts("\nPair classes (all pairs with the same nearest shared resource):");
	(void)print_classes(root);
	json_array_foreach (json_object_get(root, "notes"), i, note)
		printf("%sNote: %s.\n", i ? "" : "\n", json_string_value(note));
	text_print_guest(text_of(root, "hypervisor"));
}

static int run(struct client *c, int argc, char *argv[], struct fail *f)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_(json_decrefp) json_t *root = NULL;
	int r = client_no_arguments(argc, argv, f);

	if (r >= 0)
		r = client_get_json(c, SCHEDLAB_PATH, SCHEDLAB_INTERFACE_MANAGER,
				    "DescribeTopology", &text, f);
	if (r < 0 || client_print_json(c, text))
		return r;
	root = text_load(text);
	pager_open(!c->no_pager);
	print_topology(root);
	return 0;
}

extern const struct verb verb_topology;
const struct verb verb_topology = {
	.name = "topology",
	.arguments = "",
	.summary = "What machine this is, and its pair classes",
	.help = "With --topology another machine is shown: a directory with its /sys and /proc, "
		"hwloc's "
		"XML,\nor a synthetic description as hwloc reads it "
		"(\"synthetic:package:2 l3:2 core:4 pu:2\").\n",
	.run = run,
};
