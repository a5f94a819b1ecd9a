/* SPDX-License-Identifier: MIT */
/*
 * The parts of topology_load(), each in a file of its own. Only for files of this directory.
 */
#pragma once

#include <hwloc.h>

#include "topology/topology.h"

/* The NUMA nodes, which CPU is on which, and their distances: from sysfs, or where @k is NULL from
 * hwloc. */
int topology_load_nodes(struct topology *t, const struct kernfs *k, hwloc_topology_t hwloc,
			struct fail *f);

/* Core kinds, by Intel's PMUs below @k (may be NULL) and by what hwloc read of cpu_capacity. */
void topology_load_kinds(struct topology *t, const struct kernfs *k, hwloc_topology_t hwloc);

/* Frequency domains, from cpufreq. */
int topology_load_frequency(struct topology *t, const struct kernfs *k, struct fail *f);

/* Whether the machine is a guest, and what else makes its topology a claim. */
int topology_load_hypervisor(struct topology *t, const struct kernfs *k, struct fail *f);

/* What the description itself says of its machine: for sources without files. */
void topology_load_described(struct topology *t, hwloc_topology_t hwloc);
