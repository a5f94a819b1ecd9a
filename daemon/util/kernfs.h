/* SPDX-License-Identifier: MIT */
/*
 * Every kernel file (/sys, /proc, debugfs, cgroups) is reached through here, below a root.
 *
 * On the real root ("/") the last part of a path is never followed if it is a link, and what was
 * opened must lie on a file system that the kernel makes itself (sysfs, proc, debugfs, tracefs,
 * cgroup), so that nothing mounted or planted there is taken for the kernel's word. Any other root
 * is a tree for tests or of another machine: links stay inside it.
 *
 * Paths are absolute, "/sys/...". All errors carry the path.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/cpuset.h"
#include "util/fail.h"

#define KERNFS_PATH_MAX 256

/* Where each file system is. Paths begin with one of these, so that no other file spells them. */
#define KERNFS_SYS    "/sys"
#define KERNFS_PROC   "/proc"
#define KERNFS_CPU    KERNFS_SYS "/devices/system/cpu"
#define KERNFS_NODE   KERNFS_SYS "/devices/system/node"
#define KERNFS_DMI    KERNFS_SYS "/class/dmi/id"
#define KERNFS_DT     KERNFS_SYS "/firmware/devicetree/base"
#define KERNFS_DEBUG  KERNFS_SYS "/kernel/debug"
#define KERNFS_CGROUP KERNFS_SYS "/fs/cgroup"

struct kernfs;

/* @root is a directory, or "/" or NULL for this machine. */
int kernfs_new(const char *root, struct kernfs **ret, struct fail *f);
struct kernfs *kernfs_free(struct kernfs *k);
DEFINE_CLEANUP(struct kernfs *, kernfs_free);

/* True on this machine's own root. */
bool kernfs_is_real(const struct kernfs *k);
/* The root as it was given, "/" for this machine. */
const char *kernfs_root(const struct kernfs *k);

/* A path made like by printf; it lives until the end of the enclosing block. */
#define KERNFS_PATH(...) kernfs_format((char[KERNFS_PATH_MAX]){ 0 }, __VA_ARGS__)
const char *kernfs_format(char *buffer, const char *format, ...) _printf_(2, 3);

/* The whole file, of any size, with a NUL behind it; the caller frees it. @ret_size may be NULL. */
int kernfs_read(const struct kernfs *k, const char *path, char **ret, size_t *ret_size,
		struct fail *f);
/* The first @limit bytes at most: for large files of which only the beginning is needed. */
int kernfs_read_head(const struct kernfs *k, const char *path, size_t limit, char **ret,
		     struct fail *f);
/* The whole file without blanks and newlines at its ends. */
int kernfs_read_trimmed(const struct kernfs *k, const char *path, char **ret, struct fail *f);
/* A decimal, 0x or 0 (octal) number; anything else in the file is an error. */
int kernfs_read_i64(const struct kernfs *k, const char *path, int64_t *ret, struct fail *f);
int kernfs_read_u64(const struct kernfs *k, const char *path, uint64_t *ret, struct fail *f);
/* A CPU list, an CPU mask. */
int kernfs_read_list(const struct kernfs *k, const char *path, struct cpuset **ret, struct fail *f);
int kernfs_read_mask(const struct kernfs *k, const char *path, struct cpuset **ret, struct fail *f);

bool kernfs_exists(const struct kernfs *k, const char *path);

/* The names in a directory but "." and "..", sorted. The caller frees *@ret with kernfs_free_names. */
int kernfs_read_names(const struct kernfs *k, const char *path, char ***ret, size_t *ret_n,
		      struct fail *f);
void kernfs_free_names(char **names, size_t n);

/* The numbers N of the entries "<prefix>N" in a directory: ("/sys/devices/system/cpu", "cpu"). */
int kernfs_read_numbers(const struct kernfs *k, const char *path, const char *prefix,
			struct cpuset **ret, struct fail *f);
