/* SPDX-License-Identifier: MIT */
/*
 * The tree of sets to a table of pair classes with exact counts.
 */
#include "topology/class.h"

#include <string.h>

#include "topology/pick.h"
#include "topology/sets.h"
#include "util/suggest.h"

struct class_table {
	struct set_tree tree;
	struct pair_class *classes;
	size_t n_classes;
};

/* A class that is being counted, before it has a name. */
static struct pair_class *get_class(struct class_table *table, const struct pair_class *key)
{
	struct pair_class *larger;

	for (size_t i = 0; i < table->n_classes; i++) {
		struct pair_class *c = &table->classes[i];

		if (class_same_key(c, key))
			return c;
	}
	larger = reallocarray(table->classes, table->n_classes + 1, sizeof(*larger));
	if (!larger)
		return NULL;
	table->classes = larger;
	larger[table->n_classes] = *key;
	larger[table->n_classes].shares = UINT32_MAX;
	larger[table->n_classes].shares_frequency = true;
	return &larger[table->n_classes++];
}

static int count_source(const struct pair_source *source, void *userdata)
{
	struct class_table *table = userdata;
	const struct set *s = &table->tree.sets[source->set];
	struct pair_class *c = get_class(table, &source->key);

	if (!c)
		return -ENOMEM;
	c->n_pairs += source->n_pairs;
	c->set_size = MAX_OF(c->set_size, (uint64_t)s->count);
	c->shares &= s->shares;
	c->shares_frequency = c->shares_frequency && s->frequency >= 0;
	return 0;
}

/* Every CPU with itself, by kind. */
static int count_self(struct class_table *table)
{
	for (uint32_t i = 0; i < table->tree.n_cpus; i++) {
		uint8_t kind = table->tree.cpus[i]->kind;
		struct pair_class key = { .scope = CLASS_SELF, .kinds = { kind, kind } };
		struct pair_class *c = get_class(table, &key);

		if (!c)
			return -ENOMEM;
		c->n_pairs++;
		c->set_size = 1;
		c->shares = 0;
		c->shares_frequency = false;
	}
	return 0;
}

static int add_unpinned(struct class_table *table)
{
	struct pair_class key = { .scope = CLASS_UNPINNED };
	struct pair_class *c = get_class(table, &key);

	if (!c)
		return -ENOMEM;
	c->shares = 0;
	c->shares_frequency = false;
	return 0;
}

const char *class_kinds(const struct class_table *table, const struct pair_class *c,
			char buffer[2 * KIND_NAME_MAX + 2])
{
	const struct topology_kind *kinds = table->tree.topology->kinds;

	buffer[0] = '\0';
	if (table->tree.topology->n_kinds > 1 && c->scope == CLASS_SELF)
		(void)snprintf(buffer, 2 * KIND_NAME_MAX + 2, "%s", kinds[c->kinds[0]].name);
	else if (table->tree.topology->n_kinds > 1 && c->scope != CLASS_UNPINNED)
		(void)snprintf(buffer, 2 * KIND_NAME_MAX + 2, "%s-%s", kinds[c->kinds[0]].name,
			       kinds[c->kinds[1]].name);
	return buffer;
}

/* Whether the distance has to be said to tell @c from another class. */
static bool needs_distance(const struct class_table *table, const struct pair_class *c)
{
	for (size_t i = 0; i < table->n_classes; i++) {
		const struct pair_class *other = &table->classes[i];

		if (other->scope == CLASS_SHARED && other->level == c->level &&
		    other->distance != c->distance)
			return true;
	}
	return false;
}

static void name_class(const struct class_table *table, struct pair_class *c)
{
	char kinds[2 * KIND_NAME_MAX + 2];
	char base[24], distance[16] = "";
	static const char *const scopes[] = {
		[CLASS_SELF] = "self",
		[CLASS_NUMA] = "numa",
		[CLASS_UNPINNED] = "unpinned",
	};

	if (c->scope == CLASS_NUMA || (c->scope == CLASS_SHARED && needs_distance(table, c))) {
		if (c->distance == CLASS_DISTANCE_UNKNOWN)
			(void)snprintf(distance, sizeof(distance), "-unknown");
		else
			(void)snprintf(distance, sizeof(distance), "-%d", c->distance);
	}
	(void)snprintf(base, sizeof(base), "%s",
		       c->scope == CLASS_SHARED ? level_name(c->level) : scopes[c->scope]);
	class_kinds(table, c, kinds);
	(void)snprintf(c->id, sizeof(c->id), "%s%s%s%s", base, distance, *kinds ? ":" : "", kinds);
}

/* Nearest first; of one set size the shorter distance, then the more capable kinds. */
static int compare_classes(const void *a, const void *b)
{
	const struct pair_class *x = a, *y = b;
	int kinds;

	if (x->scope != y->scope && (x->scope == CLASS_SELF || y->scope == CLASS_SELF ||
				     x->scope == CLASS_UNPINNED || y->scope == CLASS_UNPINNED))
		return x->scope < y->scope ? -1 : 1;
	if (x->set_size != y->set_size)
		return x->set_size < y->set_size ? -1 : 1;
	if (x->distance != y->distance)
		return x->distance < y->distance ? -1 : 1;
	kinds = memcmp(x->kinds, y->kinds, sizeof(x->kinds));
	return kinds ? kinds : (int)x->level - (int)y->level;
}

static int fill(struct class_table *table, size_t pairs_per_class, uint64_t seed, struct fail *f)
{
	if (count_self(table) < 0 || pick_each_source(&table->tree, count_source, table) < 0 ||
	    add_unpinned(table) < 0)
		return fail_oom(f);
	for (size_t i = 0; i < table->n_classes; i++)
		name_class(table, &table->classes[i]);
	qsort(table->classes, table->n_classes, sizeof(*table->classes), compare_classes);
	if (pick_representatives(&table->tree, table->classes, table->n_classes, pairs_per_class,
				 seed) < 0)
		return fail_oom(f);
	return 0;
}

int class_table_new(struct topology *t, const struct cpuset *within, size_t pairs_per_class,
		    uint64_t seed, struct class_table **ret, struct fail *f)
{
	_cleanup_(class_table_freep) struct class_table *table = calloc(1, sizeof(*table));
	_cleanup_(cpuset_freep) struct cpuset *usable = NULL;
	int r;

	if (!table)
		return fail_oom(f);
	if (!within) {
		if (topology_usable(t, false, &usable) < 0)
			return fail_oom(f);
		within = usable;
	}
	r = set_tree_init(&table->tree, t, within, f);
	if (r < 0)
		return r;
	r = fill(table, pairs_per_class, seed, f);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(table);
	return 0;
}

struct class_table *class_table_free(struct class_table *table)
{
	if (!table)
		return NULL;
	for (size_t i = 0; i < table->n_classes; i++)
		free(table->classes[i].representatives);
	free(table->classes);
	set_tree_clear(&table->tree);
	free(table);
	return NULL;
}

size_t class_table_size(const struct class_table *table)
{
	return table->n_classes;
}

const struct pair_class *class_table_get(const struct class_table *table, size_t i)
{
	return &table->classes[i];
}

const struct cpuset *class_table_cpus(const struct class_table *table)
{
	return table->tree.members;
}

int class_table_find(const struct class_table *table, const char *id, const struct pair_class **ret,
		     struct fail *f)
{
	_cleanup_free_ const char **ids = calloc(table->n_classes, sizeof(*ids));
	_cleanup_free_ char *hint = NULL, *cpus = cpuset_format_list(table->tree.members);

	for (size_t i = 0; i < table->n_classes; i++) {
		if (strcmp(table->classes[i].id, id) == 0) {
			*ret = &table->classes[i];
			return 0;
		}
		if (ids)
			ids[i] = table->classes[i].id;
	}
	hint = ids ? suggest_sentence(id, ids, table->n_classes) : NULL;
	return fail_set(f, SCHEDLAB_ERROR_NO_SUCH_CLASS, "no pair class '%.60s' among CPU %.200s%s",
			id, cpus ? cpus : "", hint ? hint : "");
}

static int position_of(const struct class_table *table, uint32_t cpu, uint32_t *ret, struct fail *f)
{
	const struct set_tree *tree = &table->tree;
	_cleanup_free_ char *list = NULL;
	const char *why;

	if (cpu < tree->n_positions && tree->position[cpu] >= 0) {
		*ret = (uint32_t)tree->position[cpu];
		return 0;
	}
	why = topology_why_not(tree->topology, cpu);
	list = cpuset_format_list(tree->members);
	return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
			"CPU %u cannot be measured: %s; use one of %s", cpu,
			why ? why : "not among the CPUs asked for", list ? list : "the others");
}

int class_table_classify(const struct class_table *table, struct cpu_pair pair,
			 const struct pair_class **ret, struct fail *f)
{
	struct pair_class key;
	uint32_t a = 0, b = 0;
	int r;

	r = position_of(table, pair.waker, &a, f);
	if (r < 0)
		return r;
	r = position_of(table, pair.wakee, &b, f);
	if (r < 0)
		return r;
	pick_key(&table->tree, a, b, &key);
	for (size_t i = 0; i < table->n_classes; i++) {
		if (class_same_key(&table->classes[i], &key)) {
			*ret = &table->classes[i];
			return 0;
		}
	}
	return fail_set(f, SCHEDLAB_ERROR_FAILED, "pair %u-%u has no class", pair.waker,
			pair.wakee);
}
