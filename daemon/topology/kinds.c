/* SPDX-License-Identifier: MIT */
/*
 * Core kinds: Intel's P and E cores by their PMUs, others by capacity, or where the kernel tells
 * none by the highest frequency.
 *
 * hwloc has read each cpu_capacity and cpufreq already and offers them as attributes of its own,
 * finer kinds: five on a GB10, which has two. Kinds that differ by less than KIND_TOLERANCE are one;
 * so are favoured cores, whose turbo is a few percent higher.
 */
#include <string.h>

#include "topology/cpuinfo.h"
#include "topology/load.h"

enum core_type { CORE_TYPE_NONE, CORE_TYPE_P, CORE_TYPE_E, CORE_TYPE_LPE };

/* What hwloc says of one CPU. */
struct core {
	enum core_type type;
	uint32_t capacity;
};

static void read_kind(struct core *core, const struct hwloc_info_s *infos, unsigned int n)
{
	uint32_t frequency = 0;

	for (unsigned int i = 0; i < n; i++) {
		if (strcmp(infos[i].name, "CoreType") == 0)
			core->type = strcmp(infos[i].value, "IntelCore") == 0   ? CORE_TYPE_P
				     : strcmp(infos[i].value, "IntelAtom") == 0 ? CORE_TYPE_E
										: CORE_TYPE_NONE;
		else if (strcmp(infos[i].name, "LinuxCapacity") == 0)
			core->capacity = (uint32_t)strtoul(infos[i].value, NULL, 10);
		else if (strcmp(infos[i].name, "FrequencyMaxMHz") == 0)
			frequency = (uint32_t)strtoul(infos[i].value, NULL, 10);
	}
	if (core->capacity == 0)
		core->capacity = frequency;
}

static void read_cores(const struct topology *t, hwloc_topology_t h, struct core *cores)
{
	int n = hwloc_cpukinds_get_nr(h, 0);
	hwloc_bitmap_t cpus = hwloc_bitmap_alloc();

	for (int i = 0; cpus && i < n; i++) {
		struct hwloc_info_s *infos;
		struct core core = { 0 };
		unsigned int n_infos;

		if (hwloc_cpukinds_get_info(h, (unsigned int)i, cpus, NULL, &n_infos, &infos, 0) <
		    0)
			continue;
		read_kind(&core, infos, n_infos);
		for (int cpu = hwloc_bitmap_first(cpus); cpu >= 0;
		     cpu = hwloc_bitmap_next(cpus, cpu))
			if ((size_t)cpu < t->n_positions && t->position[cpu] >= 0)
				cores[t->position[cpu]] = core;
	}
	hwloc_bitmap_free(cpus);
}

/* Larger capacity first; of equal capacity, P before E. */
static int compare_cores(const void *a, const void *b)
{
	const struct core *x = a, *y = b;

	if (x->type != y->type)
		return x->type < y->type ? -1 : 1;
	return x->capacity < y->capacity ? 1 : x->capacity > y->capacity ? -1 : 0;
}

/* Each PMU of a hybrid Intel machine lists the cores it belongs to. */
static void read_pmus(const struct topology *t, const struct kernfs *k, struct core *cores)
{
	static const struct {
		const char *path;
		enum core_type type;
	} pmus[] = {
		{ KERNFS_SYS "/devices/cpu_core/cpus", CORE_TYPE_P },
		{ KERNFS_SYS "/devices/cpu_atom/cpus", CORE_TYPE_E },
		{ KERNFS_SYS "/devices/cpu_lowpower/cpus", CORE_TYPE_LPE },
	};

	for (size_t i = 0; k && i < ELEMENTSOF(pmus); i++) {
		_cleanup_(cpuset_freep) struct cpuset *cpus = NULL;

		if (kernfs_read_list(k, pmus[i].path, &cpus, NULL) < 0)
			continue;
		CPUSET_FOREACH (cpu, cpus) {
			if ((size_t)cpu < t->n_positions && t->position[cpu] >= 0)
				cores[t->position[cpu]].type = pmus[i].type;
		}
	}
}

/* x86 processors of two kinds have P and E cores, whoever made them. */
static bool is_x86(const struct kernfs *k, hwloc_topology_t h)
{
	hwloc_obj_t package = hwloc_get_obj_by_type(h, HWLOC_OBJ_PACKAGE, 0);
	_cleanup_free_ char *cpuinfo = NULL, *vendor = NULL;

	if (package && hwloc_obj_get_info_by_name(package, "CPUVendor"))
		return true;
	if (!k || cpuinfo_read(k, &cpuinfo, NULL) < 0)
		return false;
	vendor = cpuinfo_value(cpuinfo, "vendor_id");
	return vendor && strstr(vendor, "IBM") == NULL;
}

static const char *kind_name(const struct topology *t, bool x86, enum core_type type, size_t i)
{
	static const char *const three[] = { "big", "mid", "little" };

	if (type == CORE_TYPE_LPE)
		return "LPE";
	if (type == CORE_TYPE_P || (x86 && i == 0))
		return i == 0 ? "P" : NULL;
	if (type == CORE_TYPE_E || x86)
		return i == 1 ? "E" : i == 2 ? "LPE" : NULL;
	if (t->n_kinds == 2)
		return i == 0 ? "big" : "little";
	return t->n_kinds == 3 ? three[i] : NULL;
}

/* On a machine with one kind of core it has no name, and class ids do without. */
static void name_kinds(struct topology *t, bool x86, const enum core_type *types)
{
	if (t->n_kinds == 1)
		return;
	for (size_t i = 0; i < t->n_kinds; i++) {
		const char *name = kind_name(t, x86, types[i], i);

		if (name)
			(void)snprintf(t->kinds[i].name, KIND_NAME_MAX, "%s", name);
		else
			(void)snprintf(t->kinds[i].name, KIND_NAME_MAX, "kind%u",
				       (unsigned int)(i % KIND_MAX));
	}
}

void topology_load_kinds(struct topology *t, const struct kernfs *k, hwloc_topology_t hwloc)
{
	_cleanup_free_ struct core *cores = calloc(t->n_cpus, sizeof(*cores));
	_cleanup_free_ struct core *sorted = calloc(t->n_cpus, sizeof(*sorted));
	enum core_type types[KIND_MAX] = { 0 };
	uint32_t least[KIND_MAX] = { 0 };

	t->n_kinds = 1;
	if (!cores || !sorted)
		return;
	read_cores(t, hwloc, cores);
	read_pmus(t, k, cores);
	memcpy(sorted, cores, t->n_cpus * sizeof(*cores));
	qsort(sorted, t->n_cpus, sizeof(*sorted), compare_cores);
	t->n_kinds = 0;
	for (size_t i = 0; i < t->n_cpus; i++) {
		size_t last = t->n_kinds - 1;

		if (t->n_kinds == 0 ||
		    (t->n_kinds < KIND_MAX &&
		     (sorted[i].type != types[last] ||
		      t->kinds[last].capacity > sorted[i].capacity * KIND_TOLERANCE))) {
			last = t->n_kinds++;
			types[last] = sorted[i].type;
			t->kinds[last].capacity = sorted[i].capacity;
		}
		least[last] = sorted[i].capacity;
	}
	for (size_t i = 0; i < t->n_cpus; i++)
		for (size_t kind = 0; kind < t->n_kinds; kind++)
			if (cores[i].type == types[kind] && cores[i].capacity >= least[kind] &&
			    cores[i].capacity <= t->kinds[kind].capacity)
				t->cpus[i].kind = (uint8_t)kind;
	name_kinds(t, is_x86(k, hwloc), types);
}
