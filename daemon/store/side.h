/* SPDX-License-Identifier: MIT */
/*
 * What does not fit a record, each once: fingerprints, distributions, long texts.
 *
 * A ring (store/ring.h) whose records are pieces of such entries; the key of an entry is a hash of its
 * type and bytes. Offsets in the slot: 8 u64 key, 16 u16 type, u16 number of the piece, u16 pieces, u16
 * bytes in it, 24 the bytes. The pieces of an entry have consecutive sequences. An entry is there while all
 * its pieces are; one that is put again before it is overwritten is not written again, unless that is soon.
 *
 * In memory it has 8 bytes a slot, to find keys, and the keys of fingerprints, of which there are few.
 */
#pragma once

#include "store/ring.h"

#define SIDE_KIND     2
#define SIDE_SIZE_MAX (64 << 10) /* bytes of an entry */

enum side_type {
	SIDE_TEXT = 1,
	SIDE_FINGERPRINT = 2, /* JSON */
	SIDE_DISTRIBUTION = 3,
};

struct side;

/* As ring_open(); of @options the kind is not looked at. */
int side_open(int directory, const char *name, const struct ring_options *options,
	      struct side **ret, struct ring_report *ret_report, struct fail *f);
struct side *side_close(struct side *s);
DEFINE_CLEANUP(struct side *, side_close);

/* Makes sure that an entry is there; its key, which is never 0, to *@ret_key. */
int side_put(struct side *s, enum side_type type, const void *bytes, size_t size, uint64_t *ret_key,
	     struct fail *f);

/* The entry of @key, with a NUL behind it, which the caller frees; -ENOENT where it is not there (any
 * more). @ret_size and @ret_type may be NULL. */
int side_get(const struct side *s, uint64_t key, void **ret, size_t *ret_size,
	     enum side_type *ret_type);

/* For each fingerprint that is there; a negative return ends it and is returned. */
int side_each_fingerprint(const struct side *s,
			  int (*visit)(const void *bytes, size_t size, void *userdata),
			  void *userdata);

/* The ring that the entries are in: for those who count, copy or sync it. */
const struct ring *side_ring(const struct side *s);

int side_sync(struct side *s, struct fail *f);
