/* SPDX-License-Identifier: MIT */
/*
 * Ranks and quantiles of numbers that come one by one, each in O(log n), in memory of the caller.
 *
 * A treap (Seidel and Aragon 1996, Randomized search trees, Algorithmica 16) in an array, each node
 * with the size of its subtree. Priorities are hashed from the node's number, so the same numbers in
 * the same order make the same tree. Pure: no input, no output, no allocation.
 */
#pragma once

#include <stdint.h>

/* 24 bytes for each number. */
struct rank_node {
	double value;
	uint32_t child[2]; /* numbers of nodes, from 1; 0: none */
	uint32_t size;     /* nodes from here down */
	uint32_t priority;
};

struct rank_tree {
	struct rank_node *nodes;
	uint32_t capacity, n, root;
};

/* An empty tree in @nodes, which hold @capacity numbers and stay the caller's. */
void rank_tree_init(struct rank_tree *t, struct rank_node *nodes, uint32_t capacity);

/* Takes in one number, which is not NaN. -ENOBUFS where the memory is full: nothing changes then. */
int rank_tree_add(struct rank_tree *t, double value);

/* How many numbers are below @value, and how many are not above it. */
uint32_t rank_tree_below(const struct rank_tree *t, double value);
uint32_t rank_tree_up_to(const struct rank_tree *t, double value);

/* The number with @rank others before it, for @rank < n. */
double rank_tree_at(const struct rank_tree *t, uint32_t rank);
