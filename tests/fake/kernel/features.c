/* SPDX-License-Identifier: MIT */
/*
 * sched/features: one line out, one name in; and sched/debug, whose mask tells the same to readers.
 *
 * As sched_feat_write() has it: of a write at most 63 bytes are taken, and that count is what is
 * returned; blanks at both ends do not matter; the name must fit exactly.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "kernel.h"

#define WRITE_MAX 63

/* In the order of their bits; those that are off begin with '-'. Debian's 6.1.192 and 6.12.95. */
static const char *const names_6_1[] = {
	"GENTLE_FAIR_SLEEPERS",
	"START_DEBIT",
	"-NEXT_BUDDY",
	"LAST_BUDDY",
	"CACHE_HOT_BUDDY",
	"WAKEUP_PREEMPTION",
	"-HRTICK",
	"-HRTICK_DL",
	"-DOUBLE_TICK",
	"NONTASK_CAPACITY",
	"TTWU_QUEUE",
	"-SIS_PROP",
	"SIS_UTIL",
	"-WARN_DOUBLE_CLOCK",
	"-RT_PUSH_IPI",
	"-RT_RUNTIME_SHARE",
	"-LB_MIN",
	"ATTACH_AGE_LOAD",
	"WA_IDLE",
	"WA_WEIGHT",
	"WA_BIAS",
	"UTIL_EST",
	"UTIL_EST_FASTUP",
	"-LATENCY_WARN",
	"NI_RANDOM",
	"ALT_PERIOD",
	"BASE_SLICE",
	NULL,
};
static const char *const names_6_12[] = {
	"PLACE_LAG",
	"PLACE_DEADLINE_INITIAL",
	"PLACE_REL_DEADLINE",
	"RUN_TO_PARITY",
	"PREEMPT_SHORT",
	"-NEXT_BUDDY",
	"PICK_BUDDY",
	"CACHE_HOT_BUDDY",
	"DELAY_DEQUEUE",
	"DELAY_ZERO",
	"WAKEUP_PREEMPTION",
	"-HRTICK",
	"-HRTICK_DL",
	"-DOUBLE_TICK",
	"NONTASK_CAPACITY",
	"TTWU_QUEUE",
	"SIS_UTIL",
	"-WARN_DOUBLE_CLOCK",
	"RT_PUSH_IPI",
	"-RT_RUNTIME_SHARE",
	"-LB_MIN",
	"ATTACH_AGE_LOAD",
	"WA_IDLE",
	"WA_WEIGHT",
	"WA_BIAS",
	"UTIL_EST",
	"-LATENCY_WARN",
	"NI_RANDOM",
	NULL,
};

struct features {
	const char *const *names;
	bool on[64];
	size_t n;
};

static const char *name_of(const struct features *f, size_t i)
{
	return f->names[i] + (*f->names[i] == '-');
}

static void read_features(struct kernel *k, const struct node *n, FILE *out)
{
	(void)n;
	for (size_t i = 0; i < k->features->n; i++)
		fprintf(out, "%s%s ", k->features->on[i] ? "" : "NO_", name_of(k->features, i));
	fputc('\n', out);
}

static int write_features(struct kernel *k, const struct node *n, const char *data, size_t size)
{
	char buffer[WRITE_MAX + 1] = "", *name = buffer;
	size_t taken = size > WRITE_MAX ? WRITE_MAX : size, length;
	bool on = true;

	(void)n;
	memcpy(buffer, data, taken);
	name += strspn(name, " \t\n\v\f\r");
	for (length = strlen(name); length > 0 && isspace((unsigned char)name[length - 1]);
	     length--)
		name[length - 1] = '\0';
	if (strncmp(name, "NO_", 3) == 0) {
		on = false;
		name += 3;
	}
	for (size_t i = 0; i < k->features->n; i++) {
		if (strcmp(name, name_of(k->features, i)) != 0)
			continue;
		k->features->on[i] = on;
		return (int)taken;
	}
	return -EINVAL;
}

static void read_debug(struct kernel *k, const struct node *n, FILE *out)
{
	uint64_t mask = 0;

	(void)n;
	for (size_t i = 0; i < k->features->n; i++)
		mask |= (uint64_t)k->features->on[i] << i;
	fprintf(out, "Sched Debug Version: v0.11, %s #1\n\nsysctl_sched\n",
		k->is_6_12 ? "6.12" : "6.1");
	knobs_print_debug(k, out);
	fprintf(out, "  .%-40s : %ju\n", "sysctl_sched_features", (uintmax_t)mask);
}

static const struct file_ops features_ops = { read_features, write_features };
static const struct file_ops debug_ops = { read_debug, NULL };

int features_add(struct kernel *k)
{
	struct features *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	f->names = k->is_6_12 ? names_6_12 : names_6_1;
	for (; f->names[f->n]; f->n++)
		f->on[f->n] = *f->names[f->n] != '-';
	k->features = f;
	tree_add(k->root, "/sys/kernel/debug", S_IFDIR | 0700, NULL, NO_CPU, 0);
	tree_add(k->root,
		 k->old_path ? "/sys/kernel/debug/sched_features"
			     : "/sys/kernel/debug/sched/features",
		 S_IFREG | 0644, &features_ops, NO_CPU, 0);
	tree_add(k->root, k->old_path ? "/proc/sched_debug" : "/sys/kernel/debug/sched/debug",
		 S_IFREG | 0444, &debug_ops, NO_CPU, 0);
	return 0;
}
