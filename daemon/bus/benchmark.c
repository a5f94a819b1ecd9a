/* SPDX-License-Identifier: MIT */
/*
 * Interface Benchmark.
 */
#include <errno.h>
#include <schedlab/names.h>

#include "bench/json.h"
#include "bus/internal.h"

int bus_find_benchmark(sd_bus *bus, const char *path, const char *interface, void *userdata,
		       void **ret, sd_bus_error *error)
{
	_cleanup_free_ char *name = NULL;
	const struct bench *b;
	union {
		const struct bench *constant;
		void *plain;
	} object;

	(void)bus;
	(void)interface;
	(void)userdata;
	(void)error;
	if (sd_bus_path_decode(path, SCHEDLAB_PATH_BENCHMARK, &name) <= 0 ||
	    bench_find(name, &b, NULL) < 0)
		return 0;
	/* sd-bus has no userdata that is constant; no handler writes through it. */
	object.constant = b;
	*ret = object.plain;
	return 1;
}

int bus_list_benchmarks(sd_bus *bus, const char *prefix, void *userdata, char ***ret,
			sd_bus_error *error)
{
	size_t n = bench_count();
	char **paths = calloc(n + 1, sizeof(*paths));

	(void)bus;
	(void)prefix;
	(void)userdata;
	(void)error;
	if (!paths)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		paths[i] = bus_path(SCHEDLAB_PATH_BENCHMARK, bench_get(i)->name);
	*ret = paths;
	return 0;
}

static int append_metrics(sd_bus_message *reply, const struct bench *b)
{
	int r = sd_bus_message_open_container(reply, 'a', "(sss)");

	for (size_t i = 0; i < b->n_metrics && r >= 0; i++)
		r = sd_bus_message_append(reply, "(sss)", b->metrics[i].name, b->metrics[i].unit,
					  bench_better_name(b->metrics[i].better));
	return r < 0 ? r : sd_bus_message_close_container(reply);
}

static int append_options(sd_bus_message *reply, const struct bench *b)
{
	int r = sd_bus_message_open_container(reply, 'a', "(sss)");

	for (size_t i = 0; i < b->n_options && r >= 0; i++) {
		_cleanup_free_ char *accepted = bench_option_accepted(&b->options[i]);

		r = accepted ? sd_bus_message_append(reply, "(sss)", b->options[i].name, accepted,
						     b->options[i].meaning)
			     : -ENOMEM;
	}
	return r < 0 ? r : sd_bus_message_close_container(reply);
}

static int get_property(sd_bus *bus, const char *path, const char *interface, const char *property,
			sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
	const struct bench *b = userdata;

	(void)bus;
	(void)path;
	(void)interface;
	(void)error;
	switch (property[0]) {
	case 'N': /* Name */
		return sd_bus_message_append_basic(reply, 's', b->name);
	case 'V': /* Version */
		return sd_bus_message_append_basic(reply, 'u', &b->version);
	case 'M': /* Metrics: name, unit, which is better */
		return append_metrics(reply, b);
	default: /* Options: name, accepted values with the default first, meaning */
		return append_options(reply, b);
	}
}

const sd_bus_vtable bus_benchmark_vtable[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_PROPERTY("Name", "s", get_property, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("Version", "u", get_property, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("Metrics", "a(sss)", get_property, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("Options", "a(sss)", get_property, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_VTABLE_END,
};
