/* SPDX-License-Identifier: MIT */
/*
 * Interface PairClass.
 */
#include <errno.h>
#include <schedlab/names.h>

#include "bus/internal.h"
#include "topology/json.h"

int bus_find_class(sd_bus *bus, const char *path, const char *interface, void *userdata, void **ret,
		   sd_bus_error *error)
{
	const struct bus_context *context = userdata;
	_cleanup_free_ char *id = NULL;
	const struct pair_class *c;

	(void)bus;
	(void)interface;
	(void)error;
	if (sd_bus_path_decode(path, SCHEDLAB_PATH_CLASS, &id) <= 0 ||
	    class_table_find(context->classes, id, &c, NULL) < 0)
		return 0;
	*ret = userdata;
	return 1;
}

int bus_list_classes(sd_bus *bus, const char *prefix, void *userdata, char ***ret,
		     sd_bus_error *error)
{
	const struct bus_context *context = userdata;
	size_t n = class_table_size(context->classes);
	char **paths = calloc(n + 1, sizeof(*paths));

	(void)bus;
	(void)prefix;
	(void)error;
	if (!paths)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		paths[i] = bus_path(SCHEDLAB_PATH_CLASS, class_table_get(context->classes, i)->id);
	*ret = paths;
	return 0;
}

void bus_tell_classes(const struct bus_context *context, bool come)
{
	for (size_t i = 0; i < class_table_size(context->classes); i++) {
		_cleanup_free_ char *path =
			bus_path(SCHEDLAB_PATH_CLASS, class_table_get(context->classes, i)->id);

		if (path && come)
			(void)sd_bus_emit_object_added(context->bus, path);
		else if (path)
			(void)sd_bus_emit_object_removed(context->bus, path);
	}
}

/* sd-bus hands over the userdata of the vtable and the path; the class is looked up each time. */
static const struct pair_class *class_of(const char *path, const struct bus_context *context)
{
	_cleanup_free_ char *id = NULL;
	const struct pair_class *c = NULL;

	if (sd_bus_path_decode(path, SCHEDLAB_PATH_CLASS, &id) <= 0 ||
	    class_table_find(context->classes, id, &c, NULL) < 0)
		return NULL;
	return c;
}

struct shares {
	sd_bus_message *reply;
	int r;
};

static void append_shared(const char *name, void *userdata)
{
	struct shares *s = userdata;

	if (s->r >= 0)
		s->r = sd_bus_message_append_basic(s->reply, 's', name);
}

static int append_shares(sd_bus_message *reply, const struct pair_class *c)
{
	struct shares s = { .reply = reply, .r = sd_bus_message_open_container(reply, 'a', "s") };

	class_each_shared(c, append_shared, &s);
	return s.r < 0 ? s.r : sd_bus_message_close_container(reply);
}

static int append_pairs(sd_bus_message *reply, const struct pair_class *c)
{
	int r = sd_bus_message_open_container(reply, 'a', "(uu)");

	for (size_t i = 0; i < c->n_representatives && r >= 0; i++)
		r = sd_bus_message_append(reply, "(uu)", c->representatives[i].waker,
					  c->representatives[i].wakee);
	return r < 0 ? r : sd_bus_message_close_container(reply);
}

static int get_property(sd_bus *bus, const char *path, const char *interface, const char *property,
			sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
	const struct bus_context *context = userdata;
	const struct pair_class *c = class_of(path, context);
	char kinds[2 * KIND_NAME_MAX + 2];

	(void)bus;
	(void)interface;
	if (!c)
		return sd_bus_error_set_errno(error, ENOENT);
	switch (property[0]) {
	case 'I': /* Id */
		return sd_bus_message_append_basic(reply, 's', c->id);
	case 'S': /* Shares */
		return append_shares(reply, c);
	case 'C': /* CpuKinds */
		return sd_bus_message_append_basic(reply, 's',
						   class_kinds(context->classes, c, kinds));
	case 'N': /* NPairs */
		return sd_bus_message_append_basic(reply, 't', &c->n_pairs);
	default: /* Representatives */
		return append_pairs(reply, c);
	}
}

const sd_bus_vtable bus_class_vtable[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_PROPERTY("Id", "s", get_property, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("Shares", "as", get_property, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("CpuKinds", "s", get_property, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("NPairs", "t", get_property, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("Representatives", "a(uu)", get_property, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_VTABLE_END,
};
