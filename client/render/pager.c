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

/* Quits by itself when all fits on one screen, does not wrap lines, leaves the text there. */
static int spawn_less(int fd)
{
	char name[] = "less", options[] = "-FRSX";
	char *argv[] = { name, options, NULL };
	posix_spawn_file_actions_t actions;
	int r;

	if (posix_spawn_file_actions_init(&actions) != 0)
		return -1;
	r = posix_spawn_file_actions_adddup2(&actions, fd, STDIN_FILENO);
	if (r == 0)
		r = posix_spawnp(&pager, name, &actions, NULL, argv, environ);
	(void)posix_spawn_file_actions_destroy(&actions);
	return r == 0 ? 0 : -1;
}

void pager_open(bool wanted)
{
	int fds[2];

	const char *terminal = getenv("TERM");

	/* A terminal that knows no more than to print is no place for a pager. */
	if (!terminal || strcmp(terminal, "dumb") == 0)
		return;
	if (!wanted || pager > 0 || !isatty(STDOUT_FILENO) || pipe2(fds, O_CLOEXEC) < 0)
		return;
	(void)fflush(stdout);
	if (spawn_less(fds[0]) < 0)
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
