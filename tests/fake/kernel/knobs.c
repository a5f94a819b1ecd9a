/* SPDX-License-Identifier: MIT */
/*
 * The numbers in <debugfs>/sched, tunable_scaling, preempt, verbose, and the domains.
 *
 * The traps, as kernel/sched has them: a number is cut to its width without a word; the scaled ones are
 * recomputed at each hotplug, so that what was written is lost, unless tunable_scaling was written
 * after it; verbose takes any text and heeds only what is a bool; domains are built anew at each
 * hotplug, and from 6.4 exist only while verbose is on.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "kernel.h"

#define DIR "/sys/kernel/debug/sched"

enum { IN_6_1 = 1, IN_6_12 = 2, IN_BOTH = 3 };

struct knob {
	const char *name;
	int in;
	uint32_t normal; /* the value, of scaled ones before scaling */
	bool scaled;
	const char *debug; /* its name in sched/debug */
};

static const struct knob knobs[] = {
	{ "latency_ns", IN_6_1, 6000000, true, "sysctl_sched_latency" },
	{ "min_granularity_ns", IN_6_1, 750000, true, "sysctl_sched_min_granularity" },
	{ "idle_min_granularity_ns", IN_6_1, 750000, false, "sysctl_sched_idle_min_granularity" },
	{ "wakeup_granularity_ns", IN_6_1, 1000000, true, "sysctl_sched_wakeup_granularity" },
	{ "base_slice_ns", IN_6_12, 700000, true, "sysctl_sched_base_slice" },
	{ "migration_cost_ns", IN_BOTH, 500000, false, NULL },
	{ "nr_migrate", IN_BOTH, 32, false, NULL },
	{ "latency_warn_ms", IN_BOTH, 100, false, NULL },
	{ "latency_warn_once", IN_BOTH, 1, false, NULL },
	{ "numa_balancing/scan_delay_ms", IN_BOTH, 1000, false, NULL },
	{ "numa_balancing/scan_period_min_ms", IN_BOTH, 1000, false, NULL },
	{ "numa_balancing/scan_period_max_ms", IN_BOTH, 60000, false, NULL },
	{ "numa_balancing/scan_size_mb", IN_BOTH, 256, false, NULL },
	{ "numa_balancing/hot_threshold_ms", IN_BOTH, 1000, false, NULL },
};
#define N_KNOBS (sizeof(knobs) / sizeof(knobs[0]))

#define N_LEVELS 3
#define N_FIELDS 6
static const char *const fields[N_FIELDS] = { "min_interval",     "max_interval",
					      "busy_factor",      "imbalance_pct",
					      "cache_nice_tries", "max_newidle_lb_cost" };
static const uint64_t built[N_LEVELS][N_FIELDS] = { { 2, 4, 16, 110, 0, 0 },
						    { 4, 8, 16, 117, 1, 0 },
						    { 8, 16, 16, 117, 2, 0 } };
static const char *const flags_6_1[N_LEVELS] = {
	"SD_BALANCE_NEWIDLE SD_BALANCE_EXEC SD_BALANCE_FORK SD_WAKE_AFFINE SD_SHARE_CPUCAPACITY "
	"SD_SHARE_PKG_RESOURCES SD_PREFER_SIBLING ",
	"SD_BALANCE_NEWIDLE SD_BALANCE_EXEC SD_BALANCE_FORK SD_WAKE_AFFINE SD_SHARE_PKG_RESOURCES "
	"SD_PREFER_SIBLING ",
	"SD_BALANCE_NEWIDLE SD_BALANCE_EXEC SD_BALANCE_FORK SD_WAKE_AFFINE SD_SERIALIZE SD_OVERLAP "
	"SD_NUMA ",
};
static const char *const flags_6_12[N_LEVELS] = {
	"SD_BALANCE_NEWIDLE SD_BALANCE_EXEC SD_BALANCE_FORK SD_WAKE_AFFINE SD_SHARE_CPUCAPACITY "
	"SD_SHARE_LLC SD_PREFER_SIBLING ",
	"SD_BALANCE_NEWIDLE SD_BALANCE_EXEC SD_BALANCE_FORK SD_WAKE_AFFINE SD_SHARE_LLC "
	"SD_PREFER_SIBLING ",
	"SD_BALANCE_NEWIDLE SD_BALANCE_EXEC SD_BALANCE_FORK SD_WAKE_AFFINE SD_SERIALIZE SD_OVERLAP "
	"SD_NUMA ",
};
static const char *const modes[] = { "none", "voluntary", "full" };

struct knobs {
	uint32_t value[N_KNOBS], normal[N_KNOBS];
	uint32_t scaling, mode;
	bool verbose;
	struct node *domains;
	uint64_t (*domain)[N_LEVELS][N_FIELDS]; /* by CPU */
};

static uint32_t factor(const struct kernel *k)
{
	uint32_t cpus = 0, log = 1;

	for (uint32_t cpu = 0; cpu < k->n_cpus && cpus < 8; cpu++)
		cpus += k->online[cpu];
	if (k->knobs->scaling == 0)
		return 1;
	if (k->knobs->scaling == 2)
		return cpus;
	for (uint32_t n = cpus; n > 1; n /= 2)
		log++;
	return log;
}

static void rescale(struct kernel *k)
{
	for (size_t i = 0; i < N_KNOBS; i++)
		if (knobs[i].scaled)
			k->knobs->value[i] = k->knobs->normal[i] * factor(k);
}

static void read_knob(struct kernel *k, const struct node *n, FILE *out)
{
	fprintf(out, "%u\n", k->knobs->value[n->index]);
}

static int write_knob(struct kernel *k, const struct node *n, const char *data, size_t size)
{
	char buffer[24]; /* simple_attr_write() cuts what is longer */
	uint64_t value;
	int r;

	(void)snprintf(buffer, sizeof(buffer), "%s", data);
	r = parse_unsigned(buffer, 0, UINT64_MAX, &value);
	if (r < 0)
		return r;
	k->knobs->value[n->index] = (uint32_t)value;
	return (int)size;
}

static void read_scaling(struct kernel *k, const struct node *n, FILE *out)
{
	(void)n;
	fprintf(out, "%u\n", k->knobs->scaling);
}

static int write_scaling(struct kernel *k, const struct node *n, const char *data, size_t size)
{
	char buffer[16];
	uint64_t value;

	(void)n;
	(void)snprintf(buffer, sizeof(buffer), "%s", data);
	if (parse_unsigned(buffer, 10, UINT32_MAX, &value) < 0 || value > 2)
		return -EINVAL;
	k->knobs->scaling = (uint32_t)value;
	for (size_t i = 0; i < N_KNOBS; i++)
		if (knobs[i].scaled)
			k->knobs->normal[i] = k->knobs->value[i] / factor(k);
	return size > 15 ? 15 : (int)size;
}

static void read_preempt(struct kernel *k, const struct node *n, FILE *out)
{
	(void)n;
	for (uint32_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		fprintf(out, i == k->knobs->mode ? "(%s) " : "%s ", modes[i]);
	fputc('\n', out);
}

static int write_preempt(struct kernel *k, const struct node *n, const char *data, size_t size)
{
	char buffer[16], *name = buffer;
	size_t length;

	(void)n;
	(void)snprintf(buffer, sizeof(buffer), "%s", data);
	name += strspn(name, " \t\n");
	for (length = strlen(name); length > 0 && strchr(" \t\n", name[length - 1]); length--)
		name[length - 1] = '\0';
	for (uint32_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strcmp(name, modes[i]) != 0)
			continue;
		k->knobs->mode = i;
		return size > 15 ? 15 : (int)size;
	}
	return -EINVAL;
}

static void show_domains(struct kernel *k)
{
	bool hidden = k->is_6_12 && !k->knobs->verbose;

	if (hidden != k->knobs->domains->hidden)
		tree_renew(k->knobs->domains);
	k->knobs->domains->hidden = hidden;
}

static void read_verbose(struct kernel *k, const struct node *n, FILE *out)
{
	(void)n;
	fputs(k->knobs->verbose ? "Y\n" : "N\n", out);
}

static int write_verbose(struct kernel *k, const struct node *n, const char *data, size_t size)
{
	(void)n;
	(void)parse_bool(data, &k->knobs->verbose);
	show_domains(k);
	return (int)size;
}

static void read_field(struct kernel *k, const struct node *n, FILE *out)
{
	fprintf(out, "%ju\n",
		(uintmax_t)k->knobs->domain[n->cpu][n->index / N_FIELDS][n->index % N_FIELDS]);
}

static int write_field(struct kernel *k, const struct node *n, const char *data, size_t size)
{
	uint32_t field = n->index % N_FIELDS;
	bool is_32_bits = field >= 2 && field <= 4;
	uint64_t value;
	int r = parse_unsigned(data, 0, UINT64_MAX, &value);

	if (r < 0)
		return r;
	k->knobs->domain[n->cpu][n->index / N_FIELDS][field] = is_32_bits ? (uint32_t)value : value;
	return (int)size;
}

static const struct file_ops knob_ops = { read_knob, write_knob };
static const struct file_ops scaling_ops = { read_scaling, write_scaling };
static const struct file_ops preempt_ops = { read_preempt, write_preempt };
static const struct file_ops verbose_ops = { read_verbose, write_verbose };
static const struct file_ops field_ops = { read_field, write_field };

static void add_domains(struct kernel *k, uint32_t cpu)
{
	struct node *n;
	char path[128];

	for (uint32_t level = 0; level < N_LEVELS; level++) {
		for (uint32_t field = 0; field < N_FIELDS; field++) {
			(void)snprintf(path, sizeof(path), DIR "/domains/cpu%u/domain%u/%s", cpu,
				       level, fields[field]);
			tree_add(k->root, path, S_IFREG | 0644, &field_ops, cpu,
				 level * N_FIELDS + field);
		}
		(void)snprintf(path, sizeof(path), DIR "/domains/cpu%u/domain%u/name", cpu, level);
		tree_add(k->root, path, S_IFREG | 0444, NULL, cpu, 0)->text =
			strdup(level == 0   ? "SMT\n"
			       : level == 1 ? "MC\n"
					    : "NUMA\n");
		(void)snprintf(path, sizeof(path), DIR "/domains/cpu%u/domain%u/flags", cpu, level);
		if (asprintf(&tree_add(k->root, path, S_IFREG | 0444, NULL, cpu, 0)->text, "%s\n",
			     (k->is_6_12 ? flags_6_12 : flags_6_1)[level]) < 0)
			abort();
	}
	(void)snprintf(path, sizeof(path), DIR "/domains/cpu%u", cpu);
	n = tree_find(k->root, path);
	n->goes = true;
	n->cpu = cpu;
	n->hidden = !k->online[cpu];
}

static void build_domains(struct kernel *k)
{
	for (uint32_t cpu = 0; cpu < k->n_cpus; cpu++)
		memcpy(k->knobs->domain[cpu], built, sizeof(built));
}

void knobs_hotplug(struct kernel *k)
{
	rescale(k);
	build_domains(k);
	/* Who has one of their files open has one of a domain that is gone. */
	tree_renew(k->knobs->domains);
}

void knobs_print_debug(struct kernel *k, FILE *out)
{
	for (size_t i = 0; i < N_KNOBS; i++)
		if (knobs[i].debug && knobs[i].in & (k->is_6_12 ? IN_6_12 : IN_6_1))
			fprintf(out, "  .%-40s : %u.%06u\n", knobs[i].debug,
				k->knobs->value[i] / 1000000, k->knobs->value[i] % 1000000);
}

int knobs_add(struct kernel *k)
{
	k->knobs = calloc(1, sizeof(*k->knobs));
	if (!k->knobs || !(k->knobs->domain = calloc(k->n_cpus, sizeof(*k->knobs->domain))))
		return -ENOMEM;
	k->knobs->scaling = 1;
	k->knobs->mode = 1;
	for (uint32_t i = 0; i < N_KNOBS; i++) {
		char path[128];

		k->knobs->normal[i] = k->knobs->value[i] = knobs[i].normal;
		(void)snprintf(path, sizeof(path), DIR "/%s", knobs[i].name);
		if (knobs[i].in & (k->is_6_12 ? IN_6_12 : IN_6_1))
			tree_add(k->root, path, S_IFREG | 0644, &knob_ops, NO_CPU, i);
	}
	rescale(k);
	tree_add(k->root, DIR "/tunable_scaling", S_IFREG | 0644, &scaling_ops, NO_CPU, 0);
	tree_add(k->root, DIR "/preempt", S_IFREG | 0644, &preempt_ops, NO_CPU, 0);
	tree_add(k->root, DIR "/verbose", S_IFREG | 0644, &verbose_ops, NO_CPU, 0);
	k->knobs->domains = tree_add(k->root, DIR "/domains", S_IFDIR | 0755, NULL, NO_CPU, 0);
	for (uint32_t cpu = 0; cpu < k->n_cpus; cpu++)
		if (k->present[cpu])
			add_domains(k, cpu);
	build_domains(k);
	show_domains(k);
	return 0;
}
