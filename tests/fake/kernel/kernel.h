/* SPDX-License-Identifier: MIT */
/*
 * A kernel that is not there: the files by which Linux lets its scheduler be seen and set, as a FUSE
 * file system over the tree of a machine (tests/tools/mktree.py), with faults on request.
 *
 * What the tree holds is served as it is; the files below are made here and behave as the kernel's do,
 * with its grammar and its errors. Semantics are those of Linux 6.1 or 6.12, observed on both;
 * tests/fake/conformance.py holds this and the real one to the same checks.
 *
 * One lock guards all of it; a fault that blocks sleeps outside of it.
 *
 * Where it is known to differ: a domain's levels do not change with the CPUs that are online; 6.12 scales
 * base_slice_ns one hotplug late; writev(2) is one write; a descriptor of /dev/cpu_dma_latency is released
 * a moment after close(2); a blocked write blocks other writers of the same file; fair_server is not there.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define KERNEL_CPUS_MAX 8192
#define NO_CPU          UINT32_MAX

struct kernel;
struct node;

/* Contents that are made when they are asked for. Called with the lock held. */
struct file_ops {
	/* Prints the whole file. */
	void (*read)(struct kernel *k, const struct node *n, FILE *out);
	/* Takes @data (@size bytes and a NUL). Returns the bytes taken, or a negative errno. */
	int (*write)(struct kernel *k, const struct node *n, const char *data, size_t size);
};

struct node {
	char *name;
	mode_t mode;
	struct node *parent, **children; /* sorted by name */
	size_t n_children;
	char *text; /* of a file without ops */
	const struct file_ops *ops;
	uint32_t cpu;    /* whose file it is */
	uint32_t index;  /* which of its kind */
	bool vanished;   /* as if it were not there: by a fault */
	bool hidden;     /* the same, as its CPU is offline, or nobody is verbose */
	bool goes;       /* hidden while its CPU is offline */
	uint32_t life;   /* counts how often it was made anew: who has it open has the old one */
	bool is_cpu_set; /* a list or mask that holds online CPUs only */
};

/* The settings of a running kernel, each part of it the business of one file here. */
struct kernel {
	pthread_mutex_t lock;
	struct node *root;
	uid_t owner;   /* of all files; it is root to this kernel */
	uid_t caller;  /* who writes now */
	bool lockdown; /* integrity: no debugfs file with a write bit can be opened */
	bool is_6_12;  /* instead of 6.1 */
	bool old_path; /* features at the root of debugfs, as before 5.13 */
	bool no_idle;  /* no cpuidle driver */
	bool haltpoll; /* a driver whose devices go with their CPU */
	uint32_t n_cpus;
	bool present[KERNEL_CPUS_MAX], online[KERNEL_CPUS_MAX];

	struct features *features;
	struct knobs *knobs;
	struct idle *idle;
	struct latency *latency;
	struct fault *faults;
	struct audit *audit;
	struct foreign *foreign;
};

/* tree.c */
struct node *tree_load(const char *directory);
struct node *tree_find(struct node *root, const char *path); /* hidden ones are not found */
struct node *tree_add(struct node *root, const char *path, mode_t mode, const struct file_ops *ops,
		      uint32_t cpu, uint32_t index); /* makes the directories too */
void tree_path(const struct node *n, char *buffer, size_t size);
void tree_renew(struct node *from); /* all below it is another file from now on */
void tree_each(struct node *from, void (*visit)(struct kernel *k, struct node *n),
	       struct kernel *k);

/* features.c: <debugfs>/sched/features and debug */
int features_add(struct kernel *k);
/* knobs.c: the other files in <debugfs>/sched */
int knobs_add(struct kernel *k);
void knobs_hotplug(struct kernel *k); /* scaled values fall back, domains are rebuilt */
void knobs_print_debug(struct kernel *k, FILE *out);
/* idle.c: cpuidle */
int idle_add(struct kernel *k);
void idle_hotplug(struct kernel *k, uint32_t cpu, bool online);
void idle_kick(struct kernel *k); /* all CPUs leave what they sleep in, and choose anew */
int idle_wake(struct kernel *k, uint32_t cpu, uint64_t times, uint64_t slept_us);
/* latency.c: /dev/cpu_dma_latency, and power/pm_qos_resume_latency_us of each CPU */
extern const struct file_ops dma_latency_ops;
int latency_add(struct kernel *k);
int32_t latency_limit(const struct kernel *k, uint32_t cpu); /* microseconds */
int latency_request(struct kernel *k, int handle, const char *data, size_t size);
int latency_open(struct kernel *k); /* a handle */
void latency_close(struct kernel *k, int handle);
/* hotplug.c: cpuN/online, and the sets that follow from it */
int hotplug_add(struct kernel *k);
int hotplug_set(struct kernel *k, uint32_t cpu, bool online);
void hotplug_filter(const struct kernel *k, const struct node *n, FILE *out);
/* fault.c */
enum fault_op { FAULT_OPEN, FAULT_READ, FAULT_WRITE, FAULT_BLOCK, FAULT_UNSTICK };
int fault_add(struct kernel *k, enum fault_op op, const char *pattern, int value, int count);
void fault_clear(struct kernel *k);
/* 0, or the value of a fault that is due, which is used up. @writes: it is opened for writing; EROFS meets
 * nobody else. The control file has no faults. */
int fault_take(struct kernel *k, enum fault_op op, const struct node *n, bool writes);
/* control.c: /.control, by which tests act on this kernel */
int control_add(struct kernel *k);
void control_note(struct kernel *k, const struct node *n, uid_t uid, pid_t pid, const char *data,
		  size_t size);
/* main.c: a write with all that belongs to it but faults; the lock is held */
int kernel_write(struct kernel *k, struct node *n, const char *data, size_t size);

/* numbers.c: the kernel's own ways to read numbers */
int parse_unsigned(const char *text, int base, uint64_t max, uint64_t *ret);
int parse_signed(const char *text, int base, int64_t min, int64_t max, int64_t *ret);
int parse_bool(const char *text, bool *ret);
