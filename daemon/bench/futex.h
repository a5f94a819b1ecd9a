/* SPDX-License-Identifier: MIT */
/*
 * futex(2), which the C library does not wrap. Shared ones: tasks may be processes.
 */
#pragma once

#include <linux/futex.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Sleeps while *@word is @value, for @timeout at most (NULL: for ever). */
static inline long futex_wait(atomic_uint *word, unsigned int value, const struct timespec *timeout)
{
	return syscall(SYS_futex, word, FUTEX_WAIT, value, timeout, NULL, 0);
}

static inline long futex_wake(atomic_uint *word, int n)
{
	return syscall(SYS_futex, word, FUTEX_WAKE, n, NULL, NULL, 0);
}
