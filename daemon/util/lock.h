/* SPDX-License-Identifier: MIT */
/*
 * A lock that is held by one process of the machine, with the holder named to the others.
 */
#pragma once

#include "util/fail.h"

/*
 * Takes the flock(2) on the file @path, which is made (0644) if it is missing and opened read-only
 * if it exists: another user's file in a sticky directory may not be opened for writing. The lock
 * lasts as long as *@ret_fd is open. Fails with Busy, naming the holder, where another has it;
 * @doing is what it does ("is measuring on this machine").
 */
int lock_take(const char *path, const char *doing, int *ret_fd, struct fail *f);

/* "schedlabd (process 12, user root)": who holds the lock on an open file, to @text; "" where nobody does,
 * or it is not told. */
void lock_holder(int fd, char *text, size_t size);

/* The same as lock_take() on a file that is open. */
int lock_fd(int fd, const char *doing, struct fail *f);
