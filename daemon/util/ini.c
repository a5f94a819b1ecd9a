/* SPDX-License-Identifier: MIT */
/*
 * Ini files through iniparser, with an own scan for what it does not tell.
 */
#include "util/ini.h"

#include <ctype.h>
#include <fcntl.h>
#include <iniparser/iniparser.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "util/kernfs.h"

static void dictionary_freep(dictionary **d)
{
	if (*d)
		iniparser_freedict(*d);
}

static void free_entries(struct ini_entry *entries, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(entries[i].section);
		free(entries[i].key);
		free(entries[i].value);
	}
	free(entries);
}

struct ini *ini_free(struct ini *ini)
{
	if (!ini)
		return NULL;
	free_entries(ini->entries, ini->n_entries);
	free_entries(ini->sections, ini->n_sections);
	free(ini->path);
	free(ini);
	return NULL;
}

/* @length bytes of @text without blanks at the ends, in lower case. */
static char *fold(const char *text, size_t length)
{
	char *copy;

	while (length > 0 && isspace((unsigned char)text[length - 1]))
		length--;
	while (length > 0 && isspace((unsigned char)*text)) {
		text++;
		length--;
	}
	copy = strndup(text, length);
	for (char *p = copy; p && *p; p++)
		*p = (char)tolower((unsigned char)*p);
	return copy;
}

static struct ini_entry *find(struct ini_entry *entries, size_t n, const char *section,
			      const char *key)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(entries[i].section, section) == 0 &&
		    (!key || strcmp(entries[i].key, key) == 0))
			return &entries[i];
	return NULL;
}

/* Takes @section and @key over, also when it fails. */
static int append(struct ini_entry **entries, size_t *n, char *section, char *key,
		  unsigned int line)
{
	struct ini_entry *larger = NULL;

	if (section)
		larger = reallocarray(*entries, *n + 1, sizeof(**entries));
	if (!larger) {
		free(section);
		free(key);
		return -ENOMEM;
	}
	*entries = larger;
	larger[(*n)++] = (struct ini_entry){ .section = section, .key = key, .line = line };
	return 0;
}

static int scan_section(struct ini *ini, const char *line, size_t length, unsigned int number,
			struct fail *f)
{
	const char *end = memchr(line, ']', length);
	char *name;

	if (!end)
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
				"%s:%u: a section looks like [name], the ']' is missing", ini->path,
				number);
	name = fold(line + 1, (size_t)(end - line) - 1);
	if (!name)
		return fail_oom(f);
	if (*name == '\0' || strchr(name, ':')) {
		free(name);
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
				"%s:%u: the name of a section is neither empty nor holds a ':'",
				ini->path, number);
	}
	if (append(&ini->sections, &ini->n_sections, name, NULL, number) < 0)
		return fail_oom(f);
	return 0;
}

static int scan_key(struct ini *ini, const char *line, size_t length, unsigned int number,
		    struct fail *f)
{
	const char *equals = memchr(line, '=', length);
	_cleanup_free_ char *key = NULL;
	struct ini_entry *twin;
	const char *section;

	if (!equals)
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
				"%s:%u: neither 'key = value' nor '[section]': %.*s", ini->path,
				number, (int)MIN_OF(length, (size_t)60), line);
	if (ini->n_sections == 0)
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
				"%s:%u: a key before the first [section]", ini->path, number);
	key = fold(line, (size_t)(equals - line));
	if (!key)
		return fail_oom(f);
	if (*key == '\0' || strchr(key, ':'))
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
				"%s:%u: the name of a key is neither empty nor holds a ':'",
				ini->path, number);
	section = ini->sections[ini->n_sections - 1].section;
	twin = find(ini->entries, ini->n_entries, section, key);
	if (twin)
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
				"%s:%u: '%s' in [%s] is given twice, first in line %u", ini->path,
				number, key, section, twin->line);
	if (append(&ini->entries, &ini->n_entries, strdup(section), TAKE_PTR(key), number) < 0)
		return fail_oom(f);
	return 0;
}

/* One line, or one part of a continued line: only the first part names something. */
static int scan_line(struct ini *ini, const char *line, size_t length, unsigned int number,
		     struct fail *f)
{
	while (length > 0 && isspace((unsigned char)*line)) {
		line++;
		length--;
	}
	while (length > 0 && isspace((unsigned char)line[length - 1]))
		length--;
	if (length == 0 || *line == '#' || *line == ';')
		return 0;
	if (*line == '[')
		return scan_section(ini, line, length, number, f);
	return scan_key(ini, line, length, number, f);
}

static int scan(struct ini *ini, const char *text, size_t size, struct fail *f)
{
	unsigned int number = 1;
	bool continued = false;

	for (size_t begin = 0; begin < size; number++) {
		const char *newline = memchr(text + begin, '\n', size - begin);
		size_t length = newline ? (size_t)(newline - text) - begin : size - begin;
		int r;

		if (length > INI_LINE_MAX)
			return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
					"%s:%u: the line is longer than %d bytes", ini->path,
					number, INI_LINE_MAX);
		if (memchr(text + begin, '\0', length))
			return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
					"%s:%u: the line holds a NUL byte", ini->path, number);
		if (!continued) {
			r = scan_line(ini, text + begin, length, number, f);
			if (r < 0)
				return r;
		}
		continued = length > 0 && text[begin + length - 1] == '\\';
		begin += length + 1;
	}
	return 0;
}

/* iniparser tells of syntax errors only through a callback that is like printf. */
static char parser_said[512];

_printf_(1, 2) static int note_parser_error(const char *format, ...)
{
	size_t used = strlen(parser_said);
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(parser_said + used, sizeof(parser_said) - used, format, ap);
	va_end(ap);
	for (char *p = parser_said; *p; p++)
		if (*p == '\n')
			*p = ' ';
	return n;
}

/* iniparser only opens files by name: it gets the bytes that were scanned, in a memory file. */
static int load_dictionary(const struct ini *ini, const char *text, size_t size, dictionary **ret,
			   struct fail *f)
{
	_cleanup_fd_ int fd = memfd_create("ini", MFD_CLOEXEC);
	char name[64];

	if (fd < 0)
		return fail_errno(f, errno, "%s: cannot be handed to the parser", ini->path);
	while (size > 0) {
		ssize_t n = write(fd, text, size);

		if (n < 0)
			return fail_errno(f, errno, "%s: cannot be handed to the parser",
					  ini->path);
		text += n;
		size -= (size_t)n;
	}
	parser_said[0] = '\0';
	(void)snprintf(name, sizeof(name), KERNFS_PROC "/self/fd/%d", fd);
	iniparser_set_error_callback(note_parser_error);
	*ret = iniparser_load(name);
	iniparser_set_error_callback(NULL);
	if (!*ret)
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT, "%s: cannot be parsed: %s",
				ini->path, parser_said);
	return 0;
}

static int take_values(struct ini *ini, const dictionary *d, struct fail *f)
{
	for (size_t i = 0; i < ini->n_entries; i++) {
		struct ini_entry *e = &ini->entries[i];
		_cleanup_free_ char *name = NULL;
		const char *value;

		if (asprintf(&name, "%s:%s", e->section, e->key) < 0) {
			name = NULL;
			return fail_oom(f);
		}
		value = iniparser_getstring(d, name, NULL);
		if (!value)
			return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
					"%s:%u: '%s' cannot be read; write it as key = value",
					ini->path, e->line, e->key);
		e->value = strdup(value);
		if (!e->value)
			return fail_oom(f);
	}
	return 0;
}

int ini_parse(const char *path, const char *text, size_t size, struct ini **ret, struct fail *f)
{
	_cleanup_(ini_freep) struct ini *ini = calloc(1, sizeof(*ini));
	_cleanup_(dictionary_freep) dictionary *d = NULL;
	int r;

	if (!ini || !(ini->path = strdup(path)))
		return fail_oom(f);
	r = scan(ini, text, size, f);
	if (r < 0)
		return r;
	r = load_dictionary(ini, text, size, &d, f);
	if (r < 0)
		return r;
	r = take_values(ini, d, f);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(ini);
	return 0;
}

int ini_load(const char *path, struct ini **ret, struct fail *f)
{
	_cleanup_free_ char *text = NULL;
	/* Not to wait for the writer of a pipe that was named by mistake. */
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;
	size_t used = 0;

	if (fd < 0)
		return fail_errno(f, errno, "cannot read %s", path);
	if (fstat(fd, &st) < 0)
		return fail_errno(f, errno, "cannot read %s", path);
	if (!S_ISREG(st.st_mode) || st.st_size > INI_FILE_MAX)
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
				"%s is not a regular file of at most %d bytes", path, INI_FILE_MAX);
	text = malloc((size_t)st.st_size + 1);
	if (!text)
		return fail_oom(f);
	while (used < (size_t)st.st_size) {
		ssize_t n = read(fd, text + used, (size_t)st.st_size - used);

		if (n < 0)
			return fail_errno(f, errno, "cannot read %s", path);
		if (n == 0)
			break;
		used += (size_t)n;
	}
	return ini_parse(path, text, used, ret, f);
}
