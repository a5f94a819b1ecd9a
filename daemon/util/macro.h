/* SPDX-License-Identifier: MIT */
/*
 * The few words that C lacks: cleanup attributes, ownership handed on, sizes of arrays.
 */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define _cleanup_(f)       __attribute__((cleanup(f)))
#define _printf_(fmt, var) __attribute__((format(printf, fmt, var)))

#define ELEMENTSOF(a) (sizeof(a) / sizeof((a)[0]))

#define MIN_OF(a, b) ((a) < (b) ? (a) : (b))
#define MAX_OF(a, b) ((a) > (b) ? (a) : (b))

/* Gives the pointer away: the variable is NULL afterwards, so that its cleanup does nothing. */
#define TAKE_PTR(p)                            \
	({                                     \
		__typeof__(p) *_slot = &(p);   \
		__typeof__(p) _taken = *_slot; \
		*_slot = NULL;                 \
		_taken;                        \
	})

/* The same for a file descriptor, which becomes -1. */
#define TAKE_FD(fd)                  \
	({                           \
		int *_slot = &(fd);  \
		int _taken = *_slot; \
		*_slot = -1;         \
		_taken;              \
	})

/* For destructors that take a pointer and return NULL: DEFINE_CLEANUP(struct x *, x_free). */
#define DEFINE_CLEANUP(type, func)          \
	static inline void func##p(type *p) \
	{                                   \
		if (*p)                     \
			*p = func(*p);      \
	}

static inline void freep(void *p)
{
	free(*(void **)p);
}

static inline void fclosep(FILE **f)
{
	if (*f)
		(void)fclose(*f);
}

static inline int fd_close(int fd)
{
	if (fd >= 0)
		(void)close(fd);
	return -1;
}

static inline void fd_closep(int *fd)
{
	*fd = fd_close(*fd);
}

#define _cleanup_free_ _cleanup_(freep)
#define _cleanup_fd_   _cleanup_(fd_closep)
#define _cleanup_file_ _cleanup_(fclosep)
