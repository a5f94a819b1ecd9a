/* SPDX-License-Identifier: MIT */
/*
 * /proc/cpuinfo, of which only the first CPU's block is read: 4096 CPUs fill 6 MB.
 */
#pragma once

#include "util/fail.h"
#include "util/kernfs.h"

/* The value of the first line "<key> : <value>", as a new string; NULL if there is none. */
char *cpuinfo_value(const char *cpuinfo, const char *key);

/* The beginning of the file. */
int cpuinfo_read(const struct kernfs *k, char **ret, struct fail *f);

/* The processor as people call it, and the numbers that say exactly which it is. */
char *cpuinfo_model(const char *cpuinfo);
char *cpuinfo_identity(const char *cpuinfo);

/* Whether the x86 flag "hypervisor" is set. */
bool cpuinfo_has_hypervisor(const char *cpuinfo);
