/* SPDX-License-Identifier: MIT */
/*
 * Representatives: a few pairs of each class, spread over the machine.
 *
 * The sources of a class are counted, evenly spaced ones are chosen from a random start, and each
 * gives one pair: so two pairs come from one core complex only where there are fewer complexes than
 * pairs wanted. Where that leaves too few, the sources are gone through in turn.
 */
#include "topology/pick.h"

#include <string.h>

#include "util/random.h"

struct want {
	struct pair_class *c;
	uint64_t n_sources;
	uint64_t offset; /* of the evenly spaced choice, in 0 .. n_sources - 1 */
	size_t wanted;
	uint64_t seen; /* sources of this class so far */
};

struct picker {
	const struct set_tree *tree;
	struct want *wants;
	size_t n_wants;
	struct random random;
	uint32_t *wakers, *wakees; /* room for the positions of a source's CPUs */
	bool filling;              /* the second time around: take whatever is left */
};

static struct want *find_want(struct picker *p, const struct pair_class *key)
{
	for (size_t i = 0; i < p->n_wants; i++)
		if (class_same_key(p->wants[i].c, key))
			return &p->wants[i];
	return NULL;
}

static int count_source(const struct pair_source *source, void *userdata)
{
	struct want *w = find_want(userdata, &source->key);

	if (w)
		w->n_sources++;
	return 0;
}

static bool has_pair(const struct pair_class *c, uint32_t a, uint32_t b)
{
	for (size_t i = 0; i < c->n_representatives; i++) {
		const struct cpu_pair *p = &c->representatives[i];

		if ((p->waker == a && p->wakee == b) || (p->waker == b && p->wakee == a))
			return true;
	}
	return false;
}

static bool has_cpu(const struct pair_class *c, uint32_t cpu)
{
	for (size_t i = 0; i < c->n_representatives; i++)
		if (c->representatives[i].waker == cpu || c->representatives[i].wakee == cpu)
			return true;
	return false;
}

/* The positions in @s of all CPUs of one type, only those in no pair of @fresh_in; how many. */
static uint32_t list_type(const struct set_tree *tree, const struct set *s, uint8_t kind,
			  int32_t node, const struct pair_class *fresh_in, uint32_t *list)
{
	uint32_t n = 0;

	for (uint32_t i = s->first; i < s->first + s->count; i++)
		if (tree->cpus[i]->kind == kind && tree->cpus[i]->group[LEVEL_NODE] == node &&
		    !(fresh_in && has_cpu(fresh_in, tree->cpus[i]->id)))
			list[n++] = i;
	return n;
}

static void add_pair(struct pair_class *c, const struct topology_cpu *a,
		     const struct topology_cpu *b)
{
	struct cpu_pair pair = { a->id, b->id };

	if (a->kind == b->kind && b->id < a->id)
		pair = (struct cpu_pair){ b->id, a->id };
	c->representatives[c->n_representatives++] = pair;
}

/* One pair of @source that is not yet chosen, searched from random places: of CPUs that are in no
 * other pair of the class, or of any. False if none is left. */
static bool search_pair(struct picker *p, const struct pair_source *source, struct pair_class *c,
			bool fresh)
{
	const struct set_tree *tree = p->tree;
	const struct set *s = &tree->sets[source->set];
	const struct pair_class *fresh_in = fresh ? c : NULL;
	uint32_t n_a = list_type(tree, s, source->kinds[0], source->nodes[0], fresh_in, p->wakers);
	uint32_t n_b = list_type(tree, s, source->kinds[1], source->nodes[1], fresh_in, p->wakees);
	uint64_t start_a = random_below(&p->random, n_a), start_b = random_below(&p->random, n_b);

	for (uint32_t i = 0; i < n_a; i++) {
		uint32_t a = p->wakers[(start_a + i) % n_a];

		for (uint32_t j = 0; j < n_b; j++) {
			uint32_t b = p->wakees[(start_b + j) % n_b];

			if (a == b || set_tree_nearest(tree, a, b) != source->set ||
			    has_pair(c, tree->cpus[a]->id, tree->cpus[b]->id))
				continue;
			add_pair(c, tree->cpus[a], tree->cpus[b]);
			return true;
		}
	}
	return false;
}

static bool pick_pair(struct picker *p, const struct pair_source *source, struct pair_class *c)
{
	return search_pair(p, source, c, true) || search_pair(p, source, c, false);
}

/* Source number @i of @n is chosen as often as i falls on one of the @wanted even steps. */
static size_t quota(const struct want *w, uint64_t i)
{
	uint64_t shifted = (i + w->offset) % w->n_sources;

	return (size_t)((shifted + 1) * w->wanted / w->n_sources -
			shifted * w->wanted / w->n_sources);
}

static int choose_from(const struct pair_source *source, void *userdata)
{
	struct picker *p = userdata;
	struct want *w = find_want(p, &source->key);
	size_t n;

	if (!w)
		return 0;
	n = p->filling ? w->wanted : quota(w, w->seen++);
	while (n-- > 0 && w->c->n_representatives < w->wanted)
		if (!pick_pair(p, source, w->c))
			break;
	return 0;
}

/* Every CPU with itself: evenly spaced ones of each kind. */
static void choose_self(struct picker *p, struct pair_class *c, size_t wanted)
{
	uint64_t offset = random_below(&p->random, c->n_pairs), i = 0;

	for (uint32_t cpu = 0; cpu < p->tree->n_cpus; cpu++) {
		const struct topology_cpu *row = p->tree->cpus[cpu];
		struct want w = { .wanted = wanted, .n_sources = c->n_pairs, .offset = offset };

		if (row->kind == c->kinds[0] && quota(&w, i++) > 0)
			add_pair(c, row, row);
	}
}

static int compare_pairs(const void *a, const void *b)
{
	const struct cpu_pair *x = a, *y = b;

	if (x->waker != y->waker)
		return x->waker < y->waker ? -1 : 1;
	return x->wakee < y->wakee ? -1 : x->wakee > y->wakee;
}

static int prepare_wants(struct picker *p, struct pair_class *classes, size_t n_classes,
			 size_t per_class)
{
	p->wants = calloc(n_classes + 1, sizeof(*p->wants));
	p->wakers = calloc(p->tree->n_cpus + 1, sizeof(*p->wakers));
	p->wakees = calloc(p->tree->n_cpus + 1, sizeof(*p->wakees));
	if (!p->wants || !p->wakers || !p->wakees)
		return -ENOMEM;
	for (size_t i = 0; i < n_classes; i++) {
		struct pair_class *c = &classes[i];
		size_t wanted = (size_t)MIN_OF(c->n_pairs, (uint64_t)per_class);

		c->representatives = calloc(wanted + 1, sizeof(*c->representatives));
		if (!c->representatives)
			return -ENOMEM;
		if (c->scope == CLASS_SELF && wanted > 0)
			choose_self(p, c, wanted);
		else if (wanted > 0)
			p->wants[p->n_wants++] = (struct want){ .c = c, .wanted = wanted };
	}
	return 0;
}

static int choose_all(struct picker *p)
{
	int r = pick_each_source(p->tree, count_source, p);
	bool short_of_some = false;

	if (r < 0)
		return r;
	for (size_t i = 0; i < p->n_wants; i++)
		p->wants[i].offset = random_below(&p->random, p->wants[i].n_sources);
	r = pick_each_source(p->tree, choose_from, p);
	if (r < 0)
		return r;
	for (size_t i = 0; i < p->n_wants; i++)
		short_of_some |= p->wants[i].c->n_representatives < p->wants[i].wanted;
	p->filling = true;
	return short_of_some ? pick_each_source(p->tree, choose_from, p) : 0;
}

int pick_representatives(const struct set_tree *tree, struct pair_class *classes, size_t n_classes,
			 size_t per_class, uint64_t seed)
{
	struct picker p = { .tree = tree, .random = { .state = seed } };
	int r = prepare_wants(&p, classes, n_classes, per_class);

	if (r >= 0)
		r = choose_all(&p);
	for (size_t i = 0; r >= 0 && i < n_classes; i++)
		if (classes[i].n_representatives > 0)
			qsort(classes[i].representatives, classes[i].n_representatives,
			      sizeof(struct cpu_pair), compare_pairs);
	free(p.wants);
	free(p.wakers);
	free(p.wakees);
	return r;
}
