/* SPDX-License-Identifier: MIT */
/*
 * Affinity by the raw system calls, since the C library's mask has a fixed size.
 */
#include "util/affinity.h"

#include <sched.h>
#include <string.h>
#include <sys/syscall.h>

/* EINVAL says that the kernel has more CPUs than @words holds; a mask of all CPUs always fits. */
int affinity_get(int tid, struct cpuset **ret, struct fail *f)
{
	_cleanup_(cpuset_freep) struct cpuset *s = cpuset_new();
	uint64_t words[(CPUSET_CPU_MAX + 1) / 64];
	long bytes;

	if (!s)
		return fail_oom(f);
	bytes = syscall(SYS_sched_getaffinity, tid, sizeof(words), words);
	if (bytes < 0)
		return fail_errno(f, errno, "cannot read which CPUs may be used");
	/* The kernel writes unsigned longs; on 64-bit little and big endian these are our words. */
	s->n_words = (size_t)bytes / sizeof(*words);
	s->words = calloc(s->n_words ? s->n_words : 1, sizeof(*words));
	if (!s->words)
		return fail_oom(f);
	memcpy(s->words, words, s->n_words * sizeof(*words));
	*ret = TAKE_PTR(s);
	return 0;
}

int affinity_set(const struct cpuset *cpus, struct fail *f)
{
	_cleanup_free_ char *list = NULL;

	if (syscall(SYS_sched_setaffinity, 0, cpus->n_words * sizeof(*cpus->words), cpus->words) ==
	    0)
		return 0;
	list = cpuset_format_list(cpus);
	if (errno == EINVAL)
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
				"CPU %s cannot be used: it is offline or outside the cpuset",
				list ? list : "");
	return fail_errno(f, errno, "cannot move to CPU %s", list ? list : "");
}

int affinity_pin(unsigned int cpu, struct fail *f)
{
	_cleanup_(cpuset_freep) struct cpuset *wanted = cpuset_new(), *got = NULL;
	int r;

	if (!wanted || cpuset_add(wanted, cpu) < 0)
		return fail_oom(f);
	r = affinity_set(wanted, f);
	if (r < 0)
		return r;
	r = affinity_get(0, &got, f);
	if (r < 0)
		return r;
	if (!cpuset_equal(wanted, got) || sched_getcpu() != (int)cpu)
		return fail_set(f, SCHEDLAB_ERROR_FAILED,
				"CPU %u cannot be used: the kernel placed the task elsewhere", cpu);
	return 0;
}
