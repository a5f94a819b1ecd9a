/* SPDX-License-Identifier: MIT */
/*
 * What every unit test needs: cmocka, and a directory of its own that goes when the test ends.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

#include "util/macro.h"

/* Asserts that @text holds @part, and shows both where it does not. */
static inline void assert_contains(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("'%s' does not hold '%s'", text, part);
}

/* As the daemon has it: children are events. */
static inline int unit_block_children(void)
{
	sigset_t children;

	return sigemptyset(&children) < 0 || sigaddset(&children, SIGCHLD) < 0
		       ? -1
		       : sigprocmask(SIG_BLOCK, &children, NULL);
}

/* A new directory, in memory where that can be had; the caller frees the name. */
static inline char *unit_make_dir(void)
{
	const char *parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
	char *path = NULL;

	assert_true(asprintf(&path, "%s/schedlab-unit-XXXXXX", parent) > 0);
	assert_non_null(mkdtemp(path));
	return path;
}

/* Writes @text to @dir/@name, making the directories in between. */
static inline void unit_write(const char *dir, const char *name, const char *text)
{
	char path[512];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	for (char *p = path + strlen(dir) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		if (mkdir(path, 0755) < 0)
			assert_int_equal(errno, EEXIST);
		*p = '/';
	}
	file = fopen(path, "we");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static inline int unit_remove_one(const char *path, const struct stat *st, int type, struct FTW *w)
{
	(void)st;
	(void)type;
	(void)w;
	return remove(path);
}

static inline void unit_remove_dir(const char *dir)
{
	(void)nftw(dir, unit_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
