/* SPDX-License-Identifier: MIT */
/*
 * Scheduling domains that share the last-level cache, held against the cache files.
 */
#include "topology/llc.h"

#include <inttypes.h>
#include <string.h>

/* What is known of the line "domainN [NAME] MASK ..." of /proc/schedstat. */
struct domain {
	unsigned int index;
	const char *name; /* NULL before version 17 */
	size_t name_length;
	const char *mask;
	size_t mask_length;
};

/* False for a line of another shape. */
static bool parse_domain(const char *line, const char *end, struct domain *ret)
{
	struct domain d = { 0 };
	const char *p = line + strlen("domain");
	char *behind;

	if (end - line < 8 || strncmp(line, "domain", 6) != 0)
		return false;
	d.index = (unsigned int)strtoul(p, &behind, 10);
	if (behind == p || *behind != ' ')
		return false;
	p = behind + 1;
	d.mask = p;
	d.mask_length = strcspn(p, " \n");
	if (strspn(p, "0123456789abcdef,") != d.mask_length) {
		d.name = p;
		d.name_length = d.mask_length;
		p += d.name_length;
		p += strspn(p, " ");
		d.mask = p;
		d.mask_length = strcspn(p, " \n");
	}
	if (d.mask_length == 0 || d.mask + d.mask_length > end)
		return false;
	*ret = d;
	return true;
}

static bool name_shares_llc(const char *name, size_t length)
{
	/* SMT siblings, clusters, cores of one LLC; on powerpc CACHE is the shared L2. */
	static const char *const names[] = { "SMT", "CLS", "MC", "CACHE" };

	for (size_t i = 0; i < ELEMENTSOF(names); i++)
		if (strlen(names[i]) == length && strncmp(names[i], name, length) == 0)
			return true;
	return false;
}

/* 1, 0, or -ENOENT where neither place has the flags or the name of this domain. */
static int file_shares_llc(const struct kernfs *k, uint32_t cpu, unsigned int domain)
{
	static const char *const dirs[] = { KERNFS_DEBUG "/sched/domains",
					    KERNFS_PROC "/sys/kernel/sched_domain" };

	for (size_t i = 0; i < ELEMENTSOF(dirs); i++) {
		_cleanup_free_ char *flags = NULL, *name = NULL;

		if (kernfs_read(k, KERNFS_PATH("%s/cpu%u/domain%u/flags", dirs[i], cpu, domain),
				&flags, NULL, NULL) == 0 &&
		    strstr(flags, "SD_"))
			return strstr(flags, "SD_SHARE_LLC") ||
			       strstr(flags, "SD_SHARE_PKG_RESOURCES");
		/* Flags were one number before 5.10; names have been there longer. */
		if (kernfs_read_trimmed(k,
					KERNFS_PATH("%s/cpu%u/domain%u/name", dirs[i], cpu, domain),
					&name, NULL) == 0)
			return name_shares_llc(name, strlen(name));
	}
	return -ENOENT;
}

/* The online CPUs that share the hardware's last cache level with @c; NULL if it tells no cache. */
static struct cpuset *hardware_llc(const struct topology *t, const struct topology_cpu *c)
{
	_cleanup_(cpuset_freep) struct cpuset *s = NULL;
	int level = LEVEL_L3;

	while (level >= LEVEL_L1 && c->group[level] < 0)
		level--;
	if (level < LEVEL_L1 || !(s = cpuset_new()))
		return NULL;
	/* In tree order the others are neighbours of @c. */
	for (const struct topology_cpu *n = c; n >= t->cpus && n->group[level] == c->group[level];
	     n--)
		if (cpuset_add(s, n->id) < 0)
			return NULL;
	for (const struct topology_cpu *n = c;
	     n < t->cpus + t->n_cpus && n->group[level] == c->group[level]; n++)
		if (cpuset_add(s, n->id) < 0)
			return NULL;
	return TAKE_PTR(s);
}

static int compare(const struct topology *t, const struct topology_cpu *c,
		   const struct cpuset *scheduler, struct llc_view *v)
{
	_cleanup_(cpuset_freep) struct cpuset *hardware = hardware_llc(t, c);
	struct llc_difference *d;

	v->n_compared++;
	if (hardware && cpuset_equal(hardware, scheduler))
		return 0;
	if (v->n_different < LLC_DIFFERENCES_MAX) {
		d = &v->differences[v->n_different];
		d->cpu = c->id;
		d->scheduler = cpuset_format_list(scheduler);
		d->hardware = hardware ? cpuset_format_list(hardware) : strdup("not told");
		if (!d->scheduler || !d->hardware)
			return -ENOMEM;
	}
	v->n_different++;
	return 0;
}

static int set_why_not(struct llc_view *v, const char *why)
{
	free(v->why_not);
	v->why_not = strdup(why);
	return v->why_not ? 0 : -ENOMEM;
}

/* One CPU's domains, from the line behind "cpuN ..." to the next CPU: its LLC span is compared. */
static int view_cpu(const struct kernfs *k, const struct topology *t, const struct topology_cpu *c,
		    const char **text, struct llc_view *v)
{
	_cleanup_(cpuset_freep) struct cpuset *span = cpuset_new();
	struct domain d;

	/* A CPU that shares its LLC with nobody has no such domain. */
	if (!span || cpuset_add(span, c->id) < 0)
		return -ENOMEM;
	while (parse_domain(*text, *text + strcspn(*text, "\n"), &d)) {
		_cleanup_free_ char *mask = strndup(d.mask, d.mask_length);
		struct cpuset *wider = NULL;
		int shares = d.name ? name_shares_llc(d.name, d.name_length)
				    : file_shares_llc(k, c->id, d.index);

		if (shares < 0)
			return set_why_not(v, "/proc/schedstat does not name the domains of this "
					      "kernel, and their flags cannot be read in debugfs");
		if (!mask || (shares && cpuset_parse_mask(mask, &wider, NULL) < 0))
			return -ENOMEM;
		if (wider) {
			cpuset_free(span);
			span = wider;
		}
		*text += strcspn(*text, "\n");
		*text += **text == '\n';
	}
	return compare(t, c, span, v);
}

int llc_view_read(const struct kernfs *k, const struct topology *t, struct llc_view *ret,
		  struct fail *f)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_(llc_view_clear) struct llc_view v = { 0 };
	_cleanup_(kernfs_freep) struct kernfs *own = NULL;
	struct fail why = { 0 };
	int r = 0;

	if (t->source == TOPOLOGY_DIR) {
		r = kernfs_new(t->source_name, &own, f);
		if (r < 0)
			return r;
		k = own;
	}
	if (t->source == TOPOLOGY_XML || t->source == TOPOLOGY_SYNTHETIC)
		r = set_why_not(&v, "such a description does not hold it");
	else if (kernfs_read(k, KERNFS_PROC "/schedstat", &text, NULL, &why) < 0)
		r = set_why_not(&v, why.message);
	for (const char *p = text; p && *p && r >= 0 && !v.why_not;) {
		const struct topology_cpu *c = NULL;

		if (strncmp(p, "cpu", 3) == 0)
			c = topology_find_cpu(t, (uint32_t)strtoul(p + 3, NULL, 10));
		p += strcspn(p, "\n");
		p += *p == '\n';
		if (c)
			r = view_cpu(k, t, c, &p, &v);
	}
	if (r >= 0 && !v.why_not && v.n_compared == 0)
		r = set_why_not(&v, "/proc/schedstat lists no CPU");
	if (r < 0)
		return fail_oom(f);
	*ret = v;
	v = (struct llc_view){ 0 };
	return 0;
}

void llc_view_clear(struct llc_view *v)
{
	free(v->why_not);
	for (size_t i = 0; i < LLC_DIFFERENCES_MAX; i++) {
		free(v->differences[i].scheduler);
		free(v->differences[i].hardware);
	}
	*v = (struct llc_view){ 0 };
}

json_t *llc_view_to_json(const struct llc_view *v)
{
	json_t *list;

	if (v->why_not)
		return json_pack("{s:b, s:s}", "known", 0, "why_not", v->why_not);
	list = json_array();
	for (size_t i = 0; i < MIN_OF(v->n_different, (size_t)LLC_DIFFERENCES_MAX); i++)
		json_array_append_new(list, json_pack("{s:I, s:s, s:s}", "cpu",
						      (json_int_t)v->differences[i].cpu,
						      "scheduler", v->differences[i].scheduler,
						      "hardware", v->differences[i].hardware));
	return json_pack("{s:b, s:b, s:I, s:o}", "known", 1, "agrees", v->n_different == 0,
			 "n_different", (json_int_t)v->n_different, "differences", list);
}
