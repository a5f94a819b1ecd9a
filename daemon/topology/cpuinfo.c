/* SPDX-License-Identifier: MIT */
/*
 * Which processor it is, in the words of each architecture.
 */
#include "topology/cpuinfo.h"

#include <ctype.h>
#include <string.h>

#define CPUINFO_HEAD 16384 /* bytes; an x86 block with all its flags is 3 KB */

char *cpuinfo_value(const char *cpuinfo, const char *key)
{
	size_t length = strlen(key);

	for (const char *line = cpuinfo; line && *line; line = strchr(line, '\n'), line += !!line) {
		const char *p = line + length, *end;

		if (strncmp(line, key, length) != 0)
			continue;
		p += strspn(p, " \t");
		if (*p != ':')
			continue;
		p++;
		p += strspn(p, " \t");
		end = p + strcspn(p, "\n");
		while (end > p && isspace((unsigned char)end[-1]))
			end--;
		return strndup(p, (size_t)(end - p));
	}
	return NULL;
}

int cpuinfo_read(const struct kernfs *k, char **ret, struct fail *f)
{
	return kernfs_read_head(k, KERNFS_PROC "/cpuinfo", CPUINFO_HEAD, ret, f);
}

/* x86 and arm32, POWER, s390, RISC-V, sparc. */
char *cpuinfo_model(const char *cpuinfo)
{
	static const char *const keys[] = { "model name", "cpu", "vendor_id", "uarch", "isa" };

	for (size_t i = 0; i < ELEMENTSOF(keys); i++) {
		char *value = cpuinfo_value(cpuinfo, keys[i]);

		if (value && *value)
			return value;
		free(value);
	}
	return NULL;
}

char *cpuinfo_identity(const char *cpuinfo)
{
	static const struct {
		const char *key, *word;
	} keys[] = {
		{ "vendor_id", "" },
		{ "cpu family", "family " },
		{ "model", "model " },
		{ "stepping", "stepping " },
		{ "CPU implementer", "implementer " },
		{ "CPU part", "part " },
		{ "CPU variant", "variant " },
		{ "CPU revision", "revision " },
		{ "revision", "revision " },
		{ "machine", "machine " },
		{ "mvendorid", "vendor " },
		{ "marchid", "architecture " },
		{ "mimpid", "implementation " },
	};
	_cleanup_free_ char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	bool any = false;

	if (!out)
		return NULL;
	for (size_t i = 0; i < ELEMENTSOF(keys); i++) {
		_cleanup_free_ char *value = cpuinfo_value(cpuinfo, keys[i].key);

		if (!value || !*value)
			continue;
		fprintf(out, "%s%s%s", any ? " " : "", keys[i].word, value);
		any = true;
	}
	if (fclose(out) != 0 || !any)
		return NULL;
	return TAKE_PTR(text);
}

bool cpuinfo_has_hypervisor(const char *cpuinfo)
{
	_cleanup_free_ char *flags = cpuinfo_value(cpuinfo, "flags");
	char *rest = flags;

	for (char *flag; (flag = strsep(&rest, " "));)
		if (strcmp(flag, "hypervisor") == 0)
			return true;
	return false;
}
