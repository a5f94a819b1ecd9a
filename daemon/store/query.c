/* SPDX-License-Identifier: MIT */
/*
 * A scan over the ring in the order of sequences.
 */
#include "store/query.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#define PIECE_SLOTS 512 /* 256 KiB: fits the second cache level */

static uint64_t sequence_of(const uint8_t *record)
{
	uint64_t sequence;

	memcpy(&sequence, record, sizeof(sequence));
	return le64toh(sequence);
}

static bool is_one_of(uint64_t fingerprint, const struct query_filter *q)
{
	for (size_t i = 0; i < q->n_fingerprints; i++)
		if (q->fingerprints[i] == fingerprint)
			return true;
	return false;
}

static bool is_in_classes(const struct record_key *key, const struct query_filter *q)
{
	for (size_t i = 0; i < q->n_classes; i++)
		if (strncmp(key->class_id, q->classes[i], RECORD_CLASS) == 0)
			return true;
	return q->n_classes == 0;
}

static bool is_in_pairs(const struct record_key *key, const struct query_filter *q)
{
	for (size_t i = 0; i < q->n_pairs; i++)
		if (key->waker == q->pairs[i].waker && key->wakee == q->pairs[i].wakee)
			return true;
	return q->n_pairs == 0;
}

/* By the bytes alone: most records are passed by, and need no decoding. */
static bool fits(const uint8_t *body, const struct query_filter *q)
{
	struct record_key key;

	record_read_key(body, &key);
	return (q->kinds == 0 || (key.kind < 32 && q->kinds >> key.kind & 1)) &&
	       key.realtime_ns >= q->since_ns &&
	       (q->until_ns == 0 || key.realtime_ns < q->until_ns) &&
	       (!q->benchmark || strncmp(key.benchmark, q->benchmark, RECORD_BENCHMARK) == 0) &&
	       is_in_classes(&key, q) && is_in_pairs(&key, q) &&
	       (q->job == 0 || key.job == q->job) &&
	       (q->experiment == 0 || key.experiment == q->experiment) &&
	       (!q->by_fingerprint || is_one_of(key.fingerprint, q)) &&
	       (q->parameters == 0 || key.parameters == q->parameters) &&
	       (q->arm < 0 || key.arm == q->arm);
}

struct page {
	const struct ring *ring;
	const struct query_filter *filter;
	uint64_t limit;
	query_visit visit;
	void *userdata;
	struct query_counts counts;
};

/* One slot that should hold @sequence. What lies there of another lap was visited, or will not be. */
static int look(struct page *p, uint64_t sequence, const uint8_t *slot)
{
	struct record record;

	if (sequence_of(slot) != sequence || !fits(slot + RING_BODY, p->filter))
		return 0;
	if (ring_check(p->ring, sequence % ring_slots(p->ring), slot) != sequence) {
		p->counts.rotten++;
		return 0;
	}
	if (!record_decode(slot + RING_BODY, &record))
		return 0;
	record.sequence = sequence;
	p->counts.fitting++;
	return p->visit(&record, p->userdata);
}

int query_page(const struct ring *r, const struct query_filter *filter, uint64_t *cursor,
	       uint64_t limit, query_visit visit, void *userdata, struct query_counts *ret,
	       struct fail *f)
{
	_cleanup_free_ uint8_t *buffer = malloc((size_t)PIECE_SLOTS * RING_RECORD);
	struct page page = { .ring = r,
			     .filter = filter,
			     .limit = limit ? limit : UINT64_MAX,
			     .visit = visit,
			     .userdata = userdata };
	uint64_t at = MAX_OF(*cursor, ring_first(r)), end = ring_next(r);
	int e = 0;

	if (!buffer)
		return fail_oom(f);
	if (at < end)
		end = MIN_OF(end, at + QUERY_SLOTS_MAX);
	while (at < end && page.counts.fitting < page.limit && e >= 0) {
		uint64_t slot = at % ring_slots(r);
		long n = ring_read_slots(r, slot, buffer, MIN_OF(end - at, (uint64_t)PIECE_SLOTS));

		if (n <= 0)
			return fail_set(f, SCHEDLAB_ERROR_STORE_UNAVAILABLE,
					"cannot read the store: %s", strerror((int)-n));
		for (long i = 0; i < n && page.counts.fitting < page.limit && e >= 0; i++, at++)
			e = look(&page, at, buffer + i * RING_RECORD);
	}
	*cursor = at;
	*ret = page.counts;
	return e;
}
