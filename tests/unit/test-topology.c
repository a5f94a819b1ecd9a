/* SPDX-License-Identifier: MIT */
/*
 * Topology and pair classes on made machines: exact counts, ids, kinds, what is shared, what is odd.
 */
#include "unit.h"

#include <hwloc.h>
#include <stdio.h>

#include "topology/class.h"
#include "topology/fingerprint.h"
#include "topology/json.h"
#include "topology/llc.h"

static char *trees; /* where the made machines lie */

static int make_trees(void **state)
{
	(void)state;
	trees = unit_make_dir();
	return 0;
}

static int remove_trees(void **state)
{
	(void)state;
	unit_remove_dir(trees);
	free(trees);
	return 0;
}

/* Makes the tree of @machine (mktree.py) unless it is there, and explores it. */
static struct topology *explore(const char *machine)
{
	_cleanup_(kernfs_freep) struct kernfs *k = NULL;
	_cleanup_free_ char *dir = NULL, *command = NULL;
	struct topology *t = NULL;
	struct fail f = { 0 };

	assert_true(asprintf(&dir, "%s/%s", trees, machine) > 0);
	if (access(dir, F_OK) < 0) {
		assert_true(asprintf(&command, "/usr/bin/python3 " MKTREE " %s %s", machine, dir) >
			    0);
		assert_int_equal(system(command), 0);
	}
	assert_int_equal(kernfs_new(NULL, &k, &f), 0);
	if (topology_load(k, dir, &t, &f) < 0)
		fail_msg("%s: %s", machine, f.message);
	return t;
}

static struct class_table *classify(struct topology *t, const char *within)
{
	_cleanup_(cpuset_freep) struct cpuset *cpus = NULL;
	struct class_table *table = NULL;
	struct fail f = { 0 };

	if (within)
		assert_int_equal(cpuset_parse_list(within, &cpus, &f), 0);
	if (class_table_new(t, cpus, 3, 1, &table, &f) < 0)
		fail_msg("%s", f.message);
	return table;
}

/* "self=8 core=4 ..." */
static char *summary(const struct class_table *table)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (size_t i = 0; i < class_table_size(table); i++) {
		const struct pair_class *c = class_table_get(table, i);

		fprintf(out, "%s%s=%ju", i ? " " : "", c->id, (uintmax_t)c->n_pairs);
	}
	assert_int_equal(fclose(out), 0);
	return text;
}

static void test_counts(void **state)
{
	static const struct {
		const char *machine, *classes;
	} expected[] = {
		{ "power9-bigcore",
		  "self=96 l1=144 core=192 package=1920 numa-40=2304 unpinned=0" },
		{ "power10-bigcore",
		  "self=96 l1=144 core=192 package=1920 numa-40=2304 unpinned=0" },
		{ "kunpeng920", "self=96 cluster=144 l3=960 package=1152 numa-20=576 numa-22=1152 "
				"numa-24=576 unpinned=0" },
		{ "epyc-nps1", "self=256 core=128 l3=1792 package=14336 numa-32=16384 unpinned=0" },
		{ "epyc-nps4", "self=256 core=128 l3=1792 numa-10=2048 package=12288 numa-32=16384 "
			       "unpinned=0" },
		{ "intel-hybrid", "self:P=12 self:E=8 core:P-P=6 l2:E-E=12 l3:P-P=60 l3:P-E=96 "
				  "l3:E-E=16 unpinned=0" },
		{ "hybrid-capacity", "self:P=12 self:E=8 core:P-P=6 l2:E-E=12 l3:P-P=60 l3:P-E=96 "
				     "l3:E-E=16 unpinned=0" },
		{ "big-little", "self:big=4 self:little=4 l2:big-big=6 l2:little-little=6 "
				"package:big-little=16 unpinned=0" },
		{ "gb10", "self:big=10 self:little=10 l3:big-big=45 l3:little-little=45 "
			  "package:big-little=100 unpinned=0" },
		{ "snc-l3-node", "self=64 core=32 l3=448 package=512 numa-21=1024 unpinned=0" },
		{ "snc-l3-package", "self=64 core=32 numa-10=448 l3=512 numa-21=1024 unpinned=0" },
		{ "vm2", "self=2 package=1 unpinned=0" },
		{ "huge", "self=4096 core=2048 l3=28672 package=491520 numa-20=1572864 "
			  "numa-30=6291456 unpinned=0" },
		{ "sparse", "self=32 core=48 l2=64 package=128 numa-40=256 unpinned=0" },
		{ "offline-zero", "self=7 l3=9 numa-unknown=12 unpinned=0" },
		{ "pmem", "self=16 core=8 l3=48 numa-21=64 unpinned=0" },
		{ "snc-memory", "self=16 numa-10=24 l3=32 numa-21=64 unpinned=0" },
		{ "nodes64", "self=256 package=128 numa-10=256 numa-22=3584 numa-34=28672 "
			     "unpinned=0" },
		{ "asymmetric", "self=8 l2=2 package=26 unpinned=0" },
		{ "isolated", "self=9 core=4 l3=32 unpinned=0" },
		{ "crossing", "self=8 l3-10=4 l3-20=8 numa-10=8 numa-20=8 unpinned=0" },
		{ "bulldozer", "self=32 l2=16 l3=96 package=128 numa-22=256 unpinned=0" },
		{ "single", "self=1 unpinned=0" },
	};

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(expected); i++) {
		_cleanup_(topology_freep) struct topology *t = explore(expected[i].machine);
		_cleanup_(class_table_freep) struct class_table *table = classify(t, NULL);
		_cleanup_free_ char *got = summary(table);

		if (strcmp(got, expected[i].classes) != 0)
			fail_msg("%s:\n expected %s\n      got %s", expected[i].machine,
				 expected[i].classes, got);
	}
}

/* The class of one pair, by name. */
static void assert_class(const struct class_table *table, uint32_t a, uint32_t b, const char *id)
{
	const struct pair_class *c = NULL;
	struct fail f = { 0 };

	if (class_table_classify(table, (struct cpu_pair){ a, b }, &c, &f) < 0)
		fail_msg("%s", f.message);
	if (strcmp(c->id, id) != 0)
		fail_msg("pair %u-%u is %s, not %s", a, b, c->id, id);
}

/* On a big core (0,2) shares the L1 and (0,1) is "core". */
static void test_big_core_pairs(void **state)
{
	_cleanup_(topology_freep) struct topology *t = explore("power9-bigcore");
	_cleanup_(class_table_freep) struct class_table *table = classify(t, NULL);
	const struct pair_class *c = NULL;

	(void)state;
	assert_class(table, 0, 2, "l1");
	assert_class(table, 0, 1, "core");
	assert_class(table, 0, 8, "package");
	assert_class(table, 0, 48, "numa-40");
	assert_class(table, 5, 5, "self");
	assert_int_equal(class_table_find(table, "l1", &c, NULL), 0);
	assert_int_equal(c->shares, 1U << LEVEL_CORE | 1U << LEVEL_L1 | 1U << LEVEL_L2 |
					    1U << LEVEL_L3 | 1U << LEVEL_PACKAGE |
					    1U << LEVEL_NODE);
	assert_int_equal(class_table_find(table, "core", &c, NULL), 0);
	assert_int_equal(c->shares, 1U << LEVEL_CORE | 1U << LEVEL_L2 | 1U << LEVEL_L3 |
					    1U << LEVEL_PACKAGE | 1U << LEVEL_NODE);
}

/* Every pair of a made machine, classified one by one, counted against the table. */
static void count_one_by_one(const struct class_table *table)
{
	const struct cpuset *cpus = class_table_cpus(table);
	uint64_t counts[64] = { 0 };

	assert_true(class_table_size(table) < ELEMENTSOF(counts));
	CPUSET_FOREACH (a, cpus) {
		for (int b = a; b >= 0; b = cpuset_next(cpus, (unsigned int)b + 1)) {
			const struct pair_class *c = NULL, *back = NULL;
			struct cpu_pair pair = { (uint32_t)a, (uint32_t)b };
			struct cpu_pair reverse = { (uint32_t)b, (uint32_t)a };

			assert_int_equal(class_table_classify(table, pair, &c, NULL), 0);
			assert_int_equal(class_table_classify(table, reverse, &back, NULL), 0);
			assert_ptr_equal(c, back);
			counts[c - class_table_get(table, 0)]++;
		}
	}
	for (size_t i = 0; i < class_table_size(table); i++)
		assert_int_equal(counts[i], class_table_get(table, i)->n_pairs);
}

/* Each representative belongs to its class, none twice, and as many as there can be. */
static void check_representatives(const struct class_table *table)
{
	for (size_t i = 0; i < class_table_size(table); i++) {
		const struct pair_class *c = class_table_get(table, i);

		assert_int_equal(c->n_representatives, MIN_OF(c->n_pairs, 3U));
		for (size_t j = 0; j < c->n_representatives; j++) {
			const struct pair_class *own = NULL;

			assert_int_equal(
				class_table_classify(table, c->representatives[j], &own, NULL), 0);
			assert_ptr_equal(own, c);
			for (size_t other = 0; other < j; other++)
				assert_memory_not_equal(&c->representatives[j],
							&c->representatives[other],
							sizeof(struct cpu_pair));
		}
	}
}

static void test_random_machines(void **state)
{
	(void)state;
	for (int seed = 0; seed < 60; seed++) {
		_cleanup_free_ char *name = NULL;
		struct topology *t;
		struct class_table *table;

		assert_true(asprintf(&name, "random:%d", seed) > 0);
		t = explore(name);
		table = classify(t, NULL);
		count_one_by_one(table);
		check_representatives(table);
		class_table_free(table);
		topology_free(t);
	}
}

static void test_named_machines_one_by_one(void **state)
{
	static const char *const machines[] = { "power9-bigcore", "kunpeng920", "intel-hybrid",
						"crossing",       "isolated",   "sparse" };

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(machines); i++) {
		_cleanup_(topology_freep) struct topology *t = explore(machines[i]);
		_cleanup_(class_table_freep) struct class_table *table = classify(t, NULL);

		count_one_by_one(table);
		check_representatives(table);
	}
}

/* One seed, one choice; other seeds choose otherwise; three pairs lie in three complexes. */
static void test_representatives_spread(void **state)
{
	_cleanup_(topology_freep) struct topology *t = explore("epyc-nps1");
	bool differ = false;
	uint32_t first = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct class_table *a = NULL, *b = NULL;
		const struct pair_class *x, *y;

		assert_int_equal(class_table_new(t, NULL, 3, seed, &a, NULL), 0);
		assert_int_equal(class_table_new(t, NULL, 3, seed, &b, NULL), 0);
		assert_int_equal(class_table_find(a, "l3", &x, NULL), 0);
		assert_int_equal(class_table_find(b, "l3", &y, NULL), 0);
		assert_memory_equal(x->representatives, y->representatives,
				    3 * sizeof(*x->representatives));
		differ |= seed > 1 && x->representatives[0].waker != first;
		first = x->representatives[0].waker;
		for (size_t i = 0; i < 3; i++)
			for (size_t j = 0; j < i; j++)
				assert_int_not_equal(x->representatives[i].waker % 128 / 8,
						     x->representatives[j].waker % 128 / 8);
		class_table_free(a);
		class_table_free(b);
	}
	assert_true(differ);
}

/* No CPU stands for a class twice while others can. */
static void test_representatives_take_other_cpus(void **state)
{
	_cleanup_(topology_freep) struct topology *t = explore("gb10");

	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		_cleanup_(class_table_freep) struct class_table *table = NULL;
		_cleanup_(cpuset_freep) struct cpuset *used = cpuset_new();
		const struct pair_class *c;

		assert_int_equal(class_table_new(t, NULL, 4, seed, &table, NULL), 0);
		assert_int_equal(class_table_find(table, "package:big-little", &c, NULL), 0);
		for (size_t i = 0; i < 4; i++) {
			assert_false(cpuset_has(used, c->representatives[i].waker));
			assert_false(cpuset_has(used, c->representatives[i].wakee));
			assert_int_equal(cpuset_add(used, c->representatives[i].waker), 0);
			assert_int_equal(cpuset_add(used, c->representatives[i].wakee), 0);
		}
	}
}

static void test_excluded_cpus(void **state)
{
	_cleanup_(topology_freep) struct topology *t = explore("isolated");
	_cleanup_(class_table_freep) struct class_table *usual = classify(t, NULL);
	_cleanup_(class_table_freep) struct class_table *asked = classify(t, "2,10");
	_cleanup_free_ char *got = summary(asked),
			    *cpus = cpuset_format_list(class_table_cpus(usual));
	const struct pair_class *c = NULL;
	struct fail f = { 0 };

	(void)state;
	assert_string_equal(cpus, "1,4-6,8-9,12-14");
	assert_string_equal(topology_why_not(t, 2), "isolated");
	assert_string_equal(topology_why_not(t, 7), "nohz_full");
	assert_string_equal(topology_why_not(t, 0),
			    "outside the cpuset or the affinity of this process");
	assert_string_equal(topology_why_not(t, 99), "not present");
	assert_null(topology_why_not(t, 4));
	assert_true(class_table_classify(usual, (struct cpu_pair){ 4, 2 }, &c, &f) < 0);
	assert_contains(f.message,
			"CPU 2 cannot be measured: isolated; use one of 1,4-6,8-9,12-14");
	/* Isolated CPUs can be asked for. */
	assert_string_equal(got, "self=2 core=1 unpinned=0");
}

/* freqdomain_cpus (what the hardware couples) before related_cpus (what one policy governs). */
static void test_frequency_domains(void **state)
{
	_cleanup_(topology_freep) struct topology *coupled = explore("isolated");
	_cleanup_(topology_freep) struct topology *clusters = explore("big-little");
	_cleanup_(topology_freep) struct topology *none = explore("vm2");
	_cleanup_(class_table_freep) struct class_table *table = classify(clusters, NULL);
	const struct pair_class *c = NULL;

	(void)state;
	assert_int_equal(topology_find_cpu(coupled, 1)->frequency,
			 topology_find_cpu(coupled, 3)->frequency);
	assert_int_not_equal(topology_find_cpu(coupled, 1)->frequency,
			     topology_find_cpu(coupled, 4)->frequency);
	assert_int_equal(class_table_find(table, "l2:big-big", &c, NULL), 0);
	assert_true(c->shares_frequency);
	assert_int_equal(class_table_find(table, "package:big-little", &c, NULL), 0);
	assert_false(c->shares_frequency);
	assert_non_null(none->frequency_why_not);
	assert_null(clusters->frequency_why_not);
}

static void test_notes(void **state)
{
	_cleanup_(topology_freep) struct topology *t = explore("crossing");

	(void)state;
	class_table_free(classify(t, NULL));
	class_table_free(classify(t, NULL));
	/* Once each, however often classes are made. */
	assert_int_equal(t->n_notes, 2);
	assert_contains(t->notes[0], "node 0 crosses other objects of the machine");
}

static void test_missing_class(void **state)
{
	_cleanup_(topology_freep) struct topology *t = explore("kunpeng920");
	_cleanup_(class_table_freep) struct class_table *table = classify(t, NULL);
	const struct pair_class *c = NULL;
	struct fail f = { 0 };

	(void)state;
	assert_true(class_table_find(table, "clutser", &c, &f) < 0);
	assert_int_equal(f.code, SCHEDLAB_ERROR_NO_SUCH_CLASS);
	assert_contains(f.message, "did you mean 'cluster'? There are: self, cluster, l3,");
}

static void test_llc(void **state)
{
	static const char *const agreeing[] = { "llc-15", "llc-17" };
	_cleanup_(topology_freep) struct topology *wrong = explore("llc-wrong");
	_cleanup_(topology_freep) struct topology *none = explore("vm2");
	struct llc_view v;

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(agreeing); i++) {
		_cleanup_(topology_freep) struct topology *t = explore(agreeing[i]);

		assert_int_equal(llc_view_read(NULL, t, &v, NULL), 0);
		assert_null(v.why_not);
		assert_int_equal(v.n_compared, 8);
		assert_int_equal(v.n_different, 0);
		llc_view_clear(&v);
	}
	assert_int_equal(llc_view_read(NULL, wrong, &v, NULL), 0);
	assert_int_equal(v.n_different, 8);
	assert_string_equal(v.differences[0].scheduler, "0-7");
	assert_string_equal(v.differences[0].hardware, "0-3");
	llc_view_clear(&v);
	assert_int_equal(llc_view_read(NULL, none, &v, NULL), 0);
	assert_contains(v.why_not, "/proc/schedstat");
	llc_view_clear(&v);
}

static void test_guest(void **state)
{
	_cleanup_(topology_freep) struct topology *guest = explore("vm2");
	_cleanup_(topology_freep) struct topology *metal = explore("epyc-nps1");
	_cleanup_(topology_freep) struct topology *silent = explore("asymmetric");

	(void)state;
	assert_non_null(guest->hypervisor);
	assert_null(metal->hypervisor);
	assert_null(metal->hypervisor_why_not);
	/* Neither a flag nor the firmware's tables: not "none". */
	assert_null(silent->hypervisor);
	assert_non_null(silent->hypervisor_why_not);
}

static void test_fingerprint(void **state)
{
	_cleanup_(topology_freep) struct topology *a = explore("epyc-nps1"),
						  *b = explore("epyc-nps4");
	_cleanup_(fingerprint_freep) struct fingerprint *x = NULL, *again = NULL, *y = NULL;
	_cleanup_(json_decrefp) json_t *json = NULL;

	(void)state;
	assert_int_equal(fingerprint_read(NULL, a, &x, NULL), 0);
	assert_int_equal(fingerprint_read(NULL, a, &again, NULL), 0);
	assert_int_equal(fingerprint_read(NULL, b, &y, NULL), 0);
	assert_string_equal(x->id, again->id);
	assert_string_not_equal(x->id, y->id);
	assert_int_equal(strlen(x->id), 16);
	assert_string_equal(fingerprint_get(x, "cpu_model"), "AMD EPYC 7763");
	assert_string_equal(fingerprint_get(x, "virtualisation"), "none");
	assert_null(fingerprint_get(x, "firmware"));
	json = fingerprint_to_json(x);
	assert_non_null(json);
	assert_contains(json_string_value(
				json_object_get(json_object_get(json, "unavailable"), "firmware")),
			"/sys/class/dmi/id/bios_vendor: No such file or directory");
}

/* An empty file and a missing one are unknown values, each with its reason. */
static void test_what_is_not_told(void **state)
{
	_cleanup_(topology_freep) struct topology *t = explore("asymmetric");
	_cleanup_(class_table_freep) struct class_table *table = classify(t, NULL);
	_cleanup_(fingerprint_freep) struct fingerprint *fp = NULL;
	_cleanup_(json_decrefp) json_t *whole = NULL;
	struct llc_view llc = { .why_not = NULL };
	const json_t *missing, *l2;

	(void)state;
	assert_int_equal(fingerprint_read(NULL, t, &fp, NULL), 0);
	assert_int_equal(llc_view_read(NULL, t, &llc, NULL), 0);
	whole = topology_to_json(t, table, fp, &llc);
	llc_view_clear(&llc);
	assert_non_null(whole);
	missing = json_object_get(json_object_get(whole, "fingerprint"), "unavailable");
	assert_contains(json_string_value(json_object_get(missing, "microcode")),
			"the kernel's file is empty");
	assert_non_null(json_object_get(missing, "virtualisation"));
	l2 = json_array_get(json_object_get(whole, "caches"), 1);
	assert_string_equal(json_string_value(json_object_get(l2, "level")), "l2");
	assert_true(json_is_null(json_object_get(l2, "bytes")));
	assert_int_equal(json_integer_value(json_object_get(l2, "count")), 2);
}

/* A machine's tree as hwloc's XML, written by hwloc itself. */
static char *export_xml(const char *machine)
{
	_cleanup_free_ char *dir = NULL;
	char *path = NULL;
	hwloc_topology_t h = NULL;

	assert_true(asprintf(&dir, "%s/%s", trees, machine) > 0);
	assert_true(asprintf(&path, "%s/%s.xml", trees, machine) > 0);
	assert_int_equal(setenv("HWLOC_FSROOT", dir, 1), 0);
	assert_int_equal(setenv("HWLOC_COMPONENTS", "linux,-x86,stop", 1), 0);
	assert_int_equal(hwloc_topology_init(&h), 0);
	assert_int_equal(hwloc_topology_set_all_types_filter(h, HWLOC_TYPE_FILTER_KEEP_ALL), 0);
	assert_int_equal(hwloc_topology_load(h), 0);
	assert_int_equal(hwloc_topology_export_xml(h, path, 0), 0);
	hwloc_topology_destroy(h);
	assert_int_equal(unsetenv("HWLOC_FSROOT"), 0);
	assert_int_equal(unsetenv("HWLOC_COMPONENTS"), 0);
	return path;
}

/* The same nodes with the same CPUs and distances, however either source orders them. */
static void assert_same_nodes(const struct topology *a, const struct topology *b)
{
	assert_int_equal(a->n_nodes, b->n_nodes);
	/* hwloc keeps no distance of a node to itself alone. */
	assert_int_equal(!a->distance, !b->distance && a->n_nodes > 1);
	for (size_t i = 0; i < a->n_nodes; i++) {
		for (size_t j = 0; b->distance && j < a->n_nodes; j++) {
			size_t x = 0, y = 0;

			while (b->nodes[x].id != a->nodes[i].id)
				assert_true(++x < b->n_nodes);
			while (b->nodes[y].id != a->nodes[j].id)
				assert_true(++y < b->n_nodes);
			assert_int_equal(a->distance[i * a->n_nodes + j],
					 b->distance[x * b->n_nodes + y]);
		}
	}
	for (size_t i = 0; i < a->n_cpus; i++) {
		const struct topology_cpu *c = &a->cpus[i], *d = topology_find_cpu(b, c->id);

		assert_non_null(d);
		assert_int_equal(a->nodes[c->group[LEVEL_NODE]].id,
				 b->nodes[d->group[LEVEL_NODE]].id);
	}
}

/* Nodes of memory only and nodes out of order: XML and tree are one machine. */
static void test_xml_is_the_same_machine(void **state)
{
	static const char *const machines[] = { "snc-memory", "pmem",       "kunpeng920",
						"epyc-nps4",  "asymmetric", "power10-bigcore" };

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(machines); i++) {
		_cleanup_(topology_freep) struct topology *tree = explore(machines[i]), *xml = NULL;
		_cleanup_(class_table_freep) struct class_table *x = NULL, *y = NULL;
		_cleanup_free_ char *path = export_xml(machines[i]), *a = NULL, *b = NULL;
		_cleanup_(kernfs_freep) struct kernfs *k = NULL;

		assert_int_equal(kernfs_new(NULL, &k, NULL), 0);
		assert_int_equal(topology_load(k, path, &xml, NULL), 0);
		x = classify(tree, NULL);
		y = classify(xml, NULL);
		a = summary(x);
		b = summary(y);
		if (strcmp(a, b) != 0)
			fail_msg("%s:\n tree %s\n  XML %s", machines[i], a, b);
		assert_same_nodes(tree, xml);
	}
}

static void test_other_sources(void **state)
{
	_cleanup_(kernfs_freep) struct kernfs *k = NULL;
	_cleanup_(topology_freep) struct topology *synthetic = NULL, *here = NULL;
	_cleanup_(class_table_freep) struct class_table *table = NULL;
	_cleanup_free_ char *got = NULL;
	struct topology *none = NULL;
	struct fail f = { 0 };

	(void)state;
	assert_int_equal(kernfs_new(NULL, &k, NULL), 0);
	assert_int_equal(topology_load(k, "synthetic:package:2 l3:2 core:2 pu:2", &synthetic, &f),
			 0);
	table = classify(synthetic, NULL);
	got = summary(table);
	assert_string_equal(got, "self=16 core=8 l3=16 package=32 numa-10=64 unpinned=0");
	assert_int_equal(topology_load(k, NULL, &here, &f), 0);
	assert_true(here->n_cpus > 0);
	assert_true(topology_load(k, "synthetic:nonsense", &none, &f) < 0);
	assert_contains(f.message, "'nonsense' is not a synthetic topology");
	assert_true(topology_load(k, "/nonexistent.xml", &none, &f) < 0);
	assert_contains(f.message, "/nonexistent.xml");
	assert_true(topology_load(k, "/nonexistent", &none, &f) < 0);
	assert_contains(f.message, "/nonexistent");
	assert_true(topology_load(k, "/tmp", &none, &f) < 0);
	assert_contains(f.message, "no copy of a machine's files");
}

/* What a caller of the daemon sets must not steer hwloc. */
static void test_environment_is_not_honoured(void **state)
{
	_cleanup_(kernfs_freep) struct kernfs *k = NULL;
	_cleanup_(topology_freep) struct topology *before = NULL, *after = NULL;

	(void)state;
	assert_int_equal(kernfs_new(NULL, &k, NULL), 0);
	assert_int_equal(topology_load(k, NULL, &before, NULL), 0);
	assert_int_equal(setenv("HWLOC_SYNTHETIC", "package:7 pu:3", 1), 0);
	assert_int_equal(setenv("HWLOC_FSROOT", "/nonexistent", 1), 0);
	assert_int_equal(topology_load(k, NULL, &after, NULL), 0);
	assert_int_equal(before->n_cpus, after->n_cpus);
	assert_null(getenv("HWLOC_SYNTHETIC"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_big_core_pairs),
		cmocka_unit_test(test_random_machines),
		cmocka_unit_test(test_named_machines_one_by_one),
		cmocka_unit_test(test_representatives_spread),
		cmocka_unit_test(test_representatives_take_other_cpus),
		cmocka_unit_test(test_excluded_cpus),
		cmocka_unit_test(test_frequency_domains),
		cmocka_unit_test(test_notes),
		cmocka_unit_test(test_missing_class),
		cmocka_unit_test(test_llc),
		cmocka_unit_test(test_guest),
		cmocka_unit_test(test_fingerprint),
		cmocka_unit_test(test_what_is_not_told),
		cmocka_unit_test(test_xml_is_the_same_machine),
		cmocka_unit_test(test_other_sources),
		cmocka_unit_test(test_environment_is_not_honoured),
	};

	return cmocka_run_group_tests_name("topology", tests, make_trees, remove_trees);
}
