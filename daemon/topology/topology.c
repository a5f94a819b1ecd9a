/* SPDX-License-Identifier: MIT */
/*
 * The table of CPUs, asked and freed.
 */
#include "topology/topology.h"

#include <stdarg.h>
#include <string.h>
#include <xxhash.h>

/* What ACPI (SLIT) defines and Linux assumes for a node and itself. */
#define LOCAL_DISTANCE 10

static const char *const level_names[LEVEL_MAX] = {
	[LEVEL_CORE] = "core",     [LEVEL_L1] = "l1",           [LEVEL_L2] = "l2",
	[LEVEL_L3] = "l3",         [LEVEL_L4] = "l4",           [LEVEL_CLUSTER] = "cluster",
	[LEVEL_DIE] = "die",       [LEVEL_PACKAGE] = "package", [LEVEL_BOOK] = "book",
	[LEVEL_DRAWER] = "drawer", [LEVEL_NODE] = "node",
};

const char *level_name(enum level level)
{
	return level_names[level];
}

bool level_is_cache(enum level level)
{
	return level >= LEVEL_L1 && level <= LEVEL_L4;
}

struct topology *topology_free(struct topology *t)
{
	if (!t)
		return NULL;
	for (size_t i = 0; i < LEVEL_MAX; i++)
		free(t->cache_size[i]);
	for (size_t i = 0; i < t->n_notes; i++)
		free(t->notes[i]);
	free(t->notes);
	free(t->source_name);
	free(t->cpus);
	free(t->position);
	free(t->nodes);
	free(t->distance);
	cpuset_free(t->online);
	cpuset_free(t->offline);
	cpuset_free(t->allowed);
	cpuset_free(t->isolated);
	cpuset_free(t->nohz_full);
	free(t->frequency_why_not);
	free(t->hypervisor);
	free(t->hypervisor_why_not);
	for (size_t i = 0; i < TOPOLOGY_DESCRIBED_MAX; i++)
		free(t->described[i].value);
	free(t);
	return NULL;
}

const struct topology_cpu *topology_find_cpu(const struct topology *t, uint32_t cpu)
{
	if (cpu >= t->n_positions || t->position[cpu] < 0)
		return NULL;
	return &t->cpus[t->position[cpu]];
}

int topology_distance(const struct topology *t, int32_t a, int32_t b)
{
	size_t n = t->n_nodes;

	if (a < 0 || b < 0)
		return -1;
	if (!t->distance)
		return a == b ? LOCAL_DISTANCE : -1;
	return MAX_OF(t->distance[(size_t)a * n + (size_t)b],
		      t->distance[(size_t)b * n + (size_t)a]);
}

int topology_usable(const struct topology *t, bool with_isolated, struct cpuset **ret)
{
	_cleanup_(cpuset_freep) struct cpuset *s = cpuset_copy(t->allowed);

	if (!s)
		return -ENOMEM;
	if (!with_isolated) {
		cpuset_andnot(s, t->isolated);
		cpuset_andnot(s, t->nohz_full);
	}
	*ret = TAKE_PTR(s);
	return 0;
}

const char *topology_why_not(const struct topology *t, uint32_t cpu)
{
	if (cpuset_has(t->offline, cpu))
		return "offline";
	if (!cpuset_has(t->online, cpu))
		return "not present";
	if (!cpuset_has(t->allowed, cpu))
		return "outside the cpuset or the affinity of this process";
	if (cpuset_has(t->isolated, cpu))
		return "isolated";
	if (cpuset_has(t->nohz_full, cpu))
		return "nohz_full";
	return NULL;
}

/* Groups are numbered in tree order, which hwloc sorts by CPU numbers: the same at every boot. */
uint64_t topology_hash(const struct topology *t)
{
	XXH3_state_t *state = XXH3_createState();
	uint64_t hash;

	if (!state)
		return 0;
	XXH3_64bits_reset(state);
	for (uint32_t id = 0; id < t->n_positions; id++) {
		const struct topology_cpu *c = topology_find_cpu(t, id);
		uint32_t row[2 + LEVEL_MAX];

		if (!c)
			continue;
		row[0] = id;
		row[1] = c->kind;
		for (size_t level = 0; level < LEVEL_MAX; level++)
			row[2 + level] = (uint32_t)c->group[level];
		XXH3_64bits_update(state, row, sizeof(row));
	}
	XXH3_64bits_update(state, t->distance,
			   t->distance ? t->n_nodes * t->n_nodes * sizeof(*t->distance) : 0);
	hash = XXH3_64bits_digest(state);
	XXH3_freeState(state);
	return hash;
}

void topology_note(struct topology *t, const char *format, ...)
{
	_cleanup_free_ char *note = NULL;
	char **larger;
	va_list ap;
	int r;

	va_start(ap, format);
	r = vasprintf(&note, format, ap);
	va_end(ap);
	if (r < 0) {
		note = NULL;
		return;
	}
	/* Classes are made more than once for one topology. */
	for (size_t i = 0; i < t->n_notes; i++)
		if (strcmp(t->notes[i], note) == 0)
			return;
	larger = reallocarray(t->notes, t->n_notes + 1, sizeof(*larger));
	if (!larger)
		return;
	t->notes = larger;
	larger[t->n_notes++] = TAKE_PTR(note);
}
