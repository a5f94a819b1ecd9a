/* SPDX-License-Identifier: MIT */
/*
 * Classes and pairs, from options to messages.
 */
#include "choice.h"

#include <string.h>

#include "util/parse.h"

int choice_add_classes(struct choice *c, const char *list, struct fail *f)
{
	char *copy = strdup(list);

	if (!copy)
		return fail_oom(f);
	for (char *id; (id = strsep(&copy, ","));) {
		if (*id == '\0')
			return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
					"--class: '%.60s' holds an empty name", list);
		if (c->n_classes == MEASURE_CLASSES_MAX)
			return fail_set(f, SCHEDLAB_ERROR_LIMITS_EXCEEDED,
					"--class: more than %d are named", MEASURE_CLASSES_MAX);
		c->classes[c->n_classes++] = id;
	}
	return 0;
}

int choice_add_pair(struct choice *c, const char *text, struct fail *f)
{
	int r;

	if (c->n_pairs == MEASURE_PAIRS_MAX)
		return fail_set(f, SCHEDLAB_ERROR_LIMITS_EXCEEDED, "--pair: more than %d are named",
				MEASURE_PAIRS_MAX);
	r = parse_cpu_pair("--pair", text, &c->pairs[c->n_pairs].waker, &c->pairs[c->n_pairs].wakee,
			   f);
	if (r >= 0)
		c->n_pairs++;
	return r;
}

/* Of an entry: up to its value's container. */
static int open_entry(sd_bus_message *call, const char *key, const char *type)
{
	int r = sd_bus_message_open_container(call, 'e', "sv");

	if (r >= 0)
		r = sd_bus_message_append_basic(call, 's', key);
	return r < 0 ? r : sd_bus_message_open_container(call, 'v', type);
}

static int close_entry(sd_bus_message *call)
{
	int r = sd_bus_message_close_container(call);

	return r < 0 ? r : sd_bus_message_close_container(call);
}

int choice_append_pairs(const struct choice *c, sd_bus_message *call)
{
	int r = open_entry(call, "pairs", "a(uu)");

	if (r >= 0)
		r = sd_bus_message_open_container(call, 'a', "(uu)");
	for (size_t i = 0; i < c->n_pairs && r >= 0; i++)
		r = sd_bus_message_append(call, "(uu)", c->pairs[i].waker, c->pairs[i].wakee);
	if (r >= 0)
		r = sd_bus_message_close_container(call);
	return r < 0 ? r : close_entry(call);
}

int choice_append_texts(sd_bus_message *call, const char *const *texts, size_t n)
{
	int r = sd_bus_message_open_container(call, 'a', "s");

	for (size_t i = 0; i < n && r >= 0; i++)
		r = sd_bus_message_append_basic(call, 's', texts[i]);
	return r < 0 ? r : sd_bus_message_close_container(call);
}

int choice_append_list(sd_bus_message *call, const char *key, const char *const *texts, size_t n)
{
	int r = open_entry(call, key, "as");

	if (r >= 0)
		r = choice_append_texts(call, texts, n);
	return r < 0 ? r : close_entry(call);
}
