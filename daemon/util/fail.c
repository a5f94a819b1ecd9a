/* SPDX-License-Identifier: MIT */
/*
 * Sentences for failures, and the table of named errors.
 */
#include "util/fail.h"

#include <stdarg.h>
#include <string.h>

#include "util/utf8.h"

static const struct {
	const char *name;
	int error;
	int status;
	const char *advice;
} error_table[] = {
#define X(id, name, err, status, advice) \
	[SCHEDLAB_ERROR_##id] = { SCHEDLAB_ERROR_PREFIX name, err, status, advice },
	SCHEDLAB_ERROR_TABLE(X)
#undef X
};

static void fail_cut(char *message, int length)
{
	if (length >= FAIL_MESSAGE_MAX)
		memcpy(message + FAIL_MESSAGE_MAX - 4, "...", 4);
}

_printf_(3, 0) static void fail_fill(struct fail *f, enum schedlab_error code, const char *format,
				     va_list ap)
{
	f->code = code;
	fail_cut(f->message, vsnprintf(f->message, sizeof(f->message), format, ap));
	/* It may quote what came from a worker, a file or a user, or have been cut in a character. */
	utf8_clean(f->message);
}

int fail_set(struct fail *f, enum schedlab_error code, const char *format, ...)
{
	if (f) {
		va_list ap;

		va_start(ap, format);
		fail_fill(f, code, format, ap);
		va_end(ap);
	}
	return -schedlab_error_errno(code);
}

int fail_errno(struct fail *f, int error, const char *format, ...)
{
	error = abs(error);
	if (f) {
		va_list ap;
		size_t used;

		va_start(ap, format);
		fail_fill(f, SCHEDLAB_ERROR_FAILED, format, ap);
		va_end(ap);
		used = strlen(f->message);
		fail_cut(f->message,
			 (int)used + snprintf(f->message + used, sizeof(f->message) - used, ": %s",
					      strerror(error)));
	}
	return -error;
}

int fail_oom(struct fail *f)
{
	return fail_errno(f, ENOMEM, "out of memory");
}

int fail_prefix(struct fail *f, int r, const char *format, ...)
{
	if (f) {
		char rest[FAIL_MESSAGE_MAX];
		va_list ap;
		size_t used;

		memcpy(rest, f->message, sizeof(rest));
		va_start(ap, format);
		fail_fill(f, f->code, format, ap);
		va_end(ap);
		used = strlen(f->message);
		fail_cut(f->message, (int)used + snprintf(f->message + used,
							  sizeof(f->message) - used, "%s", rest));
	}
	return r;
}

const char *schedlab_error_name(enum schedlab_error code)
{
	return error_table[code].name;
}

int schedlab_error_errno(enum schedlab_error code)
{
	return error_table[code].error;
}

int schedlab_error_status(enum schedlab_error code)
{
	return error_table[code].status;
}

const char *schedlab_error_advice(enum schedlab_error code)
{
	return error_table[code].advice;
}

enum schedlab_error schedlab_error_from_name(const char *name)
{
	for (size_t i = 0; name && i < ELEMENTSOF(error_table); i++)
		if (strcmp(error_table[i].name, name) == 0)
			return (enum schedlab_error)i;
	return SCHEDLAB_ERROR_INVALID;
}
