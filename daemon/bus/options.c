/* SPDX-License-Identifier: MIT */
/*
 * Options by a table.
 */
#include "bus/options.h"

#include <errno.h>
#include <string.h>

#include "util/suggest.h"

int options_fail(int r, struct fail *f)
{
	return r == -ENOMEM ? fail_oom(f)
			    : fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
				       "the arguments are not of the types that the method takes");
}

static int find_option(const struct options_table *table, const char *key, size_t *ret,
		       struct fail *f)
{
	const char *keys[OPTIONS_MAX];
	_cleanup_free_ char *hint = NULL;

	for (size_t i = 0; i < table->n; i++) {
		if (strcmp(table->options[i].key, key) == 0) {
			*ret = i;
			return 0;
		}
		keys[i] = table->options[i].key;
	}
	hint = suggest_sentence(key, keys, table->n);
	return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT, "there is no option '%.40s'%s", key,
			hint ? hint : "");
}

static int read_option(sd_bus_message *call, const struct options_table *table, void *userdata,
		       uint32_t *given, struct fail *f)
{
	const struct options_option *o;
	const char *key, *type;
	size_t i = 0;
	int r = sd_bus_message_read_basic(call, 's', &key);

	if (r >= 0)
		r = sd_bus_message_peek_type(call, NULL, &type);
	if (r < 0)
		return options_fail(r, f);
	r = find_option(table, key, &i, f);
	if (r < 0)
		return r;
	o = &table->options[i];
	if (strcmp(type, o->type) != 0)
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
				"option '%s' has type '%s' but takes '%s'", key, type, o->type);
	if (*given >> i & 1)
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT, "option '%s' is given twice",
				key);
	*given |= 1U << i;
	r = sd_bus_message_enter_container(call, 'v', type);
	if (r < 0)
		return options_fail(r, f);
	r = o->read(call, userdata, f);
	if (r < 0)
		return r;
	r = sd_bus_message_exit_container(call);
	return r < 0 ? options_fail(r, f) : 0;
}

int options_read(sd_bus_message *call, const struct options_table *table, void *userdata,
		 struct fail *f)
{
	uint32_t given = 0;
	int r = sd_bus_message_enter_container(call, 'a', "{sv}");

	while (r >= 0 && (r = sd_bus_message_enter_container(call, 'e', "sv")) > 0) {
		int n = read_option(call, table, userdata, &given, f);

		if (n < 0)
			return n;
		r = sd_bus_message_exit_container(call);
	}
	if (r >= 0)
		r = sd_bus_message_exit_container(call);
	return r < 0 ? options_fail(r, f) : 0;
}

int options_read_texts(sd_bus_message *call, size_t max, const char *what, const char ***ret,
		       size_t *ret_n, struct fail *f)
{
	_cleanup_free_ const char **texts = calloc(max, sizeof(*texts));
	const char *text;
	size_t n = 0;
	int r = sd_bus_message_enter_container(call, 'a', "s");

	if (!texts)
		return fail_oom(f);
	while (r >= 0 && (r = sd_bus_message_read_basic(call, 's', &text)) > 0) {
		if (n == max)
			return fail_set(f, SCHEDLAB_ERROR_LIMITS_EXCEEDED,
					"more than %zu %s are asked for", max, what);
		texts[n++] = text;
	}
	if (r >= 0)
		r = sd_bus_message_exit_container(call);
	if (r < 0)
		return options_fail(r, f);
	*ret = TAKE_PTR(texts);
	*ret_n = n;
	return 0;
}
