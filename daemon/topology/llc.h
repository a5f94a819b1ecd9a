/* SPDX-License-Identifier: MIT */
/*
 * The last-level cache as the scheduler sees it, beside the hardware's.
 *
 * Not the cache file but the span of the highest scheduling domain that shares the LLC decides
 * whether a wakeup is queued (ttwu_queue_cond) and how far an idle CPU is searched. Masks of the
 * domains are in /proc/schedstat; which of them share the LLC is said by their names (there since
 * version 17, Linux 6.15), or by their flags in debugfs or, before 5.13, in /proc/sys.
 */
#pragma once

#include <jansson.h>

#include "topology/topology.h"

#define LLC_DIFFERENCES_MAX 8 /* CPUs that are listed; the rest are only counted */

struct llc_difference {
	uint32_t cpu;
	char *scheduler, *hardware; /* CPU lists */
};

struct llc_view {
	char *why_not; /* why the scheduler's view is unknown; NULL where it is known */
	size_t n_compared, n_different; /* CPUs */
	struct llc_difference differences[LLC_DIFFERENCES_MAX];
};

/* Reads and compares; only memory makes it fail. Reads /proc/schedstat whole: not for every job. */
int llc_view_read(const struct kernfs *k, const struct topology *t, struct llc_view *ret,
		  struct fail *f);
void llc_view_clear(struct llc_view *v);

/* {"known", "why_not" or "agrees" and "differences": [{"cpu", "scheduler", "hardware"}]} */
json_t *llc_view_to_json(const struct llc_view *v);
