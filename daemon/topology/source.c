/* SPDX-License-Identifier: MIT */
/*
 * Counting the pairs of each set by the types of their CPUs.
 */
#include "topology/pick.h"

/* A core kind on a NUMA node, and how many CPUs of the range at hand are that. */
struct type {
	uint8_t kind;
	int32_t node;
	uint64_t count;
};

struct census {
	struct type *types;
	uint32_t n_types;
	/* Index into types of (node + 1) * KIND_MAX + kind, -1 where it does not occur. */
	int32_t *index;
	uint32_t n_index;
};

bool class_same_key(const struct pair_class *a, const struct pair_class *b)
{
	return a->scope == b->scope && a->distance == b->distance && a->kinds[0] == b->kinds[0] &&
	       a->kinds[1] == b->kinds[1] && (a->scope != CLASS_SHARED || a->level == b->level);
}

static void make_key(const struct set_tree *tree, uint32_t set, uint8_t kind_a, int32_t node_a,
		     uint8_t kind_b, int32_t node_b, struct pair_class *ret)
{
	const struct set *s = &tree->sets[set];
	bool numa = s->level == LEVEL_MAX || s->level == LEVEL_NODE;

	/* A CPU whose node is offline has none: in one cache or package with it, it counts as near. */
	if (!numa && (node_a < 0 || node_b < 0))
		node_a = node_b = MAX_OF(0, MAX_OF(node_a, node_b));
	*ret = (struct pair_class){
		.scope = numa ? CLASS_NUMA : CLASS_SHARED,
		.level = numa ? LEVEL_NODE : s->level,
		.distance = topology_distance(tree->topology, node_a, node_b),
		.kinds = { MIN_OF(kind_a, kind_b), MAX_OF(kind_a, kind_b) },
	};
}

void pick_key(const struct set_tree *tree, uint32_t a, uint32_t b, struct pair_class *ret)
{
	const struct topology_cpu *x = tree->cpus[a], *y = tree->cpus[b];

	if (a == b) {
		*ret = (struct pair_class){ .scope = CLASS_SELF, .kinds = { x->kind, x->kind } };
		return;
	}
	make_key(tree, set_tree_nearest(tree, a, b), x->kind, x->group[LEVEL_NODE], y->kind,
		 y->group[LEVEL_NODE], ret);
}

static uint32_t type_slot(const struct topology_cpu *c)
{
	return (uint32_t)(c->group[LEVEL_NODE] + 1) * KIND_MAX + c->kind;
}

/* Counts the CPUs of @s by type. Types of an earlier census are forgotten. */
static void take_census(const struct set_tree *tree, const struct set *s, struct census *census)
{
	for (uint32_t i = 0; i < census->n_types; i++)
		census->index[(uint32_t)(census->types[i].node + 1) * KIND_MAX +
			      census->types[i].kind] = -1;
	census->n_types = 0;
	for (uint32_t i = s->first; i < s->first + s->count; i++) {
		const struct topology_cpu *c = tree->cpus[i];
		int32_t *slot = &census->index[type_slot(c)];

		if (*slot < 0) {
			*slot = (int32_t)census->n_types;
			census->types[census->n_types++] =
				(struct type){ .kind = c->kind, .node = c->group[LEVEL_NODE] };
		}
		census->types[*slot].count++;
	}
}

static int census_init(struct census *census, const struct topology *t)
{
	census->n_index = (uint32_t)(t->n_nodes + 1) * KIND_MAX;
	census->index = malloc(census->n_index * sizeof(*census->index));
	census->types = malloc(census->n_index * sizeof(*census->types));
	if (!census->index || !census->types)
		return -ENOMEM;
	for (uint32_t i = 0; i < census->n_index; i++)
		census->index[i] = -1;
	return 0;
}

static void census_clear(struct census *census)
{
	free(census->index);
	free(census->types);
}

static uint64_t pairs_of(const struct type *a, const struct type *b)
{
	return a == b ? a->count * (a->count - 1) / 2 : a->count * b->count;
}

/* Takes the pairs within the child @s off the pairs of its parent, whose census is @outer. */
static void subtract_child(const struct set_tree *tree, const struct set *s,
			   const struct census *outer, struct census *inner, uint64_t *pairs)
{
	take_census(tree, s, inner);
	for (uint32_t i = 0; i < inner->n_types; i++) {
		for (uint32_t j = i; j < inner->n_types; j++) {
			const struct type *a = &inner->types[i], *b = &inner->types[j];
			uint32_t x =
				(uint32_t)
					outer->index[(uint32_t)(a->node + 1) * KIND_MAX + a->kind];
			uint32_t y =
				(uint32_t)
					outer->index[(uint32_t)(b->node + 1) * KIND_MAX + b->kind];

			pairs[MIN_OF(x, y) * outer->n_types + MAX_OF(x, y)] -= pairs_of(a, b);
		}
	}
}

static int emit_sources(const struct set_tree *tree, uint32_t set, const struct census *census,
			const uint64_t *pairs, pick_source_handler each, void *userdata)
{
	for (uint32_t i = 0; i < census->n_types; i++) {
		for (uint32_t j = i; j < census->n_types; j++) {
			const struct type *a = &census->types[i], *b = &census->types[j];
			struct pair_source source = {
				.set = set,
				.n_pairs = pairs[i * census->n_types + j],
			};
			int r;

			if (source.n_pairs == 0)
				continue;
			if (b->kind < a->kind) {
				const struct type *swap = a;

				a = b;
				b = swap;
			}
			source.kinds[0] = a->kind;
			source.kinds[1] = b->kind;
			source.nodes[0] = a->node;
			source.nodes[1] = b->node;
			make_key(tree, set, a->kind, a->node, b->kind, b->node, &source.key);
			r = each(&source, userdata);
			if (r < 0)
				return r;
		}
	}
	return 0;
}

/* The children of set @i, by first child and next sibling. */
struct children {
	uint32_t *first, *next;
};

static int find_children(const struct set_tree *tree, struct children *c)
{
	c->first = calloc(tree->n_sets, sizeof(*c->first));
	c->next = calloc(tree->n_sets, sizeof(*c->next));
	if (!c->first || !c->next)
		return -ENOMEM;
	for (uint32_t i = tree->n_sets - 1; i > 0; i--) {
		c->next[i] = c->first[tree->sets[i].parent];
		c->first[tree->sets[i].parent] = i;
	}
	return 0;
}

static int each_of_set(const struct set_tree *tree, uint32_t set, const struct children *children,
		       struct census *outer, struct census *inner, pick_source_handler each,
		       void *userdata)
{
	_cleanup_free_ uint64_t *pairs = NULL;

	take_census(tree, &tree->sets[set], outer);
	pairs = calloc((size_t)outer->n_types * outer->n_types + 1, sizeof(*pairs));
	if (!pairs)
		return -ENOMEM;
	for (uint32_t i = 0; i < outer->n_types; i++)
		for (uint32_t j = i; j < outer->n_types; j++)
			pairs[i * outer->n_types + j] =
				pairs_of(&outer->types[i], &outer->types[j]);
	for (uint32_t child = children->first[set]; child != 0; child = children->next[child])
		subtract_child(tree, &tree->sets[child], outer, inner, pairs);
	return emit_sources(tree, set, outer, pairs, each, userdata);
}

int pick_each_source(const struct set_tree *tree, pick_source_handler each, void *userdata)
{
	struct census outer = { 0 }, inner = { 0 };
	struct children children = { 0 };
	int r = find_children(tree, &children);

	if (r >= 0)
		r = census_init(&outer, tree->topology);
	if (r >= 0)
		r = census_init(&inner, tree->topology);
	for (uint32_t i = 0; r >= 0 && i < tree->n_sets; i++)
		r = each_of_set(tree, i, &children, &outer, &inner, each, userdata);
	free(children.first);
	free(children.next);
	census_clear(&outer);
	census_clear(&inner);
	return r;
}
