/* SPDX-License-Identifier: MIT */
/*
 * benchmarks: what can be measured, with which options, in which units.
 */
#include <schedlab/names.h>

#include "client.h"
#include "render/pager.h"
#include "render/text.h"

static void print_benchmark(const json_t *b)
{
	size_t i;
	json_t *part;

	printf("%s (version %lld): %s\n  after %s\n  options:\n", text_of(b, "name"),
	       (long long)json_integer_value(json_object_get(b, "version")), text_of(b, "summary"),
	       text_of(b, "model"));
	json_array_foreach (json_object_get(b, "options"), i, part)
		printf("    %-14s %s\n    %-14s = %s; the default is %s\n", text_of(part, "name"),
		       text_of(part, "meaning"), "", text_of(part, "accepted"),
		       text_of(part, "default"));
	puts("  metrics:");
	json_array_foreach (json_object_get(b, "metrics"), i, part) {
		const char *better = text_of(part, "better");

		printf("    %-14s %s\n    %-14s in %s%s%s%s\n", text_of(part, "name"),
		       text_of(part, "meaning"), "", text_of(part, "unit"),
		       strcmp(better, "neither") == 0 ? "" : "; ",
		       strcmp(better, "neither") == 0 ? "" : better,
		       strcmp(better, "neither") == 0 ? "" : " is better");
	}
}

static int run(struct client *c, int argc, char *argv[], struct fail *f)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_(json_decrefp) json_t *root = NULL;
	size_t i;
	json_t *b;
	int r = client_no_arguments(argc, argv, f);

	if (r >= 0)
		r = client_get_json(c, SCHEDLAB_PATH, SCHEDLAB_INTERFACE_MANAGER,
				    "DescribeBenchmarks", &text, f);
	if (r < 0 || client_print_json(c, text))
		return r;
	root = text_load(text);
	pager_open(!c->no_pager);
	json_array_foreach (json_object_get(root, "benchmarks"), i, b) {
		if (i)
			puts("");
		print_benchmark(b);
	}
	return 0;
}

extern const struct verb verb_benchmarks;
const struct verb verb_benchmarks = {
	.name = "benchmarks",
	.arguments = "",
	.summary = "What can be measured, with which options, in which units",
	.run = run,
};
