/* SPDX-License-Identifier: MIT */
/*
 * A failure on its way to a person: which named error, and the sentence.
 *
 * Functions that can fail for a reason that a user should read take a `struct fail *` (NULL where
 * nobody reads it) and return a negative errno, so that callers still test `r < 0`. Whoever handles
 * the failure logs it or sends it on the bus, once.
 */
#pragma once

#include <schedlab/errors.h>

#include "util/macro.h"

#define FAIL_MESSAGE_MAX 2048 /* bytes; longer sentences are cut and end in "..." */

struct fail {
	enum schedlab_error code;
	char message[FAIL_MESSAGE_MAX];
};

/* Fills @f and returns the negative errno of @code. */
int fail_set(struct fail *f, enum schedlab_error code, const char *format, ...) _printf_(3, 4);

/* Fills @f as Failed, the sentence followed by ": " and what @error (an errno, of either sign)
 * means; returns the negative errno. */
int fail_errno(struct fail *f, int error, const char *format, ...) _printf_(3, 4);

/* Out of memory: the one failure that has no better words. Returns -ENOMEM. */
int fail_oom(struct fail *f);

/* Puts words before the sentence that @f holds. Returns @r, for `return fail_prefix(...)`. */
int fail_prefix(struct fail *f, int r, const char *format, ...) _printf_(3, 4);

/* The named error as it stands on the bus, its errno, the client's exit status, what to do. */
const char *schedlab_error_name(enum schedlab_error code);
int schedlab_error_errno(enum schedlab_error code);
int schedlab_error_status(enum schedlab_error code);
const char *schedlab_error_advice(enum schedlab_error code);

/* The other way, for a name read from the bus: SCHEDLAB_ERROR_INVALID if it is none of ours. */
enum schedlab_error schedlab_error_from_name(const char *name);
