/* SPDX-License-Identifier: MIT */
/*
 * A child that syncs and ends.
 */
#include "store/sync.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define FDS_MAX 4

struct sync {
	sd_event_source *process, *patience;
	sync_done done;
	void *userdata;
};

/* In the child, which keeps nothing of the daemon's but the files: a disk may hold it for ever. */
_Noreturn static void sync_all(const int *fds, size_t n)
{
	int copies[FDS_MAX];
	int error = 0, first = STDERR_FILENO + 1;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (size_t i = 0; i < n; i++) {
		/* Above where they go, so that none is overwritten. */
		copies[i] = fcntl(fds[i], F_DUPFD, first + FDS_MAX);
		if (copies[i] < 0)
			_exit(errno);
	}
	for (size_t i = 0; i < n; i++)
		if (dup2(copies[i], first + (int)i) < 0)
			_exit(errno);
	(void)close_range((unsigned int)(first + (int)n), ~0U, 0);
	for (size_t i = 0; i < n; i++)
		if (fdatasync(first + (int)i) < 0)
			error = errno;
	_exit(error);
}

static int on_end(sd_event_source *source, const siginfo_t *info, void *userdata)
{
	struct sync *sync = userdata;
	int error = info->si_code == CLD_EXITED ? -info->si_status : -ECHILD;

	(void)source;
	sync->patience = sd_event_source_disable_unref(sync->patience);
	sync->done(error, sync->userdata);
	return 0;
}

static int on_patience(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct sync *sync = userdata;

	(void)source;
	(void)usec;
	sync->done(-EINPROGRESS, sync->userdata);
	return 0;
}

int sync_start(sd_event *event, const int *fds, size_t n, sync_done done, void *userdata,
	       struct sync **ret)
{
	_cleanup_(sync_freep) struct sync *sync = calloc(1, sizeof(*sync));
	pid_t pid;
	int r;

	if (!sync || n > FDS_MAX)
		return sync ? -EINVAL : -ENOMEM;
	sync->done = done;
	sync->userdata = userdata;
	r = sd_event_add_time_relative(event, &sync->patience, CLOCK_MONOTONIC, SYNC_PATIENCE_USEC,
				       0, on_patience, sync);
	if (r < 0)
		return r;
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0)
		sync_all(fds, n);
	r = sd_event_add_child(event, &sync->process, pid, WEXITED, on_end, sync);
	if (r < 0) {
		/* Nobody else reaps it. */
		(void)waitpid(pid, NULL, 0);
		return r;
	}
	*ret = TAKE_PTR(sync);
	return 0;
}

struct sync *sync_free(struct sync *sync)
{
	if (!sync)
		return NULL;
	sd_event_source_disable_unref(sync->process);
	sd_event_source_disable_unref(sync->patience);
	free(sync);
	return NULL;
}
