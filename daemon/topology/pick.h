/* SPDX-License-Identifier: MIT */
/*
 * Which pairs a set contributes to which class, and representatives of each class.
 *
 * A source is a set of the tree together with two types of its CPUs (a type is a core kind on a NUMA
 * node): all pairs of a source belong to one class. Only for files of this directory.
 */
#pragma once

#include "topology/class.h"
#include "topology/sets.h"

struct pair_source {
	uint32_t set;
	struct pair_class key; /* scope, level, distance and kinds are set */
	int32_t nodes[2];      /* indexes of the NUMA nodes; the first goes with kinds[0] */
	uint8_t kinds[2];
	uint64_t n_pairs;
};

/* Whether both stand for the same class. */
bool class_same_key(const struct pair_class *a, const struct pair_class *b);

/* The key of a pair of positions; equal positions are "self". */
void pick_key(const struct set_tree *tree, uint32_t a, uint32_t b, struct pair_class *ret);

/* Calls @each for every source with at least one pair, set by set; stops at a negative return. */
typedef int (*pick_source_handler)(const struct pair_source *source, void *userdata);
int pick_each_source(const struct set_tree *tree, pick_source_handler each, void *userdata);

/* Fills in the representatives of all classes, @per_class at most each. */
int pick_representatives(const struct set_tree *tree, struct pair_class *classes, size_t n_classes,
			 size_t per_class, uint64_t seed);
