/* SPDX-License-Identifier: MIT */
/*
 * What the files of store/ share of the store as a whole. Only for files of this directory.
 */
#pragma once

#include "store/store.h"
#include "store/sync.h"

#define STORE_KIND       1
#define STORE_NEW        ".new" /* behind the name of a file that is to take the other's place */
#define STORE_SIDE_SHARE 4      /* records for each slot of the side file */

struct store {
	sd_event *event;
	char *path;    /* of the state directory; NULL: there is none */
	char *why_not; /* then why */
	uint64_t size; /* that is wished; 0: any */
	int directory; /* -1: not open */
	uint8_t machine_id[16];
	uint64_t boot_tag;
	struct ring *ring; /* NULL: nothing can be written */
	struct side *side;
	struct ring *seen_ring; /* what another writes, as it was at seen_ns */
	struct side *seen_side;
	uint64_t seen_ns;
	char seen_writer[128];       /* who that was; "" */
	struct fail trouble;         /* why nothing is kept; the message is "" where it is */
	char told[FAIL_MESSAGE_MAX]; /* what of that the log has */
	char sync_trouble[192];      /* what the last sync said; "" */
	bool sync_again;             /* there is more to sync when the one under way has ended */
	uint64_t highest_job;
	uint64_t synced_next; /* ring_next() at the last sync */
	uint64_t synced_ns;   /* when that was, CLOCK_MONOTONIC */
	struct sync *sync;    /* what is under way, of the records before syncing_next */
	uint64_t syncing_next;
	void (*sync_done)(void *userdata); /* who waits for it */
	void *sync_userdata;
	void (*added)(uint64_t sequence, void *userdata);
	void *userdata;
};

struct ring_options store_ring_options(const struct store *s, uint64_t slots, bool read_only);

/* Opens the directory, which is made where @make. */
int store_open_directory(struct store *s, bool make, struct fail *f);

/* As store_open(), but what is wrong is not logged: for a call that fails with it. */
int store_open_quietly(struct store *s, struct fail *f);

/* The files that are written, in the open directory. Where that fails, all are closed. */
int store_open_files(struct store *s, struct fail *f);

/* Closes what was looked at. */
void store_look_away(struct store *s);

/* Closes the files that are written, after a sync. */
void store_close(struct store *s);
