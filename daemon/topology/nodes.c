/* SPDX-License-Identifier: MIT */
/*
 * NUMA nodes: sysfs says exactly which CPU is on which node. (hwloc gives a node without CPUs the
 * CPUs nearest to it, so that several nodes seem to hold the same CPU.)
 */
#include <string.h>

#include "topology/load.h"

static void free_distances(hwloc_topology_t h, struct hwloc_distances_s *d)
{
	if (d)
		hwloc_distances_release(h, d);
}

static int allocate_nodes(struct topology *t, size_t n, struct fail *f)
{
	t->nodes = calloc(n ? n : 1, sizeof(*t->nodes));
	if (!t->nodes)
		return fail_oom(f);
	t->n_nodes = n;
	t->n_groups[LEVEL_NODE] = (uint32_t)n;
	return 0;
}

static void put_on_node(struct topology *t, uint32_t cpu, size_t node)
{
	struct topology_cpu *c;

	if (cpu >= t->n_positions || t->position[cpu] < 0)
		return;
	c = &t->cpus[t->position[cpu]];
	if (c->group[LEVEL_NODE] >= 0)
		return;
	c->group[LEVEL_NODE] = (int32_t)node;
	t->nodes[node].n_cpus++;
}

/* One row of the distance file: as many numbers as there are online nodes, in their order. */
static int parse_distances(const char *text, size_t n, uint16_t *row)
{
	for (size_t i = 0; i < n; i++) {
		char *end;
		unsigned long value = strtoul(text, &end, 10);

		if (end == text || value > UINT16_MAX)
			return -EINVAL;
		row[i] = (uint16_t)value;
		text = end;
	}
	return text[strspn(text, " \n")] == '\0' ? 0 : -EINVAL;
}

static int read_distances(struct topology *t, const struct kernfs *k, struct fail *f)
{
	_cleanup_free_ uint16_t *table = calloc(t->n_nodes * t->n_nodes, sizeof(*table));

	if (!table)
		return fail_oom(f);
	for (size_t i = 0; i < t->n_nodes; i++) {
		const char *path = KERNFS_PATH(KERNFS_NODE "/node%u/distance", t->nodes[i].id);
		_cleanup_free_ char *text = NULL;

		if (kernfs_read(k, path, &text, NULL, NULL) < 0)
			return 0;
		if (parse_distances(text, t->n_nodes, table + i * t->n_nodes) < 0) {
			topology_note(t,
				      "%s does not hold one distance for each of %zu nodes: "
				      "NUMA distances are not known",
				      path, t->n_nodes);
			return 0;
		}
	}
	t->distance = TAKE_PTR(table);
	return 0;
}

/* A node's CPUs: the list, or on old kernels and in old copies only the mask. */
static int read_node_cpus(const struct kernfs *k, uint32_t node, struct cpuset **ret,
			  struct fail *f)
{
	const char *list = KERNFS_PATH(KERNFS_NODE "/node%u/cpulist", node);

	if (kernfs_exists(k, list))
		return kernfs_read_list(k, list, ret, f);
	return kernfs_read_mask(k, KERNFS_PATH(KERNFS_NODE "/node%u/cpumap", node), ret, f);
}

static int nodes_from_sysfs(struct topology *t, const struct kernfs *k, struct fail *f)
{
	_cleanup_(cpuset_freep) struct cpuset *online = NULL;
	size_t i = 0;
	int r;

	if (kernfs_exists(k, KERNFS_NODE "/online"))
		r = kernfs_read_list(k, KERNFS_NODE "/online", &online, f);
	else
		r = kernfs_read_numbers(k, KERNFS_NODE, "node", &online, f);
	if (r < 0 && r != -ENOENT)
		return r;
	/* A kernel without NUMA has one node, though it has no directory. */
	r = allocate_nodes(t, cpuset_count(online), f);
	if (r < 0)
		return r;
	CPUSET_FOREACH (id, online) {
		_cleanup_(cpuset_freep) struct cpuset *cpus = NULL;

		t->nodes[i].id = (uint32_t)id;
		if (read_node_cpus(k, (uint32_t)id, &cpus, NULL) < 0)
			topology_note(t, "NUMA node %d does not say which CPUs it has", id);
		CPUSET_FOREACH (cpu, cpus)
			put_on_node(t, (uint32_t)cpu, i);
		i++;
	}
	return t->n_nodes ? read_distances(t, k, f) : 0;
}

/* hwloc's matrix has an order of its own: its objects say which nodes its rows are. */
static int distances_from_hwloc(struct topology *t, hwloc_topology_t h, struct fail *f)
{
	struct hwloc_distances_s *d = NULL;
	unsigned int n = 1;

	if (hwloc_distances_get_by_name(h, "NUMALatency", &n, &d, 0) < 0 || n == 0 || !d)
		return 0;
	if (d->nbobjs == t->n_nodes) {
		t->distance = calloc(t->n_nodes * t->n_nodes, sizeof(*t->distance));
		if (!t->distance) {
			free_distances(h, d);
			return fail_oom(f);
		}
		for (size_t i = 0; i < t->n_nodes; i++)
			for (size_t j = 0; j < t->n_nodes; j++)
				t->distance[d->objs[i]->logical_index * t->n_nodes +
					    d->objs[j]->logical_index] =
					(uint16_t)MIN_OF(d->values[i * t->n_nodes + j], UINT16_MAX);
	}
	free_distances(h, d);
	return 0;
}

/* Fewer CPUs first; of equal ones the lower number, which ordinary memory has. */
static int compare_nodes(const void *a, const void *b)
{
	hwloc_obj_t x = *(const hwloc_obj_t *)a, y = *(const hwloc_obj_t *)b;
	int difference = hwloc_bitmap_weight(x->cpuset) - hwloc_bitmap_weight(y->cpuset);

	if (difference != 0)
		return difference;
	return x->os_index < y->os_index ? -1 : x->os_index > y->os_index;
}

/* Nodes in hwloc's logical order. A node of memory only has the CPUs near it: of several that claim a
 * CPU, the first in order has it. */
static int nodes_from_hwloc(struct topology *t, hwloc_topology_t h, struct fail *f)
{
	int n = hwloc_get_nbobjs_by_type(h, HWLOC_OBJ_NUMANODE);
	_cleanup_free_ hwloc_obj_t *order = NULL;
	int r = allocate_nodes(t, n > 0 ? (size_t)n : 0, f);

	if (r < 0)
		return r;
	order = calloc(t->n_nodes + 1, sizeof(hwloc_obj_t));
	if (!order)
		return fail_oom(f);
	for (size_t i = 0; i < t->n_nodes; i++) {
		order[i] = hwloc_get_obj_by_type(h, HWLOC_OBJ_NUMANODE, (unsigned int)i);
		t->nodes[i].id = order[i]->os_index;
	}
	if (t->n_nodes > 0)
		qsort(order, t->n_nodes, sizeof(hwloc_obj_t), compare_nodes);
	for (size_t i = 0; i < t->n_nodes; i++)
		for (int cpu = hwloc_bitmap_first(order[i]->cpuset); cpu >= 0;
		     cpu = hwloc_bitmap_next(order[i]->cpuset, cpu))
			put_on_node(t, (uint32_t)cpu, order[i]->logical_index);
	return distances_from_hwloc(t, h, f);
}

int topology_load_nodes(struct topology *t, const struct kernfs *k, hwloc_topology_t hwloc,
			struct fail *f)
{
	return k ? nodes_from_sysfs(t, k, f) : nodes_from_hwloc(t, hwloc, f);
}
