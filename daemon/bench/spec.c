/* SPDX-License-Identifier: MIT */
/*
 * Benchmarks and their options, from text and to text.
 */
#include "bench/spec.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "util/parse.h"
#include "util/suggest.h"

#define NODE_MAX 4095

static int find_option(const struct bench *b, const char *name, size_t *ret, struct fail *f)
{
	const char *names[BENCH_OPTIONS_MAX];
	_cleanup_free_ char *hint = NULL;

	for (size_t i = 0; i < b->n_options; i++) {
		if (strcmp(b->options[i].name, name) == 0) {
			*ret = i;
			return 0;
		}
		names[i] = b->options[i].name;
	}
	hint = suggest_sentence(name, names, b->n_options);
	return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
			"benchmark '%s' has no option '%.40s'%s", b->name, name, hint ? hint : "");
}

static int parse_value(const struct bench *b, const struct bench_option *o, const char *text,
		       uint32_t *ret, struct fail *f)
{
	_cleanup_free_ char *hint = NULL;
	uint64_t number;
	size_t n = 0;

	for (; o->words[n]; n++) {
		if (strcmp(o->words[n], text) == 0) {
			*ret = (uint32_t)n;
			return 0;
		}
	}
	if (o->type == BENCH_OPTION_NODE &&
	    parse_u64(o->name, text, 0, NODE_MAX, &number, NULL) == 0) {
		*ret = BENCH_VALUE_NUMBER + (uint32_t)number;
		return 0;
	}
	hint = suggest_sentence(text, o->words, n);
	return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT, "%s:%s=%.60s is not a value%s%s",
			b->name, o->name, text, hint ? hint : "",
			o->type == BENCH_OPTION_NODE ? ", or the number of a NUMA node" : "");
}

/* The next "name=value" of @rest, with the parts without '=' that continue it. */
static char *next_part(char **rest)
{
	char *part = strsep(rest, ",");

	while (part && *rest && **rest != '\0') {
		size_t length = strcspn(*rest, ",");

		if (memchr(*rest, '=', length))
			break;
		/* Undo what strsep() did to the comma. */
		(*rest)[-1] = ',';
		(void)strsep(rest, ",");
	}
	return part;
}

static int parse_options(struct bench_spec *spec, char *text, struct fail *f)
{
	bool given[BENCH_OPTIONS_MAX] = { false };
	int r;

	for (char *part; (part = next_part(&text));) {
		char *equals = strchr(part, '=');
		size_t i = 0;

		if (!equals)
			return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
					"'%.60s' is no option of benchmark '%s'; one looks like "
					"OPTION=VALUE",
					part, spec->bench->name);
		*equals = '\0';
		r = find_option(spec->bench, part, &i, f);
		if (r < 0)
			return r;
		if (given[i])
			return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
					"option '%s' of benchmark '%s' is given twice", part,
					spec->bench->name);
		given[i] = true;
		r = parse_value(spec->bench, &spec->bench->options[i], equals + 1, &spec->values[i],
				f);
		if (r < 0)
			return r;
	}
	return 0;
}

int bench_spec_parse(const char *text, struct bench_spec *ret, struct fail *f)
{
	struct bench_spec spec = { 0 };
	char copy[BENCH_SPEC_MAX];
	char *options = copy;
	int r;

	if (strlen(text) >= sizeof(copy))
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
				"'%.40s...' is longer than any benchmark with its options", text);
	(void)snprintf(copy, sizeof(copy), "%s", text);
	(void)strsep(&options, ":");
	r = bench_find(copy, &spec.bench, f);
	if (r < 0)
		return r;
	r = parse_options(&spec, options, f);
	if (r < 0)
		return r;
	*ret = spec;
	return 0;
}

char *bench_spec_format(const struct bench_spec *spec)
{
	_cleanup_free_ char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fputs(spec->bench->name, out);
	for (size_t i = 0; i < spec->bench->n_options; i++) {
		const struct bench_option *o = &spec->bench->options[i];

		fprintf(out, "%c%s=", i ? ',' : ':', o->name);
		if (spec->values[i] >= BENCH_VALUE_NUMBER)
			fprintf(out, "%u", spec->values[i] - BENCH_VALUE_NUMBER);
		else
			fputs(o->words[spec->values[i]], out);
	}
	if (fclose(out) != 0)
		return NULL;
	return TAKE_PTR(text);
}

uint32_t bench_spec_value(const struct bench_spec *spec, const char *name)
{
	for (size_t i = 0; i < spec->bench->n_options; i++)
		if (strcmp(spec->bench->options[i].name, name) == 0)
			return spec->values[i];
	abort();
}

uint64_t bench_spec_hash(const struct bench_spec *spec)
{
	_cleanup_free_ char *text = bench_spec_format(spec);

	return text ? XXH3_64bits_withSeed(text, strlen(text), spec->bench->version) : 0;
}
