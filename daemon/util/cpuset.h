/* SPDX-License-Identifier: MIT */
/*
 * Sets of CPUs (or of NUMA nodes) of any size, and the kernel's two ways of writing them.
 *
 * Never the C library's cpu_set_t: it ends at 1024 CPUs. A set grows as it is filled; a CPU beyond
 * its words is simply not in it. All functions take NULL for an empty set where they only read.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/fail.h"
#include "util/macro.h"

/* Larger numbers are refused as nonsense; Linux goes up to 8192 today. */
#define CPUSET_CPU_MAX 65535

struct cpuset {
	size_t n_words;
	uint64_t *words;
};

/* An empty set, or NULL if memory is out. */
struct cpuset *cpuset_new(void);
struct cpuset *cpuset_free(struct cpuset *s);
DEFINE_CLEANUP(struct cpuset *, cpuset_free);
struct cpuset *cpuset_copy(const struct cpuset *s);

/* -ENOMEM, or -ERANGE for numbers beyond CPUSET_CPU_MAX. @last is included. */
int cpuset_add(struct cpuset *s, unsigned int cpu);
int cpuset_add_range(struct cpuset *s, unsigned int first, unsigned int last);
void cpuset_remove(struct cpuset *s, unsigned int cpu);

bool cpuset_has(const struct cpuset *s, unsigned int cpu);
bool cpuset_is_empty(const struct cpuset *s);
bool cpuset_equal(const struct cpuset *a, const struct cpuset *b);
bool cpuset_is_subset(const struct cpuset *inner, const struct cpuset *outer);
size_t cpuset_count(const struct cpuset *s);

/* The smallest member >= @from, or -1. */
int cpuset_next(const struct cpuset *s, unsigned int from);
int cpuset_first(const struct cpuset *s);

#define CPUSET_FOREACH(cpu, s) \
	for (int cpu = cpuset_first(s); cpu >= 0; cpu = cpuset_next(s, cpu + 1))

/* In place: what is in both, in either, in @s but not in @other. */
void cpuset_and(struct cpuset *s, const struct cpuset *other);
int cpuset_or(struct cpuset *s, const struct cpuset *other);
void cpuset_andnot(struct cpuset *s, const struct cpuset *other);

/*
 * The kernel's list format, "0-3,8,10-12" (also with a stride, "0-15:2/4": two of every four).
 * "", blanks and "(null)" are the empty set; blanks and a newline may stand at the ends.
 */
int cpuset_parse_list(const char *text, struct cpuset **ret, struct fail *f);

/* The kernel's mask format, of any width: 32-bit hexadecimal words with commas, highest first. */
int cpuset_parse_mask(const char *text, struct cpuset **ret, struct fail *f);

/* The list format; "" for the empty set. The caller frees it. NULL if memory is out. */
char *cpuset_format_list(const struct cpuset *s);
