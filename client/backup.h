/* SPDX-License-Identifier: MIT */
/*
 * A tar archive of what the daemon sends.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "util/fail.h"

struct backup_member {
	const char *name;
	int fd; /* a pipe that carries @bytes */
	uint64_t bytes;
};

/* Whether an archive can be made at @file, "-" being standard output: nothing is replaced, a
 * terminal gets none, and the compression that its suffix asks for can be had. */
int backup_check(const char *file, struct fail *f);

/* Makes it, its members owned by us where @own, and else by the service's account; after a failure, or
 * a signal that ends us, there is no @file. The size of the archive to *@ret_bytes. */
int backup_write(const char *file, const struct backup_member *members, size_t n, bool own,
		 uint64_t *ret_bytes, struct fail *f);
