/* SPDX-License-Identifier: MIT */
/*
 * Latency limits: /dev/cpu_dma_latency, held by each descriptor that wrote to it, and
 * power/pm_qos_resume_latency_us of each CPU, which is held by nothing.
 *
 * The first takes 4 bytes as a binary number, whatever they are, and anything else as hexadecimal text.
 * The second writes "0" for "no limit" and "n/a" for a limit of 0.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "kernel.h"

#define NO_LIMIT    2000000000 /* what readers of /dev/cpu_dma_latency see where nobody asks */
#define HANDLES_MAX 256

struct latency {
	struct {
		bool open, asked;
		int32_t us;
	} handles[HANDLES_MAX];
	int32_t *cpus; /* INT32_MAX: no limit */
};

static int32_t global(const struct kernel *k)
{
	int32_t least = NO_LIMIT;

	for (size_t i = 0; i < HANDLES_MAX; i++)
		if (k->latency->handles[i].asked && k->latency->handles[i].us < least)
			least = k->latency->handles[i].us;
	return least;
}

int32_t latency_limit(const struct kernel *k, uint32_t cpu)
{
	int32_t least = global(k);

	return k->latency->cpus[cpu] < least ? k->latency->cpus[cpu] : least;
}

int latency_open(struct kernel *k)
{
	for (int i = 0; i < HANDLES_MAX; i++) {
		if (k->latency->handles[i].open)
			continue;
		k->latency->handles[i].open = true;
		return i;
	}
	return -EMFILE;
}

void latency_close(struct kernel *k, int handle)
{
	memset(&k->latency->handles[handle], 0, sizeof(k->latency->handles[handle]));
}

int latency_request(struct kernel *k, int handle, const char *data, size_t size)
{
	int64_t value;
	int32_t binary;
	int r;

	if (size == sizeof(binary)) {
		memcpy(&binary, data, sizeof(binary));
		value = binary;
	} else {
		r = parse_signed(data, 16, INT32_MIN, INT32_MAX, &value);
		if (r < 0)
			return r;
	}
	/* A negative one is none. */
	k->latency->handles[handle].asked = true;
	k->latency->handles[handle].us = value < 0 ? NO_LIMIT : (int32_t)value;
	idle_kick(k);
	return (int)size;
}

static void read_dma(struct kernel *k, const struct node *n, FILE *out)
{
	int32_t us = global(k);

	(void)n;
	(void)fwrite(&us, sizeof(us), 1, out);
}

/* Without a descriptor nobody holds it: not for "set" and "foreign". */
static int write_dma(struct kernel *k, const struct node *n, const char *data, size_t size)
{
	(void)k;
	(void)n;
	(void)data;
	(void)size;
	return -EINVAL;
}

static void read_cpu(struct kernel *k, const struct node *n, FILE *out)
{
	int32_t us = k->latency->cpus[n->cpu];

	if (us == 0)
		fputs("n/a\n", out);
	else
		fprintf(out, "%d\n", us == INT32_MAX ? 0 : us);
}

static int write_cpu(struct kernel *k, const struct node *n, const char *data, size_t size)
{
	int64_t value;

	if (strcmp(data, "n/a") == 0 || strcmp(data, "n/a\n") == 0) {
		k->latency->cpus[n->cpu] = 0;
		return (int)size;
	}
	if (parse_signed(data, 0, 0, INT32_MAX - 1, &value) < 0)
		return -EINVAL;
	k->latency->cpus[n->cpu] = value == 0 ? INT32_MAX : (int32_t)value;
	return (int)size;
}

const struct file_ops dma_latency_ops = { read_dma, write_dma };
static const struct file_ops cpu_ops = { read_cpu, write_cpu };

int latency_add(struct kernel *k)
{
	k->latency = calloc(1, sizeof(*k->latency));
	if (!k->latency || !(k->latency->cpus = calloc(k->n_cpus, sizeof(*k->latency->cpus))))
		return -ENOMEM;
	tree_add(k->root, "/dev/cpu_dma_latency", S_IFREG | 0600, &dma_latency_ops, NO_CPU, 0);
	for (uint32_t cpu = 0; cpu < k->n_cpus; cpu++) {
		char path[96];

		k->latency->cpus[cpu] = INT32_MAX;
		(void)snprintf(path, sizeof(path),
			       "/sys/devices/system/cpu/cpu%u/power/pm_qos_resume_latency_us", cpu);
		if (k->present[cpu])
			tree_add(k->root, path, S_IFREG | 0644, &cpu_ops, cpu, 0);
	}
	return 0;
}
