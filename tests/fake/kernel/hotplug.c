/* SPDX-License-Identifier: MIT */
/*
 * CPUs that go and come: cpuN/online (CPU 0 has none, as on x86), the lists of CPUs, and all sets, which
 * hold online CPUs only.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "kernel.h"

#define CPU_DIR "/sys/devices/system/cpu"

static void print_list(FILE *out, const struct kernel *k, bool online)
{
	bool any = false;

	for (uint32_t cpu = 0; cpu < k->n_cpus; cpu++) {
		uint32_t last = cpu;

		if (!k->present[cpu] || k->online[cpu] != online)
			continue;
		while (last + 1 < k->n_cpus && k->present[last + 1] &&
		       k->online[last + 1] == online)
			last++;
		fprintf(out, last > cpu ? "%s%u-%u" : "%s%u", any ? "," : "", cpu, last);
		any = true;
		cpu = last;
	}
	fputc('\n', out);
}

static void read_online(struct kernel *k, const struct node *n, FILE *out)
{
	(void)n;
	print_list(out, k, true);
}

static void read_offline(struct kernel *k, const struct node *n, FILE *out)
{
	(void)n;
	print_list(out, k, false);
}

static void read_cpu(struct kernel *k, const struct node *n, FILE *out)
{
	fprintf(out, "%d\n", k->online[n->cpu]);
}

static int write_cpu(struct kernel *k, const struct node *n, const char *data, size_t size)
{
	bool online;
	int r = parse_bool(data, &online);

	if (r >= 0)
		r = hotplug_set(k, n->cpu, online);
	return r < 0 ? r : (int)size;
}

static const struct file_ops online_ops = { read_online, NULL };
static const struct file_ops offline_ops = { read_offline, NULL };
static const struct file_ops cpu_ops = { read_cpu, write_cpu };

/* "0-3,8" to the list of those that are online. */
static void filter_list(const struct kernel *k, const char *text, FILE *out)
{
	bool any = false;

	while (*text && *text != '\n') {
		char *end;
		unsigned long first = strtoul(text, &end, 10), last = first;

		if (end == text)
			break;
		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		for (unsigned long cpu = first; cpu <= last && cpu < k->n_cpus; cpu++) {
			unsigned long to = cpu;

			if (!k->online[cpu])
				continue;
			while (to < last && to + 1 < k->n_cpus && k->online[to + 1])
				to++;
			fprintf(out, to > cpu ? "%s%lu-%lu" : "%s%lu", any ? "," : "", cpu, to);
			any = true;
			cpu = to;
		}
		text = *end == ',' ? end + 1 : end;
	}
	fputc('\n', out);
}

/* "ff,0000000f": words of 32 bits, the highest first. */
static void filter_mask(const struct kernel *k, const char *text, FILE *out)
{
	size_t words = 1;

	for (const char *p = text; *p; p++)
		words += *p == ',';
	for (size_t i = 0; i < words; i++) {
		char *end;
		uint32_t value = (uint32_t)strtoul(text, &end, 16);

		for (uint32_t bit = 0; bit < 32; bit++) {
			size_t cpu = (words - 1 - i) * 32 + bit;

			if (cpu >= k->n_cpus || !k->online[cpu])
				value &= ~(UINT32_C(1) << bit);
		}
		fprintf(out, "%s%0*x", i ? "," : "", (int)(end - text), value);
		text = *end == ',' ? end + 1 : end;
	}
	fputc('\n', out);
}

static bool is_list(const char *name)
{
	size_t length = strlen(name);

	return strcmp(name, "cpulist") == 0 ||
	       (length > 5 && strcmp(name + length - 5, "_list") == 0);
}

static bool is_mask(const char *name)
{
	static const char *const names[] = { "cpumap",         "shared_cpu_map",  "core_cpus",
					     "core_siblings",  "thread_siblings", "die_cpus",
					     "cluster_cpus",   "package_cpus",    "book_siblings",
					     "drawer_siblings" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

void hotplug_filter(const struct kernel *k, const struct node *n, FILE *out)
{
	(is_list(n->name) ? filter_list : filter_mask)(k, n->text, out);
}

static void mark_set(struct kernel *k, struct node *n)
{
	(void)k;
	n->is_cpu_set = n->text && !n->ops && (is_list(n->name) || is_mask(n->name));
}

static void hide_those_that_go(struct kernel *k, struct node *n)
{
	if (!n->goes || n->hidden == !k->online[n->cpu])
		return;
	n->hidden = !k->online[n->cpu];
	tree_renew(n);
}

int hotplug_set(struct kernel *k, uint32_t cpu, bool online)
{
	uint32_t others = 0;

	if (cpu >= k->n_cpus || !k->present[cpu])
		return -ENODEV;
	if (k->online[cpu] == online)
		return 0;
	for (uint32_t i = 0; i < k->n_cpus; i++)
		others += i != cpu && k->online[i];
	if (others == 0)
		return -EBUSY;
	k->online[cpu] = online;
	tree_each(k->root, hide_those_that_go, k);
	idle_hotplug(k, cpu, online);
	knobs_hotplug(k);
	return 0;
}

/* Their directories are there for online CPUs only. */
static void mark_going(struct kernel *k, uint32_t cpu)
{
	static const char *const names[] = { "topology", "cache" };

	for (size_t i = 0; i < 2; i++) {
		char path[96];
		struct node *n;

		(void)snprintf(path, sizeof(path), CPU_DIR "/cpu%u/%s", cpu, names[i]);
		n = tree_find(k->root, path);
		if (!n)
			continue;
		n->goes = true;
		n->cpu = cpu;
		n->hidden = !k->online[cpu];
	}
}

/* The tree may say that some are offline. */
static void take_online(struct kernel *k, const struct node *n)
{
	const char *text = n && n->text ? n->text : "";

	if (*text < '0' || *text > '9')
		return;
	memset(k->online, 0, sizeof(k->online));
	while (*text >= '0' && *text <= '9') {
		char *end;
		unsigned long first = strtoul(text, &end, 10), last = first;

		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		for (unsigned long cpu = first; cpu <= last && cpu < k->n_cpus; cpu++)
			k->online[cpu] = k->present[cpu];
		text = *end == ',' ? end + 1 : end;
	}
}

/* Reads which CPUs there are from the tree, before its lists are replaced. */
int hotplug_add(struct kernel *k)
{
	const struct node *directory = tree_find(k->root, CPU_DIR);

	for (size_t i = 0; directory && i < directory->n_children; i++) {
		const char *name = directory->children[i]->name;
		char *end;
		unsigned long cpu = strncmp(name, "cpu", 3) == 0 ? strtoul(name + 3, &end, 10)
								 : KERNEL_CPUS_MAX;

		if (cpu >= KERNEL_CPUS_MAX || end == name + 3 || *end)
			continue;
		k->present[cpu] = k->online[cpu] = true;
		if (cpu >= k->n_cpus)
			k->n_cpus = (uint32_t)cpu + 1;
	}
	if (k->n_cpus == 0)
		return -ENOENT;
	take_online(k, tree_find(k->root, CPU_DIR "/online"));
	tree_each(k->root, mark_set, k);
	tree_add(k->root, CPU_DIR "/online", S_IFREG | 0444, &online_ops, NO_CPU, 0);
	tree_add(k->root, CPU_DIR "/offline", S_IFREG | 0444, &offline_ops, NO_CPU, 0);
	for (uint32_t cpu = 0; cpu < k->n_cpus; cpu++) {
		char path[96];

		(void)snprintf(path, sizeof(path), CPU_DIR "/cpu%u/online", cpu);
		/* One that is offline at the beginning can come. */
		if (k->present[cpu] && (cpu > 0 || !k->online[0]))
			tree_add(k->root, path, S_IFREG | 0644, &cpu_ops, cpu, 0);
		if (k->present[cpu])
			mark_going(k, cpu);
	}
	return 0;
}
