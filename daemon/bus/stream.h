/* SPDX-License-Identifier: MIT */
/*
 * Much data to one client, by a pipe: made a piece at a time, when the client has read what was before.
 */
#pragma once

#include <systemd/sd-bus.h>

#include "bus/bus.h"

#define STREAMS_MAX        16 /* at one time */
#define STREAMS_CLIENT_MAX 4  /* of them one client's */
#define STREAM_PIECE       (256 << 10)
#define STREAM_IDLE_USEC \
	(60 * USEC_PER_SEC) /* a client that reads nothing for so long has lost it */

struct stream_source {
	/* The next piece, which the stream frees, and 1; it may be empty. 0: the end; negative: it breaks off. */
	int (*fill)(void *userdata, char **ret, size_t *ret_size);
	void (*free)(void *userdata);
	void *userdata;
};

/* Takes over @source in any case. The end to read from is *@ret_fd, which the caller closes.
 * LimitsExceeded. */
int stream_new(struct bus_context *context, sd_bus_message *call,
	       const struct stream_source *source, int *ret_fd, struct fail *f);

/* Breaks off all. */
void stream_free_all(struct bus_context *context);
