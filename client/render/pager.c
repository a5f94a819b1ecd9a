/* SPDX-License-Identifier: MIT */
/*
 * Standard output through less.
 */
#include "render/pager.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t pager;

/* The user's pager by a shell, as it may have options; else less, which quits by itself when all
 * fits on one screen, and leaves the text there. Without either the text must not be lost. */
static int spawn_pager(const char *users, int fd)
{
	char shell[] = "sh", minus_c[] = "-c";
	char less[] = "command -v less >/dev/null 2>&1 && exec less -FRX; exec cat";
	char *own = NULL;
	char *argv[] = { shell, minus_c, less, NULL };
	posix_spawn_file_actions_t actions;
	int r;

	if (users && asprintf(&own, "%s; [ $? -ne 127 ] || exec cat", users) < 0)
		return -1;
	if (own)
		argv[2] = own;
	if (posix_spawn_file_actions_init(&actions) != 0) {
		free(own);
		return -1;
	}
	r = posix_spawn_file_actions_adddup2(&actions, fd, STDIN_FILENO);
	if (r == 0)
		r = posix_spawnp(&pager, shell, &actions, NULL, argv, environ);
	(void)posix_spawn_file_actions_destroy(&actions);
	free(own);
	return r == 0 ? 0 : -1;
}

void pager_open(bool wanted)
{
	const char *terminal = getenv("TERM"), *users = getenv("PAGER");
	int fds[2];

	/* A terminal that knows no more than to print is no place for a pager. */
	if (!terminal || strcmp(terminal, "dumb") == 0)
		return;
	if (users && (*users == '\0' || strcmp(users, "cat") == 0))
		return;
	if (!wanted || pager > 0 || !isatty(STDOUT_FILENO) || pipe2(fds, O_CLOEXEC) < 0)
		return;
	(void)fflush(stdout);
	if (spawn_pager(users, fds[0]) < 0)
		pager = 0;
	else
		(void)dup2(fds[1], STDOUT_FILENO);
	(void)close(fds[0]);
	(void)close(fds[1]);
}

void pager_close(void)
{
	if (pager <= 0)
		return;
	(void)fflush(stdout);
	(void)close(STDOUT_FILENO);
	(void)waitpid(pager, NULL, 0);
	pager = 0;
}
