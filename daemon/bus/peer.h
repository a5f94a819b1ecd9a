/* SPDX-License-Identifier: MIT */
/*
 * Who called, and when they leave the bus.
 *
 * sd_bus_track would ask the broker with a blocking call. Here a match for the one name is installed
 * without waiting, and once it is in place the broker is asked, also without waiting, whether the
 * name is still there: so a caller that died in between is noticed.
 */
#pragma once

#include <systemd/sd-bus.h>

#include "util/macro.h"

struct peer_watch;

typedef void (*peer_gone)(void *userdata);

/* Watches the sender of @call; @gone is called once, from the event loop. */
int peer_watch_new(sd_bus_message *call, peer_gone gone, void *userdata, struct peer_watch **ret);
struct peer_watch *peer_watch_free(struct peer_watch *w);
DEFINE_CLEANUP(struct peer_watch *, peer_watch_free);
