/* SPDX-License-Identifier: MIT */
/*
 * Watching one name on the bus.
 */
#include "bus/peer.h"

#include <errno.h>
#include <string.h>

#define BROKER      "org.freedesktop.DBus"
#define BROKER_PATH "/org/freedesktop/DBus"

struct peer_watch {
	char *name;
	peer_gone gone; /* NULL once it was called */
	void *userdata;
	sd_bus_slot *match, *query;
};

static void tell(struct peer_watch *w)
{
	peer_gone gone = w->gone;

	w->gone = NULL;
	if (gone)
		gone(w->userdata);
}

/* NameOwnerChanged(s name, s old, s new): it is gone when there is no new owner. */
static int on_owner_changed(sd_bus_message *signal, void *userdata, sd_bus_error *error)
{
	struct peer_watch *w = userdata;
	const char *name, *before, *after;

	(void)error;
	if (sd_bus_message_read(signal, "sss", &name, &before, &after) >= 0 &&
	    strcmp(name, w->name) == 0 && *after == '\0')
		tell(w);
	return 0;
}

static int on_has_owner(sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
	struct peer_watch *w = userdata;
	int there = 1;

	(void)error;
	if (!sd_bus_message_is_method_error(reply, NULL) &&
	    sd_bus_message_read(reply, "b", &there) >= 0 && !there)
		tell(w);
	return 0;
}

static int on_installed(sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
	struct peer_watch *w = userdata;

	(void)error;
	return sd_bus_call_method_async(sd_bus_message_get_bus(reply), &w->query, BROKER,
					BROKER_PATH, BROKER, "NameHasOwner", on_has_owner, w, "s",
					w->name);
}

int peer_watch_new(sd_bus_message *call, peer_gone gone, void *userdata, struct peer_watch **ret)
{
	_cleanup_(peer_watch_freep) struct peer_watch *w = calloc(1, sizeof(*w));
	_cleanup_free_ char *rule = NULL;
	const char *sender = sd_bus_message_get_sender(call);
	int r;

	if (!w || !sender || !(w->name = strdup(sender)))
		return w && sender ? -ENOMEM : -EINVAL;
	w->gone = gone;
	w->userdata = userdata;
	if (asprintf(&rule,
		     "type='signal',sender='" BROKER "',path='" BROKER_PATH "',interface='" BROKER
		     "',member='NameOwnerChanged',arg0='%s'",
		     sender) < 0) {
		rule = NULL;
		return -ENOMEM;
	}
	r = sd_bus_add_match_async(sd_bus_message_get_bus(call), &w->match, rule, on_owner_changed,
				   on_installed, w);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(w);
	return 0;
}

struct peer_watch *peer_watch_free(struct peer_watch *w)
{
	if (!w)
		return NULL;
	sd_bus_slot_unref(w->match);
	sd_bus_slot_unref(w->query);
	free(w->name);
	free(w);
	return NULL;
}
