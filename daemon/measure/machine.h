/* SPDX-License-Identifier: MIT */
/*
 * The machine that a result is of, and how the tasks that measured it were scheduled.
 */
#pragma once

#include <jansson.h>

#include "topology/fingerprint.h"
#include "topology/topology.h"

/* What every sample's tasks inherit from this process. */
struct scheduling {
	const char *policy; /* "other", "batch", ...; NULL: unknown */
	int nice;
};

struct scheduling scheduling_now(void);

/* {"fingerprint", "cpu_model", "kernel", "hypervisor", "topology", "policy", "nice"}; what is not
 * known is null. A new reference. */
json_t *machine_to_json(const struct topology *t, const struct fingerprint *fp,
			const struct scheduling *s);
