/* SPDX-License-Identifier: MIT */
/*
 * Entries of any size as pieces in a ring, found by their key.
 */
#include "store/side.h"

#include <endian.h>
#include <errno.h>
#include <string.h>
#include <xxhash.h>

#define SCAN_SLOTS 512
#define PIECE_HEAD 16
#define PIECE_SIZE (RING_BODY_SIZE - PIECE_HEAD)
#define PIECES_MAX (SIDE_SIZE_MAX / PIECE_SIZE + 1)

struct piece {
	uint64_t key;
	uint16_t type, number, pieces, size;
	uint8_t bytes[PIECE_SIZE];
};
_Static_assert(sizeof(struct piece) == RING_BODY_SIZE, "a piece is a body");

struct side {
	struct ring *ring;
	uint32_t *table; /* by key: a slot whose piece is a first one, plus 1; 0: none */
	size_t n_table, n_used;
	uint64_t *fingerprints; /* their keys; what has been overwritten may still be among them */
	size_t n_fingerprints;
};

static uint64_t hash_entry(enum side_type type, const void *bytes, size_t size)
{
	uint64_t key = XXH3_64bits_withSeed(bytes, size, (XXH64_hash_t)type);

	return key ? key : 1;
}

/* Where @key is, or where it may be put. What has been overwritten is still in the table: whoever looks
 * reads the slot, and sees. */
static void note(struct side *s, uint64_t key, uint64_t slot)
{
	size_t at = key & (s->n_table - 1);

	while (s->table[at] != 0 && s->table[at] != slot + 1)
		at = (at + 1) & (s->n_table - 1);
	s->n_used += s->table[at] == 0;
	s->table[at] = (uint32_t)slot + 1;
}

static int note_fingerprint(struct side *s, uint64_t key)
{
	uint64_t *larger;

	for (size_t i = 0; i < s->n_fingerprints; i++)
		if (s->fingerprints[i] == key)
			return 0;
	larger = reallocarray(s->fingerprints, s->n_fingerprints + 1, sizeof(*larger));
	if (!larger)
		return -ENOMEM;
	s->fingerprints = larger;
	larger[s->n_fingerprints++] = key;
	return 0;
}

/* The first piece of an entry. */
static int note_piece(struct side *s, const struct piece *p, uint64_t slot)
{
	uint64_t key = le64toh(p->key);

	note(s, key, slot);
	return le16toh(p->type) == SIDE_FINGERPRINT ? note_fingerprint(s, key) : 0;
}

static int fill_table(struct side *s)
{
	_cleanup_free_ uint8_t *buffer = malloc((size_t)SCAN_SLOTS * RING_RECORD);

	if (!buffer)
		return -ENOMEM;
	memset(s->table, 0, s->n_table * sizeof(*s->table));
	s->n_used = 0;
	s->n_fingerprints = 0;
	for (uint64_t slot = 0; slot < ring_slots(s->ring);) {
		long n = ring_read_slots(s->ring, slot, buffer, SCAN_SLOTS);

		if (n < 0)
			return (int)n;
		for (long i = 0; i < n; i++) {
			const uint8_t *record = buffer + i * RING_RECORD;
			struct piece p;

			memcpy(&p, record + RING_BODY, sizeof(p));
			if (p.number == 0 && ring_check(s->ring, slot + (uint64_t)i, record) != 0 &&
			    note_piece(s, &p, slot + (uint64_t)i) < 0)
				return -ENOMEM;
		}
		slot += (uint64_t)n;
	}
	return 0;
}

int side_open(int directory, const char *name, const struct ring_options *options,
	      struct side **ret, struct ring_report *ret_report, struct fail *f)
{
	_cleanup_(side_closep) struct side *s = calloc(1, sizeof(*s));
	struct ring_options own = *options;
	int r;

	if (!s)
		return fail_oom(f);
	own.kind = SIDE_KIND;
	r = ring_open(directory, name, &own, &s->ring, ret_report, f);
	if (r < 0)
		return r;
	/* At most half full: twice as many as slots, of 4 bytes each. */
	s->n_table = 1;
	while (s->n_table < 2 * ring_slots(s->ring))
		s->n_table *= 2;
	s->table = calloc(s->n_table, sizeof(*s->table));
	if (!s->table)
		return fail_oom(f);
	r = fill_table(s);
	if (r < 0)
		return fail_set(f, SCHEDLAB_ERROR_STORE_UNAVAILABLE, "cannot read the store %s: %s",
				name, strerror(-r));
	*ret = TAKE_PTR(s);
	return 0;
}

struct side *side_close(struct side *s)
{
	if (!s)
		return NULL;
	ring_close(s->ring);
	free(s->table);
	free(s->fingerprints);
	free(s);
	return NULL;
}

/* The newest whole first piece of @key in the table: its sequence, or 0. */
static uint64_t find(const struct side *s, uint64_t key, struct piece *ret)
{
	uint64_t best = 0;

	for (size_t at = key & (s->n_table - 1); s->table[at] != 0;
	     at = (at + 1) & (s->n_table - 1)) {
		uint8_t record[RING_RECORD];
		uint64_t slot = s->table[at] - 1, sequence;
		struct piece p;

		if (ring_read_slots(s->ring, slot, record, 1) != 1)
			continue;
		sequence = ring_check(s->ring, slot, record);
		memcpy(&p, record + RING_BODY, sizeof(p));
		if (sequence <= best || le64toh(p.key) != key || p.number != 0)
			continue;
		best = sequence;
		*ret = p;
	}
	return best;
}

/* All pieces of the entry that begins with @first at @sequence. */
static int collect(const struct side *s, uint64_t key, uint64_t sequence, const struct piece *first,
		   void **ret, size_t *ret_size)
{
	uint16_t pieces = le16toh(first->pieces);
	_cleanup_free_ uint8_t *bytes = malloc((size_t)pieces * PIECE_SIZE + 1);
	size_t size = 0;

	if (pieces > PIECES_MAX)
		return -ENOENT;
	if (!bytes)
		return -ENOMEM;
	for (uint16_t i = 0; i < pieces; i++) {
		struct piece p;

		if (ring_read(s->ring, sequence + i, &p) < 0 || le64toh(p.key) != key ||
		    le16toh(p.number) != i || le16toh(p.size) > PIECE_SIZE)
			return -ENOENT;
		memcpy(bytes + size, p.bytes, le16toh(p.size));
		size += le16toh(p.size);
	}
	/* The key tells that it is what was put. */
	if (hash_entry((enum side_type)le16toh(first->type), bytes, size) != key)
		return -ENOENT;
	bytes[size] = '\0';
	*ret = TAKE_PTR(bytes);
	*ret_size = size;
	return 0;
}

int side_get(const struct side *s, uint64_t key, void **ret, size_t *ret_size,
	     enum side_type *ret_type)
{
	struct piece first;
	uint64_t sequence = find(s, key, &first);
	size_t size;
	int r;

	if (sequence == 0)
		return -ENOENT;
	r = collect(s, key, sequence, &first, ret, &size);
	if (r < 0)
		return r;
	if (ret_size)
		*ret_size = size;
	if (ret_type)
		*ret_type = (enum side_type)le16toh(first.type);
	return 0;
}

int side_each_fingerprint(const struct side *s,
			  int (*visit)(const void *bytes, size_t size, void *userdata),
			  void *userdata)
{
	int r = 0;

	for (size_t i = 0; i < s->n_fingerprints && r >= 0; i++) {
		_cleanup_free_ void *bytes = NULL;
		size_t size;

		if (side_get(s, s->fingerprints[i], &bytes, &size, NULL) >= 0)
			r = visit(bytes, size, userdata);
	}
	return r;
}

const struct ring *side_ring(const struct side *s)
{
	return s->ring;
}

/* There, whole, and not among the next to be overwritten. */
static bool is_safe(const struct side *s, uint64_t key)
{
	_cleanup_free_ void *bytes = NULL;
	struct piece first;
	uint64_t sequence = find(s, key, &first);
	size_t size;

	return sequence != 0 && ring_next(s->ring) - sequence < ring_slots(s->ring) / 2 &&
	       collect(s, key, sequence, &first, &bytes, &size) == 0;
}

static int append(struct side *s, enum side_type type, uint64_t key, const uint8_t *bytes,
		  size_t size, struct fail *f)
{
	size_t pieces = size == 0 ? 1 : (size + PIECE_SIZE - 1) / PIECE_SIZE;

	for (size_t i = 0; i < pieces; i++) {
		size_t length = MIN_OF(size - i * PIECE_SIZE, (size_t)PIECE_SIZE);
		struct piece p = { .key = htole64(key),
				   .type = htole16((uint16_t)type),
				   .number = htole16((uint16_t)i),
				   .pieces = htole16((uint16_t)pieces),
				   .size = htole16((uint16_t)length) };
		uint64_t sequence;
		int r;

		memcpy(p.bytes, bytes + i * PIECE_SIZE, length);
		r = ring_append(s->ring, &p, &sequence, f);
		if (r < 0)
			return r;
		if (i == 0 && note_piece(s, &p, sequence % ring_slots(s->ring)) < 0)
			return fail_oom(f);
	}
	return 0;
}

int side_put(struct side *s, enum side_type type, const void *bytes, size_t size, uint64_t *ret_key,
	     struct fail *f)
{
	int r;

	if (size > SIDE_SIZE_MAX || size / PIECE_SIZE >= ring_slots(s->ring) / 4)
		return fail_set(f, SCHEDLAB_ERROR_LIMITS_EXCEEDED,
				"%zu bytes are too many for an entry of the store", size);
	*ret_key = hash_entry(type, bytes, size);
	if (is_safe(s, *ret_key))
		return 0;
	/* What was overwritten stays in the table until it is made anew. */
	if (s->n_used >= ring_slots(s->ring) && fill_table(s) < 0)
		return fail_oom(f);
	r = append(s, type, *ret_key, bytes, size, f);
	return r;
}

int side_sync(struct side *s, struct fail *f)
{
	return ring_sync(s->ring, f);
}
