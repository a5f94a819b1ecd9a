/* SPDX-License-Identifier: MIT */
/*
 * The tree of sets below the pair classes: see class.h. Only for files of this directory.
 */
#pragma once

#include "topology/topology.h"

/* CPUs of the machine that share something: positions @first .. @first + @count - 1. */
struct set {
	uint32_t first, count;
	uint32_t names;    /* bit (1 << level) of each object that is this set; 0 for the machine */
	enum level level;  /* the first of these names; LEVEL_MAX for the machine */
	uint32_t parent;   /* index; of the root: itself */
	uint32_t shares;   /* its names and those of all sets around it */
	int32_t frequency; /* the frequency domain of all its CPUs; -1 where they differ */
};

/* The CPUs that take part, and the sets they lie in. */
struct set_tree {
	const struct topology *topology;
	const struct topology_cpu **cpus; /* in tree order */
	uint32_t n_cpus;
	struct cpuset *members;
	int32_t *position; /* of a CPU number, -1 where it does not take part */
	size_t n_positions;
	struct set *sets; /* a parent stands before its children; sets[0] is the machine */
	uint32_t n_sets;
	uint32_t *leaf; /* the smallest set of each position */
};

/* The tree for the CPUs of @members, which must be online. Notes levels that do not fit in. */
int set_tree_init(struct set_tree *tree, struct topology *t, const struct cpuset *members,
		  struct fail *f);
void set_tree_clear(struct set_tree *tree);

/* The smallest set that holds both positions. */
uint32_t set_tree_nearest(const struct set_tree *tree, uint32_t a, uint32_t b);
