/* SPDX-License-Identifier: MIT */
/*
 * Faults: what goes wrong with which files, and how often.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "kernel.h"

struct fault {
	struct fault *next;
	enum fault_op op;
	char *pattern;
	int value; /* a negative errno; milliseconds of FAULT_BLOCK; 1 of FAULT_UNSTICK */
	int count; /* how often; below 0 without end */
};

int fault_add(struct kernel *k, enum fault_op op, const char *pattern, int value, int count)
{
	struct fault *f, **end = &k->faults;

	if (count == 0)
		return -EINVAL;
	f = calloc(1, sizeof(*f));
	if (!f || !(f->pattern = strdup(pattern))) {
		free(f);
		return -ENOMEM;
	}
	f->op = op;
	f->value = value;
	f->count = count;
	while (*end)
		end = &(*end)->next;
	*end = f;
	return 0;
}

void fault_clear(struct kernel *k)
{
	while (k->faults) {
		struct fault *f = k->faults;

		k->faults = f->next;
		free(f->pattern);
		free(f);
	}
}

int fault_take(struct kernel *k, enum fault_op op, const struct node *n, bool writes)
{
	char path[512];

	if (!k->faults || strcmp(n->name, ".control") == 0)
		return 0;
	tree_path(n, path, sizeof(path));
	for (struct fault *f = k->faults; f; f = f->next) {
		if (f->op != op || f->count == 0 || fnmatch(f->pattern, path, 0) != 0 ||
		    (f->value == -EROFS && !writes))
			continue;
		if (f->count > 0)
			f->count--;
		return f->value;
	}
	return 0;
}
