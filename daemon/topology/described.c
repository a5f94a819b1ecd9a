/* SPDX-License-Identifier: MIT */
/*
 * What hwloc's XML says of the machine that it was made on.
 */
#include <string.h>

#include "topology/load.h"

/* The values of @names that @o has, with blanks between them; NULL if it has none. */
static char *join_infos(hwloc_obj_t o, const char *const *names)
{
	_cleanup_free_ char *text = NULL;
	bool any = false;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (size_t i = 0; names[i]; i++) {
		const char *value = hwloc_obj_get_info_by_name(o, names[i]);

		if (!value || *value == '\0')
			continue;
		fprintf(out, "%s%s", any ? " " : "", value);
		any = true;
	}
	if (fclose(out) != 0 || !any)
		return NULL;
	return TAKE_PTR(text);
}

void topology_load_described(struct topology *t, hwloc_topology_t hwloc)
{
	static const struct {
		const char *key;
		bool of_package;
		const char *names[5];
	} fields[TOPOLOGY_DESCRIBED_MAX] = {
		{ "cpu_model", true, { "CPUModel" } },
		{ "cpu_id",
		  true,
		  { "CPUVendor", "CPUFamilyNumber", "CPUModelNumber", "CPUStepping" } },
		{ "kernel", false, { "OSRelease", "OSVersion" } },
		{ "machine", false, { "DMISysVendor", "DMIProductName", "DMIProductVersion" } },
	};
	hwloc_obj_t root = hwloc_get_root_obj(hwloc);
	hwloc_obj_t package = hwloc_get_obj_by_type(hwloc, HWLOC_OBJ_PACKAGE, 0);
	size_t n = 0;

	for (size_t i = 0; i < ELEMENTSOF(fields); i++) {
		hwloc_obj_t o = fields[i].of_package && package ? package : root;
		char *value = join_infos(o, fields[i].names);

		if (!value)
			continue;
		t->described[n].key = fields[i].key;
		t->described[n++].value = value;
	}
}
