/* SPDX-License-Identifier: MIT */
/*
 * What a result says of its machine.
 */
#include "measure/machine.h"

#include <sched.h>
#include <sys/resource.h>

#include "util/macro.h"

struct scheduling scheduling_now(void)
{
	static const struct {
		int policy;
		const char *name;
	} names[] = {
		{ SCHED_OTHER, "other" },
		{ SCHED_BATCH, "batch" },
		{ SCHED_IDLE, "idle" },
		{ SCHED_FIFO, "fifo" },
		{ SCHED_RR, "rr" },
		{ 6, "deadline" },
		{ 7, "ext" },
	};
	int policy = sched_getscheduler(0);
	struct scheduling s = { .nice = getpriority(PRIO_PROCESS, 0) };

	for (size_t i = 0; policy >= 0 && i < ELEMENTSOF(names); i++)
		if ((policy & ~SCHED_RESET_ON_FORK) == names[i].policy)
			s.policy = names[i].name;
	return s;
}

json_t *machine_to_json(const struct topology *t, const struct fingerprint *fp,
			const struct scheduling *s)
{
	const char *model = fingerprint_get(fp, "cpu_model"),
		   *kernel = fingerprint_get(fp, "kernel");

	return json_pack("{s:s, s:s?, s:s?, s:s?, s:s, s:s?, s:i}", "fingerprint", fp->id,
			 "cpu_model", model, "kernel", kernel, "hypervisor", t->hypervisor,
			 "topology", t->source_name, "policy", s->policy, "nice", s->nice);
}
