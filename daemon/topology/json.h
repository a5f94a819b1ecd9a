/* SPDX-License-Identifier: MIT */
/*
 * The topology as JSON, schema "schedlab.topology/1".
 */
#pragma once

#include <jansson.h>

#include "topology/class.h"
#include "topology/fingerprint.h"
#include "topology/llc.h"

/*
 * {"schema", "source", "hypervisor" (null on bare metal), "caches_claimed", "summary": {...},
 *  "cpus": [{"cpu", "node", "kind", "frequency_domain", <level>: number of its object,
 *            "usable", "why_not"}],
 *  "cpu_lists": {"online", "offline", "allowed", "isolated", "nohz_full", "measured"},
 *  "caches": [{"level", "bytes", "cpus"}], "nodes": [{"node", "cpus"}], "distances",
 *  "kinds": [{"name", "capacity", "cpus"}], "frequency_domains": count or {"why_not"},
 *  "classes": [class_to_json()], "scheduler_llc", "fingerprint", "notes"}
 *
 * A new reference; NULL without memory.
 */
json_t *topology_to_json(const struct topology *t, const struct class_table *classes,
			 const struct fingerprint *fp, const struct llc_view *llc);

/* {"id", "shares": [...], "kinds", "n_pairs", "representatives": [[waker, wakee]], "claimed"} */
json_t *class_to_json(const struct topology *t, const struct class_table *table,
		      const struct pair_class *c);

/* Names of what all pairs of @c share, in the order of enum level, then "frequency": calls @each. */
void class_each_shared(const struct pair_class *c, void (*each)(const char *name, void *userdata),
		       void *userdata);
