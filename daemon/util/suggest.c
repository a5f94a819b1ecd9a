/* SPDX-License-Identifier: MIT */
/*
 * Near misses by optimal string alignment distance.
 */
#include "util/suggest.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#include "util/macro.h"

#define NAME_MAX_LENGTH 64 /* longer names are never suggested */

static size_t min3(size_t a, size_t b, size_t c)
{
	return MIN_OF(MIN_OF(a, b), c);
}

/* Insertions, deletions, substitutions and swaps of neighbours that turn @a into @b. */
static size_t distance(const char *a, const char *b)
{
	size_t rows[3][NAME_MAX_LENGTH + 1];
	size_t la = strlen(a), lb = strlen(b);

	if (la > NAME_MAX_LENGTH || lb > NAME_MAX_LENGTH)
		return SIZE_MAX;
	for (size_t j = 0; j <= lb; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= la; i++) {
		size_t *now = rows[i % 3], *before = rows[(i + 2) % 3], *older = rows[(i + 1) % 3];

		now[0] = i;
		for (size_t j = 1; j <= lb; j++) {
			int ca = tolower((unsigned char)a[i - 1]);
			int cb = tolower((unsigned char)b[j - 1]);

			now[j] = min3(before[j] + 1, now[j - 1] + 1, before[j - 1] + (ca != cb));
			if (i > 1 && j > 1 && ca == tolower((unsigned char)b[j - 2]) &&
			    cb == tolower((unsigned char)a[i - 2]))
				now[j] = MIN_OF(now[j], older[j - 2] + 1);
		}
	}
	return rows[la % 3][lb];
}

const char *suggest_name(const char *typed, const char *const *names, size_t n)
{
	size_t best = MAX_OF(strlen(typed) / 3, (size_t)1) + 1;
	const char *name = NULL;

	for (size_t i = 0; i < n; i++) {
		size_t d = distance(typed, names[i]);

		/* A distance as long as the name shares nothing with it. */
		if (d < best && d < strlen(names[i])) {
			best = d;
			name = names[i];
		}
	}
	return name;
}

char *suggest_sentence(const char *typed, const char *const *names, size_t n)
{
	const char *near = suggest_name(typed, names, n);
	_cleanup_free_ char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	if (near)
		fprintf(out, "; did you mean '%s'?", near);
	fprintf(out, "%s %s: ", near ? " There" : "; there", n == 1 ? "is" : "are");
	for (size_t i = 0; i < n; i++)
		fprintf(out, "%s%s", i ? ", " : "", names[i]);
	if (fclose(out) != 0)
		return NULL;
	return TAKE_PTR(text);
}
