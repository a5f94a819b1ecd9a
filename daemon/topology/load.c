/* SPDX-License-Identifier: MIT */
/*
 * From hwloc's objects to our table of CPUs.
 *
 * hwloc is steered by environment variables only, which an unprivileged caller of the daemon must
 * not be able to set: all HWLOC_* are removed first, then ours are set for the time of the load.
 */
#include "topology/load.h"

#include <malloc.h>
#include <string.h>
#include <sys/stat.h>

#include "util/affinity.h"
#include "util/clock.h"

#define SYNTHETIC_PREFIX "synthetic:"

static void hwloc_destroyp(hwloc_topology_t *h)
{
	if (*h)
		hwloc_topology_destroy(*h);
}

static void clear_hwloc_environment(void)
{
	for (char **e = environ; *e;) {
		const char *equals = strchr(*e, '=');

		if (equals && strncmp(*e, "HWLOC_", 6) == 0) {
			char name[128];

			(void)snprintf(name, sizeof(name), "%.*s", (int)(equals - *e), *e);
			if (unsetenv(name) == 0) {
				e = environ;
				continue;
			}
		}
		e++;
	}
}

/* CPUID of this host would leak into foreign trees, and lies in guests; plugins are unknown code. */
static int set_hwloc_environment(const char *fsroot)
{
	clear_hwloc_environment();
	if (setenv("HWLOC_COMPONENTS", "linux,-x86,stop", 1) < 0 ||
	    setenv("HWLOC_PLUGINS_PATH", "/nonexistent", 1) < 0 ||
	    setenv("HWLOC_HIDE_ERRORS", "2", 1) < 0 ||
	    setenv("HWLOC_DONT_MERGE_CLUSTER_GROUPS", "1", 1) < 0)
		return -errno;
	if (fsroot &&
	    (setenv("HWLOC_FSROOT", fsroot, 1) < 0 || setenv("HWLOC_THISSYSTEM", "0", 1) < 0))
		return -errno;
	return 0;
}

static int choose_objects(hwloc_topology_t h)
{
	if (hwloc_topology_set_flags(h, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) < 0 ||
	    hwloc_topology_set_all_types_filter(h, HWLOC_TYPE_FILTER_KEEP_ALL) < 0 ||
	    hwloc_topology_set_icache_types_filter(h, HWLOC_TYPE_FILTER_KEEP_NONE) < 0 ||
	    hwloc_topology_set_io_types_filter(h, HWLOC_TYPE_FILTER_KEEP_NONE) < 0 ||
	    hwloc_topology_set_type_filter(h, HWLOC_OBJ_MISC, HWLOC_TYPE_FILTER_KEEP_NONE) < 0)
		return -errno;
	return 0;
}

static bool is_regular_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* @source_name is a path, an XML file or a synthetic description, as @source says. */
static int load_hwloc(enum topology_source source, const char *source_name, hwloc_topology_t *ret,
		      struct fail *f)
{
	_cleanup_(hwloc_destroyp) hwloc_topology_t h = NULL;
	int r;

	r = set_hwloc_environment(source == TOPOLOGY_DIR ? source_name : NULL);
	if (r < 0)
		return fail_errno(f, r, "cannot prepare the environment for hwloc");
	if (hwloc_topology_init(&h) < 0) {
		h = NULL;
		return fail_oom(f);
	}
	r = choose_objects(h);
	if (r < 0)
		return fail_errno(f, r, "hwloc refuses its filters");
	if (source == TOPOLOGY_XML && !is_regular_file(source_name))
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT, "there is no regular file %s",
				source_name);
	if (source == TOPOLOGY_XML && hwloc_topology_set_xml(h, source_name) < 0)
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
				"'%s' is not a topology in hwloc's XML", source_name);
	if (source == TOPOLOGY_SYNTHETIC && hwloc_topology_set_synthetic(h, source_name) < 0)
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
				"'%s' is not a synthetic topology; one looks like "
				"synthetic:package:2 numa:1 l3:1 core:4 pu:2",
				source_name);
	if (hwloc_topology_load(h) < 0)
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
				"no topology can be read from %s", source_name);
	clear_hwloc_environment();
	*ret = TAKE_PTR(h);
	return 0;
}

static int from_bitmap(hwloc_const_bitmap_t bitmap, struct cpuset **ret, struct fail *f)
{
	_cleanup_(cpuset_freep) struct cpuset *s = cpuset_new();

	if (!s)
		return fail_oom(f);
	/* An infinite bitmap means "no limit is known"; callers and it with the online CPUs. */
	for (int cpu = hwloc_bitmap_first(bitmap); cpu >= 0 && cpu <= CPUSET_CPU_MAX;
	     cpu = hwloc_bitmap_next(bitmap, cpu))
		if (cpuset_add(s, (unsigned int)cpu) < 0)
			return fail_oom(f);
	*ret = TAKE_PTR(s);
	return 0;
}

/* The rows of all CPUs, in hwloc's logical order, which is tree order. */
static int take_cpus(struct topology *t, hwloc_topology_t h, struct fail *f)
{
	int n = hwloc_get_nbobjs_by_type(h, HWLOC_OBJ_PU);
	unsigned int highest = 0;

	if (n <= 0)
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT, "%s has no CPU",
				t->source_name);
	t->cpus = calloc((size_t)n, sizeof(*t->cpus));
	t->online = cpuset_new();
	if (!t->cpus || !t->online)
		return fail_oom(f);
	t->n_cpus = (size_t)n;
	for (int i = 0; i < n; i++) {
		struct topology_cpu *c = &t->cpus[i];

		c->id = hwloc_get_obj_by_type(h, HWLOC_OBJ_PU, (unsigned int)i)->os_index;
		c->frequency = -1;
		for (int level = 0; level < LEVEL_MAX; level++)
			c->group[level] = -1;
		if (cpuset_add(t->online, c->id) < 0)
			return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
					"%s numbers a CPU %u; %d is the highest that is understood",
					t->source_name, c->id, CPUSET_CPU_MAX);
		highest = MAX_OF(highest, c->id);
	}
	t->n_positions = (size_t)highest + 1;
	t->position = malloc(t->n_positions * sizeof(*t->position));
	if (!t->position)
		return fail_oom(f);
	memset(t->position, 0xff, t->n_positions * sizeof(*t->position));
	for (size_t i = 0; i < t->n_cpus; i++)
		t->position[t->cpus[i].id] = (int32_t)i;
	return 0;
}

static enum level object_level(hwloc_obj_t o)
{
	switch (o->type) {
	case HWLOC_OBJ_CORE:
		return LEVEL_CORE;
	case HWLOC_OBJ_L1CACHE:
		return LEVEL_L1;
	case HWLOC_OBJ_L2CACHE:
		return LEVEL_L2;
	case HWLOC_OBJ_L3CACHE:
		return LEVEL_L3;
	case HWLOC_OBJ_L4CACHE:
		return LEVEL_L4;
	case HWLOC_OBJ_DIE:
		return LEVEL_DIE;
	case HWLOC_OBJ_PACKAGE:
		return LEVEL_PACKAGE;
	case HWLOC_OBJ_GROUP:
		if (o->subtype && strcmp(o->subtype, "Cluster") == 0)
			return LEVEL_CLUSTER;
		if (o->subtype && strcmp(o->subtype, "Book") == 0)
			return LEVEL_BOOK;
		if (o->subtype && strcmp(o->subtype, "Drawer") == 0)
			return LEVEL_DRAWER;
		return LEVEL_MAX;
	default:
		return LEVEL_MAX;
	}
}

static int take_object(struct topology *t, hwloc_obj_t o, struct fail *f)
{
	enum level level = object_level(o);
	uint32_t group;

	if (level == LEVEL_MAX)
		return 0;
	group = t->n_groups[level]++;
	if (level_is_cache(level)) {
		uint64_t *larger = reallocarray(t->cache_size[level], group + 1, sizeof(*larger));

		if (!larger)
			return fail_oom(f);
		t->cache_size[level] = larger;
		larger[group] = o->attr->cache.size;
	}
	for (int cpu = hwloc_bitmap_first(o->cpuset); cpu >= 0;
	     cpu = hwloc_bitmap_next(o->cpuset, cpu))
		if ((size_t)cpu < t->n_positions && t->position[cpu] >= 0)
			t->cpus[t->position[cpu]].group[level] = (int32_t)group;
	return 0;
}

static int take_objects(struct topology *t, hwloc_topology_t h, struct fail *f)
{
	int depth = hwloc_topology_get_depth(h);

	for (int d = 0; d < depth; d++) {
		unsigned int n = hwloc_get_nbobjs_by_depth(h, d);

		for (unsigned int i = 0; i < n; i++) {
			int r = take_object(t, hwloc_get_obj_by_depth(h, d, i), f);

			if (r < 0)
				return r;
		}
	}
	return 0;
}

/* The CPU set in an optional file: empty where there is none. */
static int read_optional_list(const struct kernfs *k, const char *path, struct cpuset **ret,
			      struct fail *f)
{
	if (k && kernfs_exists(k, path))
		return kernfs_read_list(k, path, ret, f);
	*ret = cpuset_new();
	return *ret ? 0 : fail_oom(f);
}

/* Isolated at boot, or at run time by a partition of the root cgroup (6.7 and later). */
static int load_isolated(struct topology *t, const struct kernfs *k, struct fail *f)
{
	_cleanup_(cpuset_freep) struct cpuset *partitions = NULL;
	int r;

	r = read_optional_list(k, KERNFS_CPU "/isolated", &t->isolated, f);
	if (r < 0)
		return r;
	r = read_optional_list(k, KERNFS_CGROUP "/cpuset.cpus.isolated", &partitions, f);
	if (r < 0)
		return r;
	if (cpuset_or(t->isolated, partitions) < 0)
		return fail_oom(f);
	return read_optional_list(k, KERNFS_CPU "/nohz_full", &t->nohz_full, f);
}

static int load_sets(struct topology *t, const struct kernfs *k, hwloc_topology_t h, struct fail *f)
{
	int r;

	r = load_isolated(t, k, f);
	if (r < 0)
		return r;
	r = read_optional_list(k, KERNFS_CPU "/present", &t->offline, f);
	if (r < 0)
		return r;
	cpuset_andnot(t->offline, t->online);
	if (t->source == TOPOLOGY_THIS)
		r = affinity_get(0, &t->allowed, f);
	else
		r = from_bitmap(hwloc_topology_get_allowed_cpuset(h), &t->allowed, f);
	if (r < 0)
		return r;
	cpuset_and(t->allowed, t->online);
	return 0;
}

static int fill(struct topology *t, const struct kernfs *k, hwloc_topology_t h, struct fail *f)
{
	int r;

	r = take_cpus(t, h, f);
	if (r < 0)
		return r;
	r = take_objects(t, h, f);
	if (r < 0)
		return r;
	r = load_sets(t, k, h, f);
	if (r < 0)
		return r;
	r = topology_load_nodes(t, k, h, f);
	if (r < 0)
		return r;
	topology_load_kinds(t, k, h);
	if (!k) {
		topology_load_described(t, h);
		topology_note(t, "which CPUs are isolated is not known from such a description");
	}
	r = topology_load_hypervisor(t, k, f);
	if (r < 0)
		return r;
	return topology_load_frequency(t, k, f);
}

static enum topology_source source_of(const struct kernfs *k, const char **spec)
{
	size_t length;

	if (!*spec) {
		*spec = kernfs_root(k);
		return kernfs_is_real(k) ? TOPOLOGY_THIS : TOPOLOGY_DIR;
	}
	if (strncmp(*spec, SYNTHETIC_PREFIX, strlen(SYNTHETIC_PREFIX)) == 0) {
		*spec += strlen(SYNTHETIC_PREFIX);
		return TOPOLOGY_SYNTHETIC;
	}
	length = strlen(*spec);
	if (length > 4 && strcmp(*spec + length - 4, ".xml") == 0)
		return TOPOLOGY_XML;
	return TOPOLOGY_DIR;
}

/* hwloc takes a tree without CPUs for a machine with one, and ends the process over a node that it cannot
 * number. */
static int check_tree(const struct kernfs *k, const char *spec, struct fail *f)
{
	_cleanup_(cpuset_freep) struct cpuset *nodes = NULL;

	if (!kernfs_exists(k, KERNFS_CPU))
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
				"%s is no copy of a machine's files: it holds no "
				"sys/devices/system/cpu",
				spec);
	return kernfs_exists(k, KERNFS_NODE "/online")
		       ? kernfs_read_list(k, KERNFS_NODE "/online", &nodes, f)
		       : 0;
}

static int load(const struct kernfs *kernfs, const char *spec, struct topology **ret,
		struct fail *f)
{
	_cleanup_(topology_freep) struct topology *t = calloc(1, sizeof(*t));
	_cleanup_(kernfs_freep) struct kernfs *own = NULL;
	hwloc_topology_t h = NULL;
	uint64_t start_ns;
	int r;

	if (!t)
		return fail_oom(f);
	if (spec && *spec == '\0')
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
				"the topology is named by an empty text; accepted is a directory, "
				"a file FILE.xml or synthetic:DESCRIPTION");
	t->source = source_of(kernfs, &spec);
	t->source_name = strdup(t->source == TOPOLOGY_THIS ? "this machine" : spec);
	if (!t->source_name)
		return fail_oom(f);
	if (t->source == TOPOLOGY_DIR) {
		r = kernfs_new(spec, &own, f);
		if (r < 0)
			return r;
		kernfs = own;
		r = check_tree(own, spec, f);
		if (r < 0)
			return r;
	} else if (t->source != TOPOLOGY_THIS) {
		kernfs = NULL;
	}
	start_ns = clock_monotonic_ns();
	r = load_hwloc(t->source, spec, &h, f);
	if (r < 0)
		return r;
	t->hwloc_ns = clock_monotonic_ns() - start_ns;
	r = fill(t, kernfs, h, f);
	start_ns = clock_monotonic_ns();
	hwloc_topology_destroy(h);
	t->hwloc_ns += clock_monotonic_ns() - start_ns;
	(void)malloc_trim(0);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(t);
	return 0;
}

int topology_load(const struct kernfs *kernfs, const char *spec, struct topology **ret,
		  struct fail *f)
{
	int r = load(kernfs, spec, ret, f);

	/* Whoever named a description can name a better one. */
	if (r < 0 && r != -ENOMEM && spec && f && f->code == SCHEDLAB_ERROR_FAILED)
		f->code = SCHEDLAB_ERROR_INVALID_ARGUMENT;
	return r;
}
