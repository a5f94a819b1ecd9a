/* SPDX-License-Identifier: MIT */
/*
 * Frequency domains: CPUs whose clock changes together.
 *
 * freqdomain_cpus (acpi-cpufreq) says what the hardware couples, related_cpus what one cpufreq
 * policy governs. Both are numbers with blanks between them, not a CPU list.
 */
#include <string.h>

#include "topology/load.h"

static int parse_numbers(const char *text, struct cpuset **ret)
{
	_cleanup_(cpuset_freep) struct cpuset *s = cpuset_new();
	char *end;

	if (!s)
		return -ENOMEM;
	for (unsigned long cpu = strtoul(text, &end, 10); end != text;
	     cpu = strtoul(text, &end, 10)) {
		if (cpu > CPUSET_CPU_MAX || cpuset_add(s, (unsigned int)cpu) < 0)
			return -EINVAL;
		text = end;
	}
	*ret = TAKE_PTR(s);
	return 0;
}

static int read_domain(const struct kernfs *k, uint32_t cpu, const char *file, struct cpuset **ret)
{
	const char *path = KERNFS_PATH(KERNFS_CPU "/cpu%u/cpufreq/%s", cpu, file);
	_cleanup_free_ char *text = NULL;
	int r = kernfs_read(k, path, &text, NULL, NULL);

	return r < 0 ? r : parse_numbers(text, ret);
}

static int set_why_not(struct topology *t, const char *why, struct fail *f)
{
	t->frequency_why_not = strdup(why);
	return t->frequency_why_not ? 0 : fail_oom(f);
}

/* A policy is called after its first CPU: where each CPU has given one its name, each has its own.
 * So on most large machines not one file a CPU need be read. */
static bool each_has_its_own(const struct topology *t, const struct kernfs *k)
{
	_cleanup_(cpuset_freep) struct cpuset *policies = NULL;

	return kernfs_read_numbers(k, KERNFS_CPU "/cpufreq", "policy", &policies, NULL) == 0 &&
	       cpuset_is_subset(t->online, policies);
}

static void assign(struct topology *t, const struct cpuset *cpus, int32_t domain)
{
	CPUSET_FOREACH (cpu, cpus) {
		if ((size_t)cpu < t->n_positions && t->position[cpu] >= 0)
			t->cpus[t->position[cpu]].frequency = domain;
	}
}

int topology_load_frequency(struct topology *t, const struct kernfs *k, struct fail *f)
{
	const char *file = "freqdomain_cpus";
	int32_t domain = 0;

	if (!k)
		return set_why_not(t, "such a description does not hold them", f);
	for (size_t i = 0; i < t->n_cpus; i++) {
		struct topology_cpu *c = &t->cpus[i];
		_cleanup_(cpuset_freep) struct cpuset *cpus = NULL;

		if (c->frequency >= 0)
			continue;
		/* One driver serves all CPUs: the first tells which file there is. */
		if (read_domain(k, c->id, file, &cpus) < 0 && i == 0) {
			file = "related_cpus";
			if (read_domain(k, c->id, file, &cpus) < 0)
				return set_why_not(t, "no cpufreq driver is active", f);
			if (each_has_its_own(t, k)) {
				for (size_t j = 0; j < t->n_cpus; j++)
					t->cpus[j].frequency = (int32_t)j;
				return 0;
			}
		}
		assign(t, cpus, domain++);
	}
	return 0;
}
