/* SPDX-License-Identifier: MIT */
/*
 * Pipe, futex, eventfd and POSIX semaphore as ways to hand over a token.
 */
#include "bench/token.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/eventfd.h>

#include "bench/futex.h"

/* A channel that cannot be read or written any more means that the worker is about to be killed;
 * its task must not spin on. */
static void give_up(void)
{
	(void)pause();
}

static int pipe_open(struct token_channel *c, struct fail *f)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return fail_errno(f, errno, "cannot make a pipe");
	c->read_fd = fds[0];
	c->write_fd = fds[1];
	return 0;
}

static void pipe_wake(struct token_channel *c)
{
	if (write(c->write_fd, "x", 1) != 1)
		give_up();
}

static void pipe_wait(struct token_channel *c)
{
	char token;

	if (read(c->read_fd, &token, 1) != 1)
		give_up();
}

static void pipe_close(struct token_channel *c)
{
	c->read_fd = fd_close(c->read_fd);
	c->write_fd = fd_close(c->write_fd);
}

static int futex_open(struct token_channel *c, struct fail *f)
{
	(void)f;
	atomic_init(&c->word, 0);
	return 0;
}

static void futex_token_wake(struct token_channel *c)
{
	atomic_store_explicit(&c->word, 1, memory_order_release);
	(void)futex_wake(&c->word, 1);
}

static void futex_token_wait(struct token_channel *c)
{
	while (atomic_exchange_explicit(&c->word, 0, memory_order_acquire) == 0)
		(void)futex_wait(&c->word, 0, NULL);
}

static void nothing_to_close(struct token_channel *c)
{
	(void)c;
}

static int eventfd_open(struct token_channel *c, struct fail *f)
{
	c->read_fd = eventfd(0, EFD_CLOEXEC);
	c->write_fd = c->read_fd;
	if (c->read_fd < 0)
		return fail_errno(f, errno, "cannot make an eventfd");
	return 0;
}

static void eventfd_wake(struct token_channel *c)
{
	const uint64_t one = 1;

	if (write(c->write_fd, &one, sizeof(one)) != sizeof(one))
		give_up();
}

static void eventfd_wait(struct token_channel *c)
{
	uint64_t value;

	if (read(c->read_fd, &value, sizeof(value)) != sizeof(value))
		give_up();
}

static void eventfd_close(struct token_channel *c)
{
	c->read_fd = fd_close(c->read_fd);
	c->write_fd = -1;
}

static int sem_token_open(struct token_channel *c, struct fail *f)
{
	if (sem_init(&c->semaphore, 1, 0) < 0)
		return fail_errno(f, errno, "cannot make a semaphore");
	return 0;
}

static void sem_token_wake(struct token_channel *c)
{
	(void)sem_post(&c->semaphore);
}

static void sem_token_wait(struct token_channel *c)
{
	while (sem_wait(&c->semaphore) < 0 && errno == EINTR)
		;
}

static void sem_token_close(struct token_channel *c)
{
	(void)sem_destroy(&c->semaphore);
}

const struct token_kind token_pipe = { "pipe", pipe_open, pipe_wake, pipe_wait, pipe_close };
const struct token_kind token_futex = { "futex", futex_open, futex_token_wake, futex_token_wait,
					nothing_to_close };
const struct token_kind token_eventfd = { "eventfd", eventfd_open, eventfd_wake, eventfd_wait,
					  eventfd_close };
const struct token_kind token_sem = { "sem", sem_token_open, sem_token_wake, sem_token_wait,
				      sem_token_close };
