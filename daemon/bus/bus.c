/* SPDX-License-Identifier: MIT */
/*
 * All objects on the bus.
 */
#include "bus/bus.h"

#include <schedlab/names.h>

#include "bus/internal.h"

static const struct {
	const char *prefix, *interface;
	const sd_bus_vtable *vtable;
	sd_bus_object_find_t find;
	sd_bus_node_enumerator_t list;
} kinds[] = {
	{ SCHEDLAB_PATH_CLASS, SCHEDLAB_INTERFACE_CLASS, bus_class_vtable, bus_find_class,
	  bus_list_classes },
	{ SCHEDLAB_PATH_BENCHMARK, SCHEDLAB_INTERFACE_BENCHMARK, bus_benchmark_vtable,
	  bus_find_benchmark, bus_list_benchmarks },
	{ SCHEDLAB_PATH_JOB, SCHEDLAB_INTERFACE_JOB, bus_job_vtable, bus_find_job, bus_list_jobs },
};

int bus_attach(struct bus_context *context)
{
	struct job_observer observer = bus_job_observer(context);
	int r;

	r = bus_register_errors();
	if (r >= 0)
		r = sd_bus_add_object_manager(context->bus, NULL, SCHEDLAB_PATH);
	if (r >= 0)
		r = sd_bus_add_object_vtable(context->bus, NULL, SCHEDLAB_PATH,
					     SCHEDLAB_INTERFACE_MANAGER, bus_manager_vtable,
					     context);
	for (size_t i = 0; i < ELEMENTSOF(kinds) && r >= 0; i++) {
		r = sd_bus_add_fallback_vtable(context->bus, NULL, kinds[i].prefix,
					       kinds[i].interface, kinds[i].vtable, kinds[i].find,
					       context);
		if (r >= 0)
			r = sd_bus_add_node_enumerator(context->bus, NULL, kinds[i].prefix,
						       kinds[i].list, context);
	}
	if (r >= 0)
		job_queue_observe(context->queue, &observer);
	if (r >= 0)
		store_observe(context->store, bus_on_record, context);
	return r;
}
