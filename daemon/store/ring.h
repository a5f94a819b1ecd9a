/* SPDX-License-Identifier: MIT */
/*
 * A file of a fixed size that holds the newest records: nothing in it is ever wrong, and at most the
 * record that was being written is lost when the process is killed, and what was not synced yet when the
 * machine stops.
 *
 * The file: two superblocks of RING_SUPERBLOCK bytes, then slots of RING_RECORD bytes. All numbers are
 * little-endian.
 *
 *     superblock   0 magic "SLABRING"   8 u16 version, u16 kind   12 u32 flags that a writer must know
 *                 16 u32 flags that a reader must know            20 u32 record size
 *                 24 u64 slots   32 file id (16 random bytes)     48 machine id (16 bytes)
 *                 64 u64 realtime of creation, ns                 72 u64 generation
 *                 4088 u64 XXH3 over the bytes before it
 *     record       0 u64 sequence, from 1      8 the owner's bytes
 *                504 u64 XXH3 over (file id, slot, the bytes before it)
 *
 * There is no head on disk: record S lies in slot S mod slots, and the newest is the whole record with
 * the highest sequence, found by reading all at the opening. A record is one pwrite(2). The checksum
 * holds the file's id and the slot, so that no record of another file or place is taken for one.
 *
 * A torn, rotten or unreadable record is found, counted and skipped. A file whose superblocks are both
 * broken, or that another machine wrote, is set aside under another name and a new one begun; the other
 * machine, if it has the same directory, takes its own back (an id of zeros, where
 * a machine has none, is nobody else's). A file of a newer
 * kind that may not be read is refused. One writer at a time, by flock(2).
 *
 * After the journal file format of systemd (compatible and incompatible flags, file ids) and SQLite's
 * WAL (a valid prefix wins); see also the model test in tests/unit/test-ring.c.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "util/fail.h"
#include "util/macro.h"

#define RING_VERSION    1
#define RING_SUPERBLOCK 4096
#define RING_RECORD     512
#define RING_BODY       8                             /* where the owner's bytes begin */
#define RING_BODY_SIZE  (RING_RECORD - RING_BODY - 8) /* how many there are */
#define RING_SLOTS_MIN  64
#define RING_SLOTS_MAX  (UINT64_C(1) << 23) /* 4 GiB */

struct ring;

struct ring_options {
	uint16_t kind;  /* what its records are: one number for each owner */
	uint64_t slots; /* of a new file; an existing one keeps its own */
	uint8_t machine_id[16];
	bool read_only; /* for those who only look: no lock, no file is made, mended or set aside */
};

/* What was found at the opening. */
struct ring_report {
	uint64_t whole, rotten, empty; /* slots */
	bool created, mended;          /* mended: a superblock, or the file's size */
	char set_aside[160];           /* the name that an unusable file has now; "" */
	char why[160];                 /* and why it is unusable */
};

/*
 * Opens @name in directory @directory, or begins it. StoreUnavailable with a sentence where that cannot
 * be: no space, read-only, a newer kind of file; Busy where another process has it.
 */
int ring_open(int directory, const char *name, const struct ring_options *options,
	      struct ring **ret, struct ring_report *ret_report, struct fail *f);
struct ring *ring_close(struct ring *r);
DEFINE_CLEANUP(struct ring *, ring_close);

/* Appends the RING_BODY_SIZE bytes of @body. *@ret_sequence may be NULL. Does not wait for the disk. */
int ring_append(struct ring *r, const void *body, uint64_t *ret_sequence, struct fail *f);

/* Waits until all that was appended is on the disk; does nothing where nothing was. */
int ring_sync(struct ring *r, struct fail *f);

/*
 * The record @sequence, its body to @body (RING_BODY_SIZE bytes). -ENOENT where it has been overwritten
 * or was never written; -EBADMSG where it is torn or rotten, so that nobody knows.
 */
int ring_read(const struct ring *r, uint64_t sequence, void *body);

/* What is in it now, as ring_open() tells it: reads all. */
int ring_count(const struct ring *r, struct ring_report *ret);

/* Whether the file is still what @name in @directory is: not removed, moved or replaced. */
bool ring_is_at(const struct ring *r, int directory, const char *name);

/* How many of its two superblocks are whole now. */
int ring_superblocks(const struct ring *r);

/* For a process that waits for the disk in our place. */
int ring_fd(const struct ring *r);

/* Sequences of what may be there: the first, and the next to be written. Equal: the ring is empty. */
uint64_t ring_first(const struct ring *r);
uint64_t ring_next(const struct ring *r);

uint64_t ring_slots(const struct ring *r);

/* Of the whole file. */
uint64_t ring_bytes(const struct ring *r);

/*
 * Reads many at a time: raw slots @first_slot.. (at most @n) to @buffer, whose records nobody has checked;
 * returns how many, or a negative errno. For each that is worth it ring_check() tells its sequence, or 0
 * where it is not whole.
 */
long ring_read_slots(const struct ring *r, uint64_t first_slot, void *buffer, size_t n);
uint64_t ring_check(const struct ring *r, uint64_t slot, const void *record);

/* From now on sequences go on behind @sequence: for a file that takes over from another. */
void ring_continue_after(struct ring *r, uint64_t sequence);
