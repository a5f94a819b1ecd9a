/* SPDX-License-Identifier: MIT */
/*
 * Pair classes: all pairs of CPUs with the same nearest shared resource.
 *
 * How a class is found, once for all:
 *
 *  1. The CPUs that take part stand in tree order, so each object (core, cache, ..., NUMA node) is a
 *     range of positions. Objects of one CPU are dropped; equal ranges are one set with several
 *     names, called by the first (core, l1, l2, l3, l4, cluster, die, package, book, drawer, node).
 *  2. The sets form a tree by inclusion, whose root is the whole machine. A node that crosses a
 *     package (guests have that) does not fit into a tree: it is no level, and that is noted.
 *  3. The nearest shared resource of two CPUs is the smallest set that holds both. So the pairs that
 *     belong to a set are the pairs in it less the pairs in its children: O(CPUs x levels), and no
 *     pair is looked at.
 *  4. A class is keyed by the set's name, the kinds of both CPUs, and the distance of their NUMA
 *     nodes. Pairs whose nearest set is a node or the machine are "numa-<distance>"; elsewhere the
 *     distance is part of the id only where the level has pairs of several distances
 *     ("package-12"). On a machine with several core kinds the id ends in them: "l3:P-E".
 *
 * "self" (both tasks on one CPU) and "unpinned" (the scheduler chooses) are classes too.
 */
#pragma once

#include "topology/topology.h"

#define CLASS_ID_MAX           96
#define CLASS_PAIRS_DEFAULT    3
#define CLASS_DISTANCE_UNKNOWN (-1)

enum class_scope {
	CLASS_SELF,
	CLASS_SHARED, /* a set below the machine is shared */
	CLASS_NUMA,   /* only a NUMA node is shared, or nothing */
	CLASS_UNPINNED,
	CLASS_SCOPE_MAX,
};

struct cpu_pair {
	uint32_t waker, wakee;
};

struct pair_class {
	char id[CLASS_ID_MAX];
	enum class_scope scope;
	enum level level; /* of CLASS_SHARED */
	int distance;     /* of the pair's NUMA nodes, or CLASS_DISTANCE_UNKNOWN */
	uint8_t kinds[2]; /* indexes of the core kinds, the more capable first */
	uint64_t n_pairs; /* of unordered pairs; of "self" the CPUs; of "unpinned" 0 */
	uint64_t
		set_size; /* CPUs in the largest set that makes this class: the nearer, the smaller */
	uint32_t shares; /* bit (1 << level) for all that every pair of the class shares */
	bool shares_frequency;
	struct cpu_pair *representatives;
	size_t n_representatives;
};

struct class_table;

/*
 * The classes of the pairs among the CPUs of @within (NULL: topology_usable() without isolated),
 * with up to @pairs_per_class representatives each, spread over the machine as @seed chooses. The
 * waker of a representative is the CPU of the more capable kind, else the lower number. May add
 * notes to @t.
 */
int class_table_new(struct topology *t, const struct cpuset *within, size_t pairs_per_class,
		    uint64_t seed, struct class_table **ret, struct fail *f);
struct class_table *class_table_free(struct class_table *table);
DEFINE_CLEANUP(struct class_table *, class_table_free);

/* "self" first, then the nearest to the farthest, "unpinned" last. */
size_t class_table_size(const struct class_table *table);
const struct pair_class *class_table_get(const struct class_table *table, size_t i);

/* By id; NoSuchClass with near misses. */
int class_table_find(const struct class_table *table, const char *id, const struct pair_class **ret,
		     struct fail *f);

/* The class of one pair; InvalidArgument where a CPU is not among those of the table. */
int class_table_classify(const struct class_table *table, struct cpu_pair pair,
			 const struct pair_class **ret, struct fail *f);

/* "P-E", "P", or "" on a machine with one kind. */
const char *class_kinds(const struct class_table *table, const struct pair_class *c,
			char buffer[2 * KIND_NAME_MAX + 2]);

/* The CPUs that take part. */
const struct cpuset *class_table_cpus(const struct class_table *table);
