/* SPDX-License-Identifier: MIT */
/*
 * The store as the daemon has it: the ring of records, the side file, and their troubles.
 *
 * Files in the state directory: "store.ring" (store/record.h) and "side.ring" (store/side.h), which has a
 * quarter of its slots. They are opened when they are needed first, and again after trouble. Whatever is
 * wrong with them, measuring goes on: then nothing is kept, and that is said, once in the log and in
 * every result.
 *
 * One daemon writes; another may look, at the files as they are then. Nothing waits for the disk but the
 * opening, a change of size, and the end: a child process syncs between samples.
 */
#pragma once

#include <jansson.h>
#include <schedlab/units.h>
#include <systemd/sd-event.h>

#include "store/query.h"
#include "store/side.h"

#define STORE_SIZE_DEFAULT (64 * MIB) /* bytes of records: 131,072 */
#define STORE_SIZE_MIN     MIB
#define STORE_SIZE_MAX     GIB /* all is read for some questions: a tenth of a second */
#define STORE_FILE         "store.ring"
#define STORE_SIDE_FILE    "side.ring"

struct store;

struct store_options {
	const char
		*directory;  /* made with its parents where it is missing; NULL: nothing is kept */
	const char *why_not; /* then why */
	uint64_t size;       /* bytes of records; 0: as it is, or STORE_SIZE_DEFAULT */
};

int store_new(sd_event *event, const struct store_options *options, struct store **ret,
	      struct fail *f);
/* Syncs. */
struct store *store_free(struct store *s);
DEFINE_CLEANUP(struct store *, store_free);

/*
 * Makes sure that it can be written, as far as that can be; cheap where it can already. To be called
 * before a measurement. 1: it has just been opened; 0: it was open. Fails with the sentence why nothing
 * will be kept, which has been logged.
 */
int store_open(struct store *s, struct fail *f);

/* Adds one record; fills in its times and boot tag. Never waits for the disk. */
int store_append(struct store *s, struct record *record, struct fail *f);

/* Whether the files that are written are still those in the directory. Only where it can be written. */
bool store_is_in_place(const struct store *s);

/* Adds an entry to the side file, where that can be; else 0. */
uint64_t store_put(struct store *s, enum side_type type, const void *bytes, size_t size);
/* The same of a JSON, which it takes over. */
uint64_t store_put_json(struct store *s, enum side_type type, json_t *root);

/* Who is told of the highest sequence after each store_append(). */
void store_observe(struct store *s, void (*added)(uint64_t sequence, void *userdata),
		   void *userdata);

/* Why nothing is kept, as far as it has been tried; NULL. */
const char *store_trouble(const struct store *s);

/* The highest number of a job in it; 0 where there is none. */
uint64_t store_highest_job(const struct store *s);

/*
 * Whether it is time to sync: records have been added, and the last time is some seconds ago.
 * store_sync() syncs in a child process; @done comes from the loop, when it has ended or takes long
 * (it then goes on by itself). It returns 0 where there is nothing to be waited for: no @done comes.
 * @done may be NULL. store_forget() of the same @userdata: it is not to be called any more.
 */
bool store_sync_is_due(const struct store *s);
int store_sync(struct store *s, void (*done)(void *userdata), void *userdata);
void store_forget(struct store *s, const void *userdata);

/* Where the files were replaced under our hands (a backup was put back), those that are there now are used.
 * Not while a measurement goes on. */
void store_refresh(struct store *s);

/* What can be read: our own files, or those of another daemon, as they were at most some seconds ago. It
 * belongs to the store, and may be gone at the next call. */
struct store_view {
	const struct ring *ring; /* NULL: there is none yet, so that nothing has been kept */
	const struct side *side;
	const char
		*writer; /* who else writes it, "schedlabd (process 1, user root)"; NULL: nobody */
};

/* StoreUnavailable with a sentence where it cannot be read. */
int store_look(struct store *s, struct store_view *ret, struct fail *f);

/* The JSON entry of a view under @key: a new reference; NULL where it is not there (any more). */
json_t *store_view_json(const struct store_view *v, uint64_t key);

/* {"path", "writable", "why": why nothing is kept, or null, "writer": who else writes it, or null, "slots",
 * "records", "bytes"}: what is known without reading, null what is not. A new reference. */
json_t *store_to_json(struct store *s);

/*
 * Reads all: {"schema": "schedlab.store/1", what store_to_json() has, "whole", "torn", "empty", "oldest_usec",
 * "newest_usec", "next_sequence", "kinds": {kind: records}, "clock_steps_back", "superblocks": whole ones
 * of two, "side": {"path", "slots",
 * "whole", "torn", "empty", "bytes"}, "set_aside": [{"name", "bytes"}]}. A new reference.
 */
int store_check(struct store *s, json_t **ret, struct fail *f);

/* A new file of @size bytes of records in the old one's place, with the newest that fit. Refused where the
 * configuration has another size, which would come back with the next start. */
int store_resize(struct store *s, uint64_t size, struct fail *f);
/* New, empty files in the old ones' place; how many records are gone to *@ret. */
int store_clear(struct store *s, uint64_t *ret, struct fail *f);
