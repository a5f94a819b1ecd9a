/* SPDX-License-Identifier: MIT */
/*
 * The topology as JSON.
 */
#include "topology/json.h"

#include <schedlab/names.h>

static json_t *set_to_json(const struct cpuset *s)
{
	_cleanup_free_ char *list = cpuset_format_list(s);

	return json_string(list ? list : "");
}

void class_each_shared(const struct pair_class *c, void (*each)(const char *name, void *userdata),
		       void *userdata)
{
	for (size_t level = 0; level < LEVEL_MAX; level++)
		if (c->shares >> level & 1)
			each(level_name((enum level)level), userdata);
	if (c->shares_frequency)
		each("frequency", userdata);
}

static void append_name(const char *name, void *userdata)
{
	json_array_append_new(userdata, json_string(name));
}

json_t *class_to_json(const struct topology *t, const struct class_table *table,
		      const struct pair_class *c)
{
	json_t *shares = json_array(), *pairs = json_array();
	char kinds[2 * KIND_NAME_MAX + 2];

	class_each_shared(c, append_name, shares);
	for (size_t i = 0; i < c->n_representatives; i++)
		json_array_append_new(pairs,
				      json_pack("[I, I]", (json_int_t)c->representatives[i].waker,
						(json_int_t)c->representatives[i].wakee));
	return json_pack("{s:s, s:o, s:s, s:I, s:o, s:b}", "id", c->id, "shares", shares, "kinds",
			 class_kinds(table, c, kinds), "n_pairs", (json_int_t)c->n_pairs,
			 "representatives", pairs, "claimed", t->hypervisor != NULL);
}

static json_t *cpus_to_json(const struct topology *t)
{
	json_t *list = json_array();

	for (uint32_t id = 0; id < t->n_positions; id++) {
		const struct topology_cpu *c = topology_find_cpu(t, id);
		const char *why_not = topology_why_not(t, id);
		json_t *row;

		if (!c)
			continue;
		row = json_pack("{s:I, s:s, s:b}", "cpu", (json_int_t)id, "kind",
				t->kinds[c->kind].name, "usable", why_not == NULL);
		if (why_not)
			json_object_set_new(row, "why_not", json_string(why_not));
		for (size_t level = 0; level < LEVEL_MAX; level++)
			if (c->group[level] >= 0)
				json_object_set_new(
					row, level_name((enum level)level),
					json_integer(level == LEVEL_NODE
							     ? t->nodes[c->group[level]].id
							     : (uint32_t)c->group[level]));
		if (c->frequency >= 0)
			json_object_set_new(row, "frequency_domain", json_integer(c->frequency));
		json_array_append_new(list, row);
	}
	return list;
}

/* Caches of one level that are alike: the first of them speaks for all. */
static bool caches_alike(const struct topology *t, size_t level, const uint32_t *cpus, uint32_t g,
			 uint32_t h)
{
	return t->cache_size[level][g] == t->cache_size[level][h] && cpus[g] == cpus[h];
}

static void append_caches(const struct topology *t, size_t level, const uint32_t *cpus,
			  json_t *list)
{
	uint32_t n = t->n_groups[level];

	for (uint32_t g = 0; g < n; g++) {
		uint64_t bytes = t->cache_size[level][g];
		json_int_t count = 0;
		bool seen = false;

		for (uint32_t h = 0; h < g && !seen; h++)
			seen = caches_alike(t, level, cpus, g, h);
		for (uint32_t h = g; h < n && !seen; h++)
			count += caches_alike(t, level, cpus, g, h);
		if (!seen)
			json_array_append_new(
				list,
				json_pack("{s:s, s:o, s:I, s:I}", "level",
					  level_name((enum level)level), "bytes",
					  bytes ? json_integer((json_int_t)bytes) : json_null(),
					  "count", count, "cpus_each", (json_int_t)cpus[g]));
	}
}

/* How many of each size and each number of CPUs, level by level; a size that is not told is null. */
static json_t *caches_to_json(const struct topology *t)
{
	json_t *list = json_array();

	for (size_t level = LEVEL_L1; level <= LEVEL_L4; level++) {
		_cleanup_free_ uint32_t *cpus = calloc(t->n_groups[level] + 1, sizeof(*cpus));

		for (size_t i = 0; cpus && i < t->n_cpus; i++)
			if (t->cpus[i].group[level] >= 0)
				cpus[t->cpus[i].group[level]]++;
		if (cpus)
			append_caches(t, level, cpus, list);
	}
	return list;
}

static json_t *cpus_of_kind(const struct topology *t, size_t kind)
{
	_cleanup_(cpuset_freep) struct cpuset *s = cpuset_new();

	for (size_t i = 0; s && i < t->n_cpus; i++)
		if (t->cpus[i].kind == kind)
			(void)cpuset_add(s, t->cpus[i].id);
	return set_to_json(s);
}

static json_t *kinds_to_json(const struct topology *t)
{
	json_t *list = json_array();

	for (size_t i = 0; t->n_kinds > 1 && i < t->n_kinds; i++)
		json_array_append_new(list, json_pack("{s:s, s:I, s:o}", "name", t->kinds[i].name,
						      "capacity", (json_int_t)t->kinds[i].capacity,
						      "cpus", cpus_of_kind(t, i)));
	return list;
}

static json_t *cpus_of_node(const struct topology *t, size_t node)
{
	_cleanup_(cpuset_freep) struct cpuset *s = cpuset_new();

	for (size_t i = 0; s && i < t->n_cpus; i++)
		if (t->cpus[i].group[LEVEL_NODE] == (int32_t)node)
			(void)cpuset_add(s, t->cpus[i].id);
	return set_to_json(s);
}

static json_t *nodes_to_json(const struct topology *t)
{
	json_t *list = json_array();

	for (size_t i = 0; i < t->n_nodes; i++)
		json_array_append_new(list,
				      json_pack("{s:I, s:o}", "node", (json_int_t)t->nodes[i].id,
						"cpus", cpus_of_node(t, i)));
	return list;
}

static json_t *distances_to_json(const struct topology *t)
{
	json_t *rows;

	if (!t->distance)
		return json_null();
	rows = json_array();
	for (size_t i = 0; i < t->n_nodes; i++) {
		json_t *row = json_array();

		for (size_t j = 0; j < t->n_nodes; j++)
			json_array_append_new(row, json_integer(t->distance[i * t->n_nodes + j]));
		json_array_append_new(rows, row);
	}
	return rows;
}

static json_t *frequency_to_json(const struct topology *t)
{
	int32_t highest = -1;

	if (t->frequency_why_not)
		return json_pack("{s:b, s:s}", "known", 0, "why_not", t->frequency_why_not);
	for (size_t i = 0; i < t->n_cpus; i++)
		highest = MAX_OF(highest, t->cpus[i].frequency);
	return json_pack("{s:b, s:i}", "known", 1, "count", (int)highest + 1);
}

static json_t *lists_to_json(const struct topology *t, const struct class_table *classes)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "online", set_to_json(t->online),
			 "offline", set_to_json(t->offline), "allowed", set_to_json(t->allowed),
			 "isolated", set_to_json(t->isolated), "nohz_full",
			 set_to_json(t->nohz_full), "measured",
			 set_to_json(class_table_cpus(classes)));
}

static json_t *counts_to_json(const struct topology *t)
{
	json_t *counts = json_pack("{s:I}", "cpus", (json_int_t)t->n_cpus);

	for (size_t level = 0; level < LEVEL_MAX; level++)
		if (t->n_groups[level] > 0)
			json_object_set_new(counts, level_name((enum level)level),
					    json_integer(t->n_groups[level]));
	return counts;
}

json_t *topology_to_json(const struct topology *t, const struct class_table *classes,
			 const struct fingerprint *fp, const struct llc_view *llc)
{
	json_t *list = json_array(), *notes = json_array();
	json_t *root;

	for (size_t i = 0; i < class_table_size(classes); i++)
		json_array_append_new(list, class_to_json(t, classes, class_table_get(classes, i)));
	for (size_t i = 0; i < t->n_notes; i++)
		json_array_append_new(notes, json_string(t->notes[i]));
	root = json_pack("{s:s, s:s, s:s?, s:o, s:o, s:o, s:o, s:o}", "schema",
			 SCHEDLAB_SCHEMA("topology"), "source", t->source_name, "hypervisor",
			 t->hypervisor, "counts", counts_to_json(t), "cpu_lists",
			 lists_to_json(t, classes), "caches", caches_to_json(t), "classes", list,
			 "notes", notes);
	if (!root)
		return NULL;
	json_object_set_new(root, "kinds", kinds_to_json(t));
	json_object_set_new(root, "nodes", nodes_to_json(t));
	json_object_set_new(root, "distances", distances_to_json(t));
	json_object_set_new(root, "frequency_domains", frequency_to_json(t));
	json_object_set_new(root, "scheduler_llc", llc_view_to_json(llc));
	json_object_set_new(root, "fingerprint", fingerprint_to_json(fp));
	json_object_set_new(root, "cpus", cpus_to_json(t));
	return root;
}
