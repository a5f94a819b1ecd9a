/* SPDX-License-Identifier: MIT */
/*
 * Cleaning texts.
 */
#include "util/utf8.h"

#include <stddef.h>
#include <stdint.h>

/* Bytes of the valid sequence that begins at @p, by its first byte; 0: none begins with it. */
static size_t expected(uint8_t first)
{
	return first < 0x80   ? 1
	       : first < 0xc2 ? 0
	       : first < 0xe0 ? 2
	       : first < 0xf0 ? 3
	       : first < 0xf5 ? 4
			      : 0;
}

/* Bytes of the character at @p; 0 where it is none. */
static size_t length(const uint8_t *p)
{
	size_t n = expected(p[0]);

	for (size_t i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	/* Overlong forms, surrogates, and what is beyond U+10FFFF. */
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] >= 0xa0) ||
	    (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] >= 0x90))
		return 0;
	return n;
}

static int is_control(const uint8_t *p)
{
	return p[0] < 0x20 || p[0] == 0x7f || (p[0] == 0xc2 && p[1] < 0xa0);
}

void utf8_clean(char *text)
{
	uint8_t *p = (uint8_t *)text;

	while (*p != '\0') {
		size_t n = length(p);

		if (n > 0 && !is_control(p)) {
			p += n;
			continue;
		}
		/* A control of two bytes goes as a whole. */
		for (size_t i = 0; i < (n > 0 ? n : 1); i++)
			*p++ = '?';
	}
}
