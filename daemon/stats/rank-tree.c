/* SPDX-License-Identifier: MIT */
/*
 * A treap in an array: a search tree by value that is a heap by priority.
 */
#include "stats/rank-tree.h"

#include <errno.h>

void rank_tree_init(struct rank_tree *t, struct rank_node *nodes, uint32_t capacity)
{
	*t = (struct rank_tree){ .nodes = nodes, .capacity = capacity };
}

static struct rank_node *node(const struct rank_tree *t, uint32_t number)
{
	return &t->nodes[number - 1];
}

static uint32_t size(const struct rank_tree *t, uint32_t number)
{
	return number ? node(t, number)->size : 0;
}

static void count(const struct rank_tree *t, struct rank_node *at)
{
	at->size = 1 + size(t, at->child[0]) + size(t, at->child[1]);
}

/* Divides the subtree at @number into what is below @value and the rest. */
static void split(struct rank_tree *t, uint32_t number, double value, uint32_t *below,
		  uint32_t *rest)
{
	struct rank_node *at;

	if (!number) {
		*below = *rest = 0;
		return;
	}
	at = node(t, number);
	if (at->value < value) {
		*below = number;
		split(t, at->child[1], value, &at->child[1], rest);
	} else {
		*rest = number;
		split(t, at->child[0], value, below, &at->child[0]);
	}
	count(t, at);
}

/* A priority from a node's number: each bit of one moves all bits of the other (MurmurHash3, Appleby). */
static uint32_t hash(uint32_t n)
{
	n = (n ^ n >> 16) * UINT32_C(0x85ebca6b);
	n = (n ^ n >> 13) * UINT32_C(0xc2b2ae35);
	return n ^ n >> 16;
}

int rank_tree_add(struct rank_tree *t, double value)
{
	uint32_t *link = &t->root;
	struct rank_node *new;

	if (t->n >= t->capacity)
		return -ENOBUFS;
	new = &t->nodes[t->n++];
	*new = (struct rank_node){ .value = value, .priority = hash(t->n) };
	while (*link && node(t, *link)->priority >= new->priority) {
		struct rank_node *at = node(t, *link);

		at->size++;
		link = &at->child[at->value < value];
	}
	split(t, *link, value, &new->child[0], &new->child[1]);
	count(t, new);
	*link = t->n;
	return 0;
}

uint32_t rank_tree_below(const struct rank_tree *t, double value)
{
	uint32_t below = 0, number = t->root;

	while (number) {
		const struct rank_node *at = node(t, number);

		if (at->value < value)
			below += 1 + size(t, at->child[0]);
		number = at->child[at->value < value];
	}
	return below;
}

uint32_t rank_tree_up_to(const struct rank_tree *t, double value)
{
	uint32_t up_to = 0, number = t->root;

	while (number) {
		const struct rank_node *at = node(t, number);

		if (at->value <= value)
			up_to += 1 + size(t, at->child[0]);
		number = at->child[at->value <= value];
	}
	return up_to;
}

double rank_tree_at(const struct rank_tree *t, uint32_t rank)
{
	uint32_t number = t->root;

	for (;;) {
		const struct rank_node *at = node(t, number);
		uint32_t before = size(t, at->child[0]);

		if (rank == before)
			return at->value;
		number = at->child[rank > before];
		if (rank > before)
			rank -= before + 1;
	}
}
