/* SPDX-License-Identifier: MIT */
/*
 * Objects of the hardware to a tree of ranges.
 */
#include "topology/sets.h"

#include <string.h>

void set_tree_clear(struct set_tree *tree)
{
	free(tree->cpus);
	free(tree->position);
	cpuset_free(tree->members);
	free(tree->sets);
	free(tree->leaf);
	*tree = (struct set_tree){ 0 };
}

/* The rows of the CPUs that take part, still in tree order. */
static int take_members(struct set_tree *tree, const struct topology *t,
			const struct cpuset *members, struct fail *f)
{
	size_t n = cpuset_count(members);

	tree->topology = t;
	tree->n_positions = t->n_positions;
	tree->members = cpuset_copy(members);
	tree->cpus = calloc(n ? n : 1, sizeof(const struct topology_cpu *));
	tree->leaf = calloc(n ? n : 1, sizeof(*tree->leaf));
	tree->position = malloc((t->n_positions ? t->n_positions : 1) * sizeof(*tree->position));
	if (!tree->members || !tree->cpus || !tree->leaf || !tree->position)
		return fail_oom(f);
	memset(tree->position, 0xff, t->n_positions * sizeof(*tree->position));
	for (size_t i = 0; i < t->n_cpus; i++) {
		if (!cpuset_has(members, t->cpus[i].id))
			continue;
		tree->position[t->cpus[i].id] = (int32_t)tree->n_cpus;
		tree->cpus[tree->n_cpus++] = &t->cpus[i];
	}
	return 0;
}

/*
 * The sets of one level, appended to @sets. A group whose members are not neighbours in tree order
 * crosses another object; hwloc's own objects never do, NUMA nodes may.
 */
static void collect_level(const struct set_tree *tree, struct topology *t, enum level level,
			  struct set *ranges, struct set *sets, uint32_t *n_sets)
{
	uint32_t n_groups = t->n_groups[level];

	memset(ranges, 0, n_groups * sizeof(*ranges));
	for (uint32_t i = 0; i < tree->n_cpus; i++) {
		int32_t group = tree->cpus[i]->group[level];

		if (group < 0)
			continue;
		if (ranges[group].count == 0)
			ranges[group].first = i;
		ranges[group].count++;
		/* While ranges are collected, parent holds the last member. */
		ranges[group].parent = i;
	}
	for (uint32_t g = 0; g < n_groups; g++) {
		struct set *s = &ranges[g];

		if (s->count < 2)
			continue;
		if (s->parent - s->first + 1 != s->count) {
			topology_note(t,
				      "%s %u crosses other objects of the machine, so it makes no "
				      "pair class",
				      level_name(level), level == LEVEL_NODE ? t->nodes[g].id : g);
			continue;
		}
		s->level = level;
		s->names = 1U << level;
		sets[(*n_sets)++] = *s;
	}
}

/* Outer before inner; of equal ranges the one whose name comes first. */
static int compare_sets(const void *a, const void *b)
{
	const struct set *x = a, *y = b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return x->level < y->level ? -1 : x->level > y->level;
}

static bool holds(const struct set *outer, const struct set *inner)
{
	return inner->first >= outer->first &&
	       inner->first + inner->count <= outer->first + outer->count;
}

/* Sorted candidates, none of which cross, to the tree; equal ones become one. */
static void link_sets(struct set_tree *tree, const struct set *sorted, uint32_t n_sorted)
{
	uint32_t at = 0;

	tree->sets[0] = (struct set){ .count = tree->n_cpus, .level = LEVEL_MAX };
	tree->n_sets = 1;
	for (uint32_t i = 0; i < n_sorted; i++) {
		const struct set *s = &sorted[i];

		while (tree->sets[at].first + tree->sets[at].count <= s->first)
			at = tree->sets[at].parent;
		if (at != 0 && tree->sets[at].first == s->first &&
		    tree->sets[at].count == s->count) {
			tree->sets[at].names |= s->names;
			continue;
		}
		tree->sets[tree->n_sets] = *s;
		tree->sets[tree->n_sets].parent = at;
		at = tree->n_sets++;
	}
}

static int32_t common_frequency(const struct set_tree *tree, const struct set *s)
{
	int32_t frequency = tree->cpus[s->first]->frequency;

	for (uint32_t i = s->first + 1; i < s->first + s->count; i++)
		if (tree->cpus[i]->frequency != frequency)
			return -1;
	return frequency;
}

/* What follows from the tree: what each set shares, and the smallest set of each CPU. */
static void finish_sets(struct set_tree *tree)
{
	for (uint32_t i = 0; i < tree->n_sets; i++) {
		struct set *s = &tree->sets[i];

		s->shares = s->names | (i > 0 ? tree->sets[s->parent].shares : 0);
		s->frequency = s->count > 0 ? common_frequency(tree, s) : -1;
		/* Parents come first, so the smallest set is the last to write. */
		for (uint32_t j = s->first; j < s->first + s->count; j++)
			tree->leaf[j] = i;
	}
}

/* Whether every set that holds CPU @i lies within @s or around it. */
static bool fits_at(const struct set_tree *tree, const struct set *s, uint32_t i)
{
	for (uint32_t x = tree->leaf[i]; x != 0; x = tree->sets[x].parent)
		if (!holds(s, &tree->sets[x]) && !holds(&tree->sets[x], s))
			return false;
	return true;
}

/*
 * Adds the NUMA nodes to the candidates. hwloc's own objects never cross each other, but a node may
 * cross them: then the node gives way. What crosses a range holds one of its ends.
 */
static void add_nodes(struct set_tree *tree, struct topology *t, struct set *ranges,
		      struct set *candidates, uint32_t *n)
{
	uint32_t before = *n, kept;

	collect_level(tree, t, LEVEL_NODE, ranges, candidates, n);
	kept = before;
	for (uint32_t i = before; i < *n; i++) {
		const struct set *s = &candidates[i];

		if (fits_at(tree, s, s->first) && fits_at(tree, s, s->first + s->count - 1))
			candidates[kept++] = *s;
		else
			topology_note(t,
				      "a NUMA node of %u CPUs crosses other objects of the "
				      "machine, so it makes no pair class",
				      s->count);
	}
	*n = kept;
}

int set_tree_init(struct set_tree *tree, struct topology *t, const struct cpuset *members,
		  struct fail *f)
{
	_cleanup_free_ struct set *candidates = NULL, *ranges = NULL;
	uint32_t n = 0, most_groups = 1, all_groups = 0;
	struct set *smaller;
	int r;

	*tree = (struct set_tree){ 0 };
	r = take_members(tree, t, members, f);
	if (r < 0)
		return r;
	for (size_t level = 0; level < LEVEL_MAX; level++) {
		most_groups = MAX_OF(most_groups, t->n_groups[level]);
		all_groups += t->n_groups[level];
	}
	candidates = calloc(all_groups + 1, sizeof(*candidates));
	ranges = calloc(most_groups, sizeof(*ranges));
	tree->sets = calloc(all_groups + 1, sizeof(*tree->sets));
	if (!candidates || !ranges || !tree->sets)
		return fail_oom(f);
	for (size_t level = 0; level < LEVEL_NODE; level++)
		collect_level(tree, t, (enum level)level, ranges, candidates, &n);
	qsort(candidates, n, sizeof(*candidates), compare_sets);
	link_sets(tree, candidates, n);
	finish_sets(tree);
	add_nodes(tree, t, ranges, candidates, &n);
	qsort(candidates, n, sizeof(*candidates), compare_sets);
	link_sets(tree, candidates, n);
	finish_sets(tree);
	/* Most objects are equal to another, or hold one CPU: give the rest of the room back. */
	smaller = reallocarray(tree->sets, tree->n_sets, sizeof(*tree->sets));
	if (smaller)
		tree->sets = smaller;
	return 0;
}

uint32_t set_tree_nearest(const struct set_tree *tree, uint32_t a, uint32_t b)
{
	uint32_t x = tree->leaf[a], y = tree->leaf[b];

	/* A parent has the smaller index. */
	while (x != y) {
		if (x > y)
			x = tree->sets[x].parent;
		else
			y = tree->sets[y].parent;
	}
	return x;
}
