/* SPDX-License-Identifier: MIT */
/*
 * Numbers as the kernel's kstrto*() take them: one sign for the signed ones, a prefix by the base, and
 * one newline at the end; no blanks. -EINVAL for other text, -ERANGE beyond the type.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernel.h"

int parse_unsigned(const char *text, int base, uint64_t max, uint64_t *ret)
{
	char *end;
	uint64_t value;

	if (*text == '+')
		text++;
	if (!isxdigit((unsigned char)*text))
		return -EINVAL;
	errno = 0;
	value = strtoull(text, &end, base);
	if (end == text || (*end == '\n' ? end[1] : *end) != '\0')
		return -EINVAL;
	if (errno == ERANGE || value > max)
		return -ERANGE;
	*ret = value;
	return 0;
}

int parse_signed(const char *text, int base, int64_t min, int64_t max, int64_t *ret)
{
	bool negative = *text == '-';
	uint64_t value;
	int r = parse_unsigned(text + negative, base, INT64_MAX, &value);

	if (r < 0)
		return r;
	*ret = negative ? -(int64_t)value : (int64_t)value;
	return *ret < min || *ret > max ? -ERANGE : 0;
}

/* kstrtobool(): the first letter, of "on" and "off" the second, tells. */
int parse_bool(const char *text, bool *ret)
{
	switch (*text) {
	case 'y':
	case 'Y':
	case '1':
		*ret = true;
		return 0;
	case 'n':
	case 'N':
	case '0':
		*ret = false;
		return 0;
	case 'o':
	case 'O':
		if (tolower((unsigned char)text[1]) != 'n' &&
		    tolower((unsigned char)text[1]) != 'f')
			return -EINVAL;
		*ret = tolower((unsigned char)text[1]) == 'n';
		return 0;
	default:
		return -EINVAL;
	}
}
