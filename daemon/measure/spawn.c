/* SPDX-License-Identifier: MIT */
/*
 * posix_spawn of a worker.
 */
#include "measure/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define WORKER_FD 3 /* where the worker finds its end of the socket pair */

/* Signals as at a program's start, and a process group that can be killed as one. */
static int set_attributes(posix_spawnattr_t *attributes)
{
	sigset_t none, all;
	int r;

	(void)sigemptyset(&none);
	(void)sigfillset(&all);
	r = posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
							 POSIX_SPAWN_SETSIGDEF);
	if (r == 0)
		r = posix_spawnattr_setpgroup(attributes, 0);
	if (r == 0)
		r = posix_spawnattr_setsigmask(attributes, &none);
	if (r == 0)
		r = posix_spawnattr_setsigdefault(attributes, &all);
	return -r;
}

static int set_files(posix_spawn_file_actions_t *actions, int fd)
{
	int r = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);

	if (r == 0)
		r = posix_spawn_file_actions_addopen(actions, STDOUT_FILENO, "/dev/null", O_WRONLY,
						     0);
	if (r == 0)
		r = posix_spawn_file_actions_adddup2(actions, fd, WORKER_FD);
	return -r;
}

static int spawn(const char *program, int fd, pid_t *ret)
{
	char fd_text[16], parent_text[16], name[] = "schedlab-worker";
	char fd_option[] = "--fd", parent_option[] = "--parent";
	char path[] = "PATH=/usr/local/bin:/usr/bin:/bin";
	char *argv[] = { name, fd_option, fd_text, parent_option, parent_text, NULL };
	char *environment[] = { path, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int r;

	(void)snprintf(fd_text, sizeof(fd_text), "%d", WORKER_FD);
	(void)snprintf(parent_text, sizeof(parent_text), "%d", (int)getpid());
	if (posix_spawnattr_init(&attributes) != 0)
		return -ENOMEM;
	if (posix_spawn_file_actions_init(&actions) != 0) {
		(void)posix_spawnattr_destroy(&attributes);
		return -ENOMEM;
	}
	r = set_attributes(&attributes);
	if (r == 0)
		r = set_files(&actions, fd);
	if (r == 0)
		r = -posix_spawn(ret, program, &actions, &attributes, argv, environment);
	(void)posix_spawn_file_actions_destroy(&actions);
	(void)posix_spawnattr_destroy(&attributes);
	return r;
}

int worker_spawn(const char *program, struct worker *ret, struct fail *f)
{
	_cleanup_fd_ int ours = -1, theirs = -1;
	struct worker w = WORKER_NONE;
	int fds[2], r;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return fail_errno(f, errno, "cannot make a socket pair for the worker");
	ours = fds[0];
	theirs = fds[1];
	if (fcntl(ours, F_SETFL, O_NONBLOCK) < 0)
		return fail_errno(f, errno, "cannot make a socket pair for the worker");
	r = spawn(program, theirs, &w.pid);
	if (r < 0)
		return fail_errno(f, r, "cannot start the worker %s", program);
	w.pidfd = (int)syscall(SYS_pidfd_open, w.pid, 0);
	if (w.pidfd < 0) {
		r = fail_errno(f, errno, "cannot watch the worker");
		worker_kill(&w);
		(void)waitpid(w.pid, NULL, 0);
		return r;
	}
	(void)fcntl(w.pidfd, F_SETFD, FD_CLOEXEC);
	w.fd = TAKE_FD(ours);
	*ret = w;
	return 0;
}

void worker_kill(const struct worker *w)
{
	/* The group is its own from the first instruction on; the process itself for good measure. */
	if (w->pid > 0 && kill(-w->pid, SIGKILL) < 0)
		(void)kill(w->pid, SIGKILL);
}

void worker_close(struct worker *w)
{
	(void)fd_close(w->fd);
	(void)fd_close(w->pidfd);
	*w = WORKER_NONE;
}
