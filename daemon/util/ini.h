/* SPDX-License-Identifier: MIT */
/*
 * Ini files: sections of "key = value", with the line that each came from.
 *
 * iniparser reads the content, so the syntax is its: '#' and ';' begin comments, values may be
 * quoted, a line that ends in a backslash goes on in the next one. Names of sections and keys are
 * folded to lower case; whatever must keep its case (a sched feature, a host) is a value, never a
 * key. An own scan of the lines finds what iniparser keeps silent about: a key given twice, a key
 * before any section, a line that is too long for it, and the number of each line.
 */
#pragma once

#include <stddef.h>

#include "util/fail.h"
#include "util/macro.h"

#define INI_FILE_MAX 1048576 /* bytes; a larger file is no configuration */
#define INI_LINE_MAX 1000    /* bytes; iniparser 4.1 gives up at 1024 */

struct ini_entry {
	char *section, *key, *value;
	unsigned int line;
};

struct ini {
	char *path;
	struct ini_entry *entries;
	size_t n_entries;
	/* Sections in the order of the file, empty ones too, with the line of their first header. */
	struct ini_entry *sections;
	size_t n_sections;
};

/* -ENOENT (and Failed) if there is no such file; else InvalidArgument with "file:line: ...". */
int ini_load(const char *path, struct ini **ret, struct fail *f);
/* The same for a text that is at hand; @path is only what errors call it. */
int ini_parse(const char *path, const char *text, size_t size, struct ini **ret, struct fail *f);
struct ini *ini_free(struct ini *ini);
DEFINE_CLEANUP(struct ini *, ini_free);
