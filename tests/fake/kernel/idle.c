/* SPDX-License-Identifier: MIT */
/*
 * cpuidle: the states of each CPU, as acpi_idle on a guest has them, or the two of haltpoll.
 *
 * A CPU sleeps until it is woken (by the control file: nothing else runs here). What it slept is booked
 * when it leaves the state, not before; a state that was disabled meanwhile is left as any other, and
 * not entered again. With all states disabled it takes the first.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "kernel.h"

#define STATES_MAX 4

struct state {
	const char *name, *desc, *power;
	uint32_t latency, residency; /* us */
};

static const struct state acpi_states[] = {
	{ "POLL", "CPUIDLE CORE POLL IDLE", "4294967295", 0, 0 },
	{ "C1", "ACPI HLT", "0", 1, 2 },
	{ "C2", "ACPI HLT", "0", 50, 100 },
	{ "C3", "ACPI HLT", "0", 300, 600 },
};
static const struct state haltpoll_states[] = {
	{ "POLL", "CPUIDLE CORE POLL IDLE", "4294967295", 0, 0 },
	{ "haltpoll idle", "default architecture idle", "0", 1, 1 },
};

struct idle_cpu {
	uint64_t usage[STATES_MAX], time_ns[STATES_MAX];
	bool disabled[STATES_MAX];
	uint32_t now; /* the state it sleeps in */
	uint64_t since_ns;
	struct node *directory;
};

struct idle {
	const struct state *states;
	uint32_t n_states;
	const char *governor;
	struct idle_cpu *cpus;
};

static uint64_t clock_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* The deepest state that is allowed and pays for a sleep of @us. */
static uint32_t choose(const struct kernel *k, uint32_t cpu, uint64_t us)
{
	const struct idle *idle = k->idle;
	int64_t limit = latency_limit(k, cpu);
	uint32_t best = UINT32_MAX;

	for (uint32_t i = 0; i < idle->n_states; i++) {
		if (idle->cpus[cpu].disabled[i] || idle->states[i].latency > limit)
			continue;
		if (best == UINT32_MAX || idle->states[i].residency <= us)
			best = i;
	}
	return best == UINT32_MAX ? 0 : best;
}

static void enter(struct kernel *k, uint32_t cpu)
{
	k->idle->cpus[cpu].now = choose(k, cpu, UINT64_MAX);
	k->idle->cpus[cpu].since_ns = clock_ns();
}

int idle_wake(struct kernel *k, uint32_t cpu, uint64_t times, uint64_t slept_us)
{
	struct idle_cpu *c;
	uint32_t state;

	if (!k->idle || cpu >= k->n_cpus || !k->online[cpu])
		return -ENODEV;
	if (times == 0)
		return 0;
	c = &k->idle->cpus[cpu];
	c->usage[c->now]++;
	c->time_ns[c->now] += clock_ns() - c->since_ns;
	state = choose(k, cpu, slept_us);
	c->usage[state] += times - 1;
	c->time_ns[state] += (times - 1) * slept_us * 1000;
	enter(k, cpu);
	return 0;
}

void idle_kick(struct kernel *k)
{
	for (uint32_t cpu = 0; k->idle && k->idle->n_states > 0 && cpu < k->n_cpus; cpu++)
		if (k->present[cpu] && k->online[cpu])
			(void)idle_wake(k, cpu, 1, 0);
}

void idle_hotplug(struct kernel *k, uint32_t cpu, bool online)
{
	if (!k->idle || !online)
		return;
	/* haltpoll registers its device anew: all that it had is gone. */
	if (k->haltpoll)
		k->idle->cpus[cpu] = (struct idle_cpu){ .directory = k->idle->cpus[cpu].directory };
	/* Others keep their values, in new files. */
	if (k->idle->cpus[cpu].directory)
		tree_renew(k->idle->cpus[cpu].directory);
	enter(k, cpu);
}

static void read_usage(struct kernel *k, const struct node *n, FILE *out)
{
	fprintf(out, "%ju\n", (uintmax_t)k->idle->cpus[n->cpu].usage[n->index]);
}

static void read_time(struct kernel *k, const struct node *n, FILE *out)
{
	fprintf(out, "%ju\n", (uintmax_t)(k->idle->cpus[n->cpu].time_ns[n->index] / 1000));
}

static void read_disable(struct kernel *k, const struct node *n, FILE *out)
{
	fprintf(out, "%d\n", k->idle->cpus[n->cpu].disabled[n->index]);
}

static int write_disable(struct kernel *k, const struct node *n, const char *data, size_t size)
{
	uint64_t value;
	int r = parse_unsigned(data, 0, UINT32_MAX, &value);

	/* The only one here that asks for a capability of the writer, not of the opener. */
	if (k->caller != 0 && k->caller != k->owner)
		return -EPERM;
	if (r < 0)
		return r;
	k->idle->cpus[n->cpu].disabled[n->index] = value != 0;
	return (int)size;
}

static void read_governor(struct kernel *k, const struct node *n, FILE *out)
{
	(void)n;
	fprintf(out, "%s\n", k->idle->governor);
}

static int write_governor(struct kernel *k, const struct node *n, const char *data, size_t size)
{
	static const char *const governors[] = { "ladder", "menu" };
	size_t length;

	(void)n;
	/* One word: blanks before it and words behind it do not matter. */
	data += strspn(data, " \t\n");
	length = strcspn(data, " \t\n");
	for (size_t i = 0; i < 2; i++) {
		if (strlen(governors[i]) != length || strncmp(governors[i], data, length) != 0)
			continue;
		k->idle->governor = governors[i];
		return (int)size;
	}
	return -EINVAL;
}

static const struct file_ops usage_ops = { read_usage, NULL };
static const struct file_ops time_ops = { read_time, NULL };
static const struct file_ops disable_ops = { read_disable, write_disable };
static const struct file_ops governor_ops = { read_governor, write_governor };
static const struct file_ops governor_ro_ops = { read_governor, NULL };

static void add_text(struct kernel *k, const char *directory, const char *name, const char *text)
{
	char path[160];

	(void)snprintf(path, sizeof(path), "%s/%s", directory, name);
	if (asprintf(&tree_add(k->root, path, S_IFREG | 0444, NULL, NO_CPU, 0)->text, "%s\n",
		     text) < 0)
		abort();
}

static void add_file(struct kernel *k, const char *directory, const char *name, mode_t mode,
		     const struct file_ops *ops, uint32_t cpu, uint32_t state)
{
	char path[160];

	(void)snprintf(path, sizeof(path), "%s/%s", directory, name);
	tree_add(k->root, path, S_IFREG | mode, ops, cpu, state);
}

static void add_state(struct kernel *k, uint32_t cpu, uint32_t i)
{
	const struct state *s = &k->idle->states[i];
	char directory[96], number[16];

	(void)snprintf(directory, sizeof(directory),
		       "/sys/devices/system/cpu/cpu%u/cpuidle/state%u", cpu, i);
	add_text(k, directory, "name", s->name);
	add_text(k, directory, "desc", s->desc);
	add_text(k, directory, "power", s->power);
	(void)snprintf(number, sizeof(number), "%u", s->latency);
	add_text(k, directory, "latency", number);
	(void)snprintf(number, sizeof(number), "%u", s->residency);
	add_text(k, directory, "residency", number);
	add_text(k, directory, "default_status", "enabled");
	add_text(k, directory, "above", "0");
	add_text(k, directory, "below", "0");
	add_text(k, directory, "rejected", "0");
	add_file(k, directory, "usage", 0444, &usage_ops, cpu, i);
	add_file(k, directory, "time", 0444, &time_ops, cpu, i);
	add_file(k, directory, "disable", 0644, &disable_ops, cpu, i);
}

static void add_cpu(struct kernel *k, uint32_t cpu)
{
	char path[96];
	struct node *n;

	for (uint32_t i = 0; i < k->idle->n_states; i++)
		add_state(k, cpu, i);
	(void)snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/cpuidle", cpu);
	n = tree_find(k->root, path);
	n->cpu = cpu;
	n->goes = k->haltpoll;
	n->hidden = n->goes && !k->online[cpu];
	k->idle->cpus[cpu].directory = n;
	enter(k, cpu);
}

int idle_add(struct kernel *k)
{
	static const char directory[] = "/sys/devices/system/cpu/cpuidle";
	struct idle *idle = calloc(1, sizeof(*idle));

	add_text(k, directory, "available_governors", "ladder menu ");
	add_text(k, directory, "current_driver",
		 k->no_idle    ? "none"
		 : k->haltpoll ? "haltpoll"
			       : "acpi_idle");
	if (!idle || !(idle->cpus = calloc(k->n_cpus, sizeof(*idle->cpus))))
		return -ENOMEM;
	k->idle = idle;
	idle->governor = "menu";
	add_file(k, directory, "current_governor", 0644, &governor_ops, NO_CPU, 0);
	add_file(k, directory, "current_governor_ro", 0444, &governor_ro_ops, NO_CPU, 0);
	if (k->no_idle)
		return 0;
	idle->states = k->haltpoll ? haltpoll_states : acpi_states;
	idle->n_states = k->haltpoll ? 2 : 4;
	for (uint32_t cpu = 0; cpu < k->n_cpus; cpu++)
		if (k->present[cpu])
			add_cpu(k, cpu);
	return 0;
}
