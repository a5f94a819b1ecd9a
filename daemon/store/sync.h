/* SPDX-License-Identifier: MIT */
/*
 * Waiting for the disk in a child process: fdatasync(2) may take seconds, and the daemon has one thread.
 */
#pragma once

#include <stddef.h>
#include <systemd/sd-event.h>

#include "util/macro.h"

#define SYNC_PATIENCE_USEC 2000000 /* longer, and the disk is said to be slow */

struct sync;

/*
 * @error: 0, or the negative errno of what could not be synced; -EINPROGRESS: it takes longer than
 * SYNC_PATIENCE_USEC, goes on, and its end is still to come.
 */
typedef void (*sync_done)(int error, void *userdata);

/* Syncs @fds, one after the other. @done comes from the loop; it may free the sync at the end. */
int sync_start(sd_event *event, const int *fds, size_t n, sync_done done, void *userdata,
	       struct sync **ret);
/* Does not wait for what is under way. */
struct sync *sync_free(struct sync *sync);
DEFINE_CLEANUP(struct sync *, sync_free);
