/* SPDX-License-Identifier: MIT */
/*
 * Quoting for a shell, and which daemon is meant.
 */
#include "command.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "util/macro.h"

char *command_quote(const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "/._-+,:@%";
	bool quote = *text == '\0' || text[strspn(text, plain)] != '\0';
	_cleanup_free_ char *quoted = malloc(strlen(text) * strlen("'\\''") + sizeof("''"));
	char *end = quoted;

	if (!quoted)
		return NULL;
	if (quote)
		*end++ = '\'';
	for (; *text != '\0'; text++) {
		if (*text == '\'')
			end = stpcpy(end, "'\\''");
		else
			*end++ = *text;
	}
	if (quote)
		*end++ = '\'';
	*end = '\0';
	return TAKE_PTR(quoted);
}

char *command_quote_archive(const char *file)
{
	_cleanup_free_ char *path = NULL;

	if (*file != '-' && file[strcspn(file, ":/")] != ':')
		return command_quote(file);
	if (asprintf(&path, "./%s", file) < 0) {
		path = NULL;
		return NULL;
	}
	return command_quote(path);
}

char *command_in_sentence(const char *sentence, const char *command)
{
	static const char mark[] = "'schedlabctl ";
	_cleanup_free_ char *text = NULL;
	const char *at;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (; (at = strstr(sentence, mark)); sentence = at + strlen(mark))
		(void)fprintf(out, "%.*s'%s ", (int)(at - sentence), sentence,
			      at[strlen(mark)] == '-' ? "schedlabctl" : command);
	(void)fputs(sentence, out);
	if (fclose(out) != 0)
		return NULL;
	return TAKE_PTR(text);
}
