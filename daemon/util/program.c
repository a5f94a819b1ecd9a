/* SPDX-License-Identifier: MIT */
/*
 * Finding programs by where this one lies.
 */
#include "util/program.h"

#include <errno.h>
#include <string.h>

#include "util/kernfs.h"

#define PATH_SIZE 4096

int program_find(const char *name, const char *directory, char **ret, struct fail *f)
{
	char self[PATH_SIZE];
	ssize_t n = readlink(KERNFS_PROC "/self/exe", self, sizeof(self) - 1);
	_cleanup_free_ char *path = NULL;
	char *slash;

	if (n < 0)
		return fail_errno(f, errno, "cannot find out where this program lies");
	self[n] = '\0';
	slash = strrchr(self, '/');
	if (asprintf(&path, "%.*s/%s", slash ? (int)(slash - self) : 0, self, name) < 0) {
		path = NULL;
		return fail_oom(f);
	}
	if (access(path, X_OK) < 0) {
		free(path);
		if (asprintf(&path, "%s/%s", directory, name) < 0) {
			path = NULL;
			return fail_oom(f);
		}
	}
	*ret = TAKE_PTR(path);
	return 0;
}

void program_end_printed(const char *name)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		exit(EXIT_SUCCESS);
	(void)fprintf(stderr, "%s: cannot write the output: %s\n", name, strerror(errno));
	exit(EXIT_FAILURE);
}
