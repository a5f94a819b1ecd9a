/* SPDX-License-Identifier: MIT */
/*
 * Configuration files to checked sections.
 */
#include "config/config.h"

#include <glob.h>
#include <string.h>

#include "util/ini.h"
#include "util/parse.h"
#include "util/suggest.h"

struct value {
	char *section, *key, *text;
	char *where; /* "file:line" */
};

struct config {
	struct value *values;
	size_t n_values;
};

static void value_clear(struct value *v)
{
	free(v->section);
	free(v->key);
	free(v->text);
	free(v->where);
}

struct config *config_free(struct config *c)
{
	if (!c)
		return NULL;
	for (size_t i = 0; i < c->n_values; i++)
		value_clear(&c->values[i]);
	free(c->values);
	free(c);
	return NULL;
}

static struct value *find(const struct config *c, const char *section, const char *key)
{
	for (size_t i = 0; c && i < c->n_values; i++)
		if (strcmp(c->values[i].section, section) == 0 &&
		    strcmp(c->values[i].key, key) == 0)
			return &c->values[i];
	return NULL;
}

static int set_value(struct config *c, const char *path, const struct ini_entry *e)
{
	struct value new = { .section = strdup(e->section),
			     .key = strdup(e->key),
			     .text = strdup(e->value) };
	struct value *slot = find(c, e->section, e->key);

	if (asprintf(&new.where, "%s:%u", path, e->line) < 0)
		new.where = NULL;
	if (!slot) {
		struct value *larger = reallocarray(c->values, c->n_values + 1, sizeof(*larger));

		if (larger) {
			c->values = larger;
			slot = &larger[c->n_values];
			*slot = (struct value){ 0 };
			c->n_values++;
		}
	}
	if (!slot || !new.section || !new.key || !new.text || !new.where) {
		value_clear(&new);
		return -ENOMEM;
	}
	value_clear(slot);
	*slot = new;
	return 0;
}

static const struct config_spec *find_spec(const struct config_spec *specs, size_t n,
					   const char *section)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(specs[i].section, section) == 0)
			return &specs[i];
	return NULL;
}

static int check_sections(const struct ini *ini, const struct config_spec *specs, size_t n,
			  struct fail *f)
{
	for (size_t i = 0; i < ini->n_sections; i++) {
		const struct ini_entry *s = &ini->sections[i];
		const char *names[16];
		_cleanup_free_ char *hint = NULL;

		if (find_spec(specs, n, s->section))
			continue;
		for (size_t j = 0; j < n && j < ELEMENTSOF(names); j++)
			names[j] = specs[j].section;
		hint = suggest_sentence(s->section, names, MIN_OF(n, ELEMENTSOF(names)));
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT, "%s:%u: no section [%s]%s",
				ini->path, s->line, s->section, hint ? hint : "");
	}
	return 0;
}

static int check_keys(const struct ini *ini, const struct config_spec *specs, size_t n,
		      struct fail *f)
{
	for (size_t i = 0; i < ini->n_entries; i++) {
		const struct ini_entry *e = &ini->entries[i];
		const struct config_spec *spec = find_spec(specs, n, e->section);
		_cleanup_free_ char *hint = NULL;
		bool known = false;

		for (size_t j = 0; j < spec->n_keys && !known; j++)
			known = strcmp(spec->keys[j], e->key) == 0;
		if (known)
			continue;
		hint = suggest_sentence(e->key, spec->keys, spec->n_keys);
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT, "%s:%u: no key '%s' in [%s]%s",
				ini->path, e->line, e->key, e->section, hint ? hint : "");
	}
	return 0;
}

static int load_file(struct config *c, const char *path, bool must_exist,
		     const struct config_spec *specs, size_t n_specs, struct fail *f)
{
	_cleanup_(ini_freep) struct ini *ini = NULL;
	struct fail why = { 0 };
	int r = ini_load(path, &ini, &why);

	if (r == -ENOENT && !must_exist)
		return 0;
	if (r < 0) {
		/* Whoever named a file can mend that. */
		bool ours = r == -ENOMEM || r == -EMFILE || r == -ENFILE;

		(void)fail_set(f, ours ? SCHEDLAB_ERROR_FAILED : SCHEDLAB_ERROR_INVALID_ARGUMENT,
			       "%s", why.message);
		return r;
	}
	r = check_sections(ini, specs, n_specs, f);
	if (r < 0)
		return r;
	r = check_keys(ini, specs, n_specs, f);
	if (r < 0)
		return r;
	for (size_t i = 0; i < ini->n_entries; i++)
		if (set_value(c, ini->path, &ini->entries[i]) < 0)
			return fail_oom(f);
	return 0;
}

static int load_drop_ins(struct config *c, const char *path, const struct config_spec *specs,
			 size_t n_specs, struct fail *f)
{
	const char *slash = strrchr(path, '/');
	_cleanup_free_ char *pattern = NULL;
	glob_t found = { 0 };
	int r = 0;

	if (asprintf(&pattern, "%.*sconf.d/*.conf", slash ? (int)(slash - path) + 1 : 0, path) <
	    0) {
		pattern = NULL;
		return fail_oom(f);
	}
	if (glob(pattern, 0, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc && r >= 0; i++)
			r = load_file(c, found.gl_pathv[i], true, specs, n_specs, f);
	globfree(&found);
	return r;
}

int config_load(const char *path, bool must_exist, const struct config_spec *specs, size_t n_specs,
		struct config **ret, struct fail *f)
{
	_cleanup_(config_freep) struct config *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return fail_oom(f);
	r = load_file(c, path, must_exist, specs, n_specs, f);
	if (r < 0)
		return r;
	r = load_drop_ins(c, path, specs, n_specs, f);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(c);
	return 0;
}

const char *config_get(const struct config *c, const char *section, const char *key)
{
	const struct value *v = find(c, section, key);

	return v ? v->text : NULL;
}

/* "file:line: key", for the sentence of a parser. */
static const char *describe(char *buffer, size_t size, const struct value *v)
{
	(void)snprintf(buffer, size, "%s: %s", v->where, v->key);
	return buffer;
}

int config_get_u64(const struct config *c, const char *section, const char *key, uint64_t min,
		   uint64_t max, uint64_t *ret, struct fail *f)
{
	const struct value *v = find(c, section, key);
	char what[512];

	return v ? parse_u64(describe(what, sizeof(what), v), v->text, min, max, ret, f) : 0;
}

int config_get_time(const struct config *c, const char *section, const char *key, uint64_t min_ns,
		    uint64_t max_ns, uint64_t *ret_ns, struct fail *f)
{
	const struct value *v = find(c, section, key);
	char what[512];

	return v ? parse_time(describe(what, sizeof(what), v), v->text, min_ns, max_ns, ret_ns, f)
		 : 0;
}

int config_get_size(const struct config *c, const char *section, const char *key, uint64_t min,
		    uint64_t max, uint64_t *ret, struct fail *f)
{
	const struct value *v = find(c, section, key);
	char what[512];

	return v ? parse_size(describe(what, sizeof(what), v), v->text, min, max, ret, f) : 0;
}

int config_get_bool(const struct config *c, const char *section, const char *key, bool *ret,
		    struct fail *f)
{
	const struct value *v = find(c, section, key);
	char what[512];

	return v ? parse_bool(describe(what, sizeof(what), v), v->text, ret, f) : 0;
}
