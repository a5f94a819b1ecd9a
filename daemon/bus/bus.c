/* SPDX-License-Identifier: MIT */
/*
 * All objects on the bus, and what their files share.
 */
#include "bus/bus.h"

#include <errno.h>
#include <schedlab/names.h>
#include <stdio.h>

#include "bus/internal.h"

int bus_register_errors(void)
{
	static sd_bus_error_map map[SCHEDLAB_ERROR_MAX + 1];
	static bool registered;
	int r;

	if (registered)
		return 0;
	for (int i = 0; i < SCHEDLAB_ERROR_MAX; i++)
		map[i] = (sd_bus_error_map){ schedlab_error_name((enum schedlab_error)i),
					     schedlab_error_errno((enum schedlab_error)i) };
	map[SCHEDLAB_ERROR_MAX] = (sd_bus_error_map)SD_BUS_ERROR_MAP_END;
	r = sd_bus_error_add_map(map);
	registered = r >= 0;
	return r;
}

int bus_fail(sd_bus_error *error, const struct fail *f)
{
	return sd_bus_error_set(error, schedlab_error_name(f->code),
				f->message[0] ? f->message
					      : "the daemon failed and cannot say why");
}

char *bus_path(const char *prefix, const char *id)
{
	char *path = NULL;

	return sd_bus_path_encode(prefix, id, &path) < 0 ? NULL : path;
}

int bus_reply_json(sd_bus_message *call, json_t *root, sd_bus_error *error)
{
	_cleanup_free_ char *text = root ? json_dumps(root, JSON_COMPACT) : NULL;

	json_decref(root);
	if (!text)
		return sd_bus_error_set_errno(error, ENOMEM);
	return sd_bus_reply_method_return(call, "s", text);
}

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
	return r;
}
