/* SPDX-License-Identifier: MIT */
/*
 * Log lines to standard error.
 */
#include "util/log.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "util/suggest.h"

static int max_level = LOG_NOTICE;

static const char *const level_names[] = { "err", "warning", "notice", "info", "debug" };

void log_set_level(int level)
{
	max_level = level;
}

int log_get_level(void)
{
	return max_level;
}

int log_parse_level(const char *text, int *ret, struct fail *f)
{
	_cleanup_free_ char *hint = NULL;

	for (size_t i = 0; i < ELEMENTSOF(level_names); i++) {
		if (strcmp(text, level_names[i]) == 0) {
			*ret = LOG_ERR + (int)i;
			return 0;
		}
	}
	hint = suggest_sentence(text, level_names, ELEMENTSOF(level_names));
	return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT, "there is no log level '%.40s'%s", text,
			hint ? hint : "");
}

void log_line(int level, const char *format, ...)
{
	char line[FAIL_MESSAGE_MAX + 256];
	int saved_errno = errno;
	va_list ap;

	if (level > max_level)
		return;
	va_start(ap, format);
	(void)vsnprintf(line, sizeof(line), format, ap);
	va_end(ap);
	if (getenv("JOURNAL_STREAM"))
		(void)fprintf(stderr, "<%d>%s\n", level, line);
	else
		(void)fprintf(stderr, "%s: %s\n", program_invocation_short_name, line);
	errno = saved_errno;
}
