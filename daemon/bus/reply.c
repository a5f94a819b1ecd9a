/* SPDX-License-Identifier: MIT */
/*
 * Replies: errors with their names, paths, JSON texts.
 */
#include <errno.h>
#include <string.h>

#include "bus/internal.h"
#include "util/json.h"

/* A broker closes the connection of whoever sends more than its limit: dbus-daemon's is 32 MiB on the
 * system bus (max_message_size), dbus-broker's 16 MiB for all of a user's. */
#define REPLY_MAX (15 << 20)

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
	_cleanup_free_ char *text = root ? json_dumps(root, JSON_WRITE) : NULL;

	json_decref(root);
	if (!text)
		return sd_bus_error_set_errno(error, ENOMEM);
	if (strlen(text) > REPLY_MAX)
		return sd_bus_error_setf(
			error, schedlab_error_name(SCHEDLAB_ERROR_LIMITS_EXCEEDED),
			"the answer has %zu bytes, and a bus may carry no more than %d; "
			"measure fewer rounds or pairs at a time",
			strlen(text), REPLY_MAX);
	return sd_bus_reply_method_return(call, "s", text);
}
