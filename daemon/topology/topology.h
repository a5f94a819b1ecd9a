/* SPDX-License-Identifier: MIT */
/*
 * The machine, as a table of its online CPUs and what each of them lies in.
 *
 * hwloc finds the objects (cores, caches, clusters, dies, packages), sysfs tells the rest (NUMA
 * nodes, frequency domains, isolated CPUs). All is copied into this table and hwloc's own topology
 * is destroyed. Nothing here is measured: it is what firmware and kernel claim.
 *
 * The CPUs stand in "tree order": every object of the hardware covers neighbours in it, so that a
 * set of CPUs is a range, and pair classes (class.h) need no pairs to be counted.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/cpuset.h"
#include "util/fail.h"
#include "util/kernfs.h"

/* What CPUs can lie in. Of equal sets, the first in this order gives the class its name. */
enum level {
	LEVEL_CORE, /* SMT siblings, as the kernel lists them */
	LEVEL_L1,   /* data cache */
	LEVEL_L2,
	LEVEL_L3,
	LEVEL_L4,
	LEVEL_CLUSTER, /* CPUs nearer to each other below the last cache: Kunpeng, E-core modules */
	LEVEL_DIE,
	LEVEL_PACKAGE,
	LEVEL_BOOK, /* s390 */
	LEVEL_DRAWER,
	LEVEL_NODE, /* NUMA node */
	LEVEL_MAX,
};

/* "core", "l1", ... "node". */
const char *level_name(enum level level);
bool level_is_cache(enum level level);

/* CPUs of one kind do not differ by more than this in capacity (cpu_capacity, 1024 the largest).
 * NVIDIA GB10 reports 718, 731 | 997, 1017, 1024 for two kinds. */
#define KIND_TOLERANCE 1.15
#define KIND_MAX       8
#define KIND_NAME_MAX  16

struct topology_kind {
	char name
		[KIND_NAME_MAX]; /* "P", "E", "LPE", "big", "mid", "little", "kind0"; "" if all are equal */
	uint32_t capacity; /* the largest of its CPUs, 0 if not told */
};

struct topology_cpu {
	uint32_t id;              /* the kernel's number */
	int32_t group[LEVEL_MAX]; /* which object of each level, -1: none */
	int32_t frequency;        /* which frequency domain, -1: not told */
	uint8_t kind;             /* index into kinds */
};

struct topology_node {
	uint32_t id;     /* the kernel's number */
	uint32_t n_cpus; /* online ones; 0 for a node of memory only */
};

enum topology_source {
	TOPOLOGY_THIS,      /* this machine */
	TOPOLOGY_DIR,       /* a copy of another machine's /sys and /proc */
	TOPOLOGY_XML,       /* hwloc's XML */
	TOPOLOGY_SYNTHETIC, /* hwloc's synthetic description */
};

#define TOPOLOGY_DESCRIBED_MAX 4

struct topology {
	enum topology_source source;
	char *source_name; /* what --topology was given; "this machine" */
	uint64_t hwloc_ns; /* how long hwloc's own part of the load took */

	struct topology_cpu *cpus; /* the online ones, in tree order */
	size_t n_cpus;
	int32_t *
		position; /* of a CPU number in cpus, -1 if it is not online; n_positions entries */
	size_t n_positions;

	uint32_t n_groups[LEVEL_MAX];
	uint64_t *cache_size[LEVEL_MAX]; /* bytes by group, NULL where the level is no cache */

	struct topology_node *nodes;
	size_t n_nodes;
	uint16_t *distance; /* n_nodes x n_nodes, from x to; NULL where not told */

	struct topology_kind kinds[KIND_MAX];
	size_t n_kinds;

	/* CPU numbers; never NULL. */
	struct cpuset *online, *offline, *allowed, *isolated, *nohz_full;

	char *frequency_why_not; /* why no frequency domains are known; NULL where they are */
	char *hypervisor; /* "KVM"; NULL on bare metal, where cache levels are not "claimed" */
	char *hypervisor_why_not; /* why neither is known; NULL where it is */

	/* What an XML file says of its machine: keys of the fingerprint, values; NULL at the end. */
	struct {
		const char *key;
		char *value;
	} described[TOPOLOGY_DESCRIBED_MAX];

	/* Oddities that a reader should know, as sentences. */
	char **notes;
	size_t n_notes;
};

/*
 * Explores this machine (@spec NULL), or what @spec names: "synthetic:...", a file whose name
 * ends in ".xml", or else a directory that holds the /sys and /proc of another machine. Kernel
 * files are read through @kernfs; a directory other than its root is opened by itself. Takes 150 to
 * 260 ms for 4096 CPUs, nearly all of it hwloc's.
 */
int topology_load(const struct kernfs *kernfs, const char *spec, struct topology **ret,
		  struct fail *f);
struct topology *topology_free(struct topology *t);
DEFINE_CLEANUP(struct topology *, topology_free);

/* The row of CPU number @cpu, or NULL if it is not online. */
const struct topology_cpu *topology_find_cpu(const struct topology *t, uint32_t cpu);

/* The distance between two nodes (indexes), the larger of both directions; of a node and itself 10
 * where the kernel does not tell; else -1 then. */
int topology_distance(const struct topology *t, int32_t a, int32_t b);

/*
 * The CPUs that may be measured: online and allowed, and without those that are isolated or
 * nohz_full unless @with_isolated.
 */
int topology_usable(const struct topology *t, bool with_isolated, struct cpuset **ret);

/* Why CPU @cpu is not among topology_usable(without isolated); NULL where it is. Constant text. */
const char *topology_why_not(const struct topology *t, uint32_t cpu);

/* XXH3 over which CPU lies in which objects, kinds and nodes: equal for equal machines. */
uint64_t topology_hash(const struct topology *t);

/* Remembers a sentence for the reader, each one once; best effort. */
void topology_note(struct topology *t, const char *format, ...) _printf_(2, 3);
