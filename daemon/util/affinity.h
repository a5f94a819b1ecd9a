/* SPDX-License-Identifier: MIT */
/*
 * sched_getaffinity(2) and sched_setaffinity(2) for any number of CPUs.
 */
#pragma once

#include "util/cpuset.h"

/* The CPUs that task @tid (0: the caller) may run on. */
int affinity_get(int tid, struct cpuset **ret, struct fail *f);

/* Lets the calling thread run on @cpus only (those of them that its cpuset has). */
int affinity_set(const struct cpuset *cpus, struct fail *f);

/*
 * Puts the calling thread on @cpu alone and verifies it: the kernel silently cuts the mask down to
 * the cpuset, so the mask is read back, and the CPU the thread runs on afterwards is looked at.
 */
int affinity_pin(unsigned int cpu, struct fail *f);
