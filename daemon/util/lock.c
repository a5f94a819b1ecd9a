/* SPDX-License-Identifier: MIT */
/*
 * flock(2) on a file, and who holds it.
 */
#include "util/lock.h"

#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "util/kernfs.h"

#define ORPHAN_TRIES     25
#define ORPHAN_WAIT_USEC 10000

/* The pid in /proc/locks that holds a FLOCK on this file; 0 if it is not told (another pid
 * namespace), or where /proc cannot be read. */
static int find_holder(const struct kernfs *k, int fd)
{
	_cleanup_free_ char *locks = NULL;
	struct stat st;
	char wanted[64];
	char *rest;

	if (fstat(fd, &st) < 0 || kernfs_read(k, KERNFS_PROC "/locks", &locks, NULL, NULL) < 0)
		return 0;
	(void)snprintf(wanted, sizeof(wanted), " %02x:%02x:%ju ", major(st.st_dev),
		       minor(st.st_dev), (uintmax_t)st.st_ino);
	rest = locks;
	for (char *line; (line = strsep(&rest, "\n"));) {
		const char *kind = strstr(line, "FLOCK"), *file = strstr(line, wanted);

		/* "7: FLOCK  ADVISORY  WRITE 2563 fe:00:39 0 EOF"; the pid stands before the file. */
		if (!kind || !file)
			continue;
		while (file > line && file[-1] != ' ')
			file--;
		return (int)strtol(file, NULL, 10);
	}
	return 0;
}

void lock_holder(int fd, char *text, size_t size)
{
	_cleanup_(kernfs_freep) struct kernfs *k = NULL;
	_cleanup_free_ char *comm = NULL;
	const struct passwd *user = NULL;
	struct stat st;
	int pid = 0;

	*text = '\0';
	if (kernfs_new(NULL, &k, NULL) == 0)
		pid = find_holder(k, fd);
	/* One that has ended is told for as long as a child of it has the file. */
	if (pid <= 0 || (kill(pid, 0) < 0 && errno == ESRCH))
		return;
	if (kernfs_read_trimmed(k, KERNFS_PATH(KERNFS_PROC "/%d/comm", pid), &comm, NULL) < 0) {
		(void)snprintf(text, size, "process %d", pid);
		return;
	}
	if (stat(KERNFS_PATH(KERNFS_PROC "/%d", pid), &st) == 0)
		user = getpwuid(st.st_uid);
	(void)snprintf(text, size, "%s (process %d, user %s)", comm, pid,
		       user ? user->pw_name : "unknown");
}

static int fail_held(int fd, const char *doing, struct fail *f)
{
	char holder[256];

	lock_holder(fd, holder, sizeof(holder));
	return fail_set(f, SCHEDLAB_ERROR_BUSY, "%s %s",
			*holder ? holder : "another process, in another pid namespace,", doing);
}

int lock_fd(int fd, const char *doing, struct fail *f)
{
	char holder[256] = "";
	int error = 0;

	/* A process that was killed may have had a child that had not come to its exec yet, and has the lock
	 * for a moment more; then no living holder is told. */
	for (int tries = 0; tries < ORPHAN_TRIES; tries++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return 0;
		error = errno;
		if (error == EWOULDBLOCK)
			lock_holder(fd, holder, sizeof(holder));
		if (error != EWOULDBLOCK || *holder != '\0')
			break;
		(void)usleep(ORPHAN_WAIT_USEC);
	}
	return error == EWOULDBLOCK ? fail_held(fd, doing, f)
				    : fail_errno(f, error, "cannot lock a file that is open");
}

int lock_take(const char *path, const char *doing, int *ret_fd, struct fail *f)
{
	/* Anybody may put something else there: a pipe must not be waited for. */
	static const int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK;
	_cleanup_fd_ int fd = open(path, flags);
	struct stat st;
	int r;

	/* Another may make it in between: O_EXCL is not wanted, only one file is. */
	if (fd < 0 && errno == ENOENT)
		fd = open(path, flags | O_CREAT, 0644);
	if (fd < 0 || fstat(fd, &st) < 0)
		return fail_errno(f, errno, "cannot open the lock file %s", path);
	if (!S_ISREG(st.st_mode))
		return fail_set(f, SCHEDLAB_ERROR_FAILED,
				"the lock file %s is not a regular file; remove it", path);
	r = lock_fd(fd, doing, f);
	if (r >= 0)
		*ret_fd = TAKE_FD(fd);
	return r;
}
