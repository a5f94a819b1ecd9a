/* SPDX-License-Identifier: MIT */
/*
 * Another file in the place of one: with the newest records of the old one, or with none.
 *
 * The new file is written under another name, synced, and renamed: whenever that stops, one of the two is
 * there, whole.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "store/internal.h"
#include "util/log.h"

#define COPY_SLOTS 512

/* The records @first.. of @from, in their order, with their sequences. Those that are not whole stay. */
static int copy_records(const struct ring *from, struct ring *to, uint64_t first, struct fail *f)
{
	_cleanup_free_ uint8_t *buffer = malloc((size_t)COPY_SLOTS * RING_RECORD);
	uint64_t at = first, end = ring_next(from);

	if (!buffer)
		return fail_oom(f);
	while (at < end) {
		uint64_t slot = at % ring_slots(from);
		long n = ring_read_slots(from, slot, buffer,
					 (size_t)MIN_OF(end - at, (uint64_t)COPY_SLOTS));

		if (n <= 0)
			return fail_set(f, SCHEDLAB_ERROR_STORE_UNAVAILABLE,
					"cannot read the store: %s", strerror((int)-n));
		for (long i = 0; i < n; i++, at++) {
			const uint8_t *record = buffer + i * RING_RECORD;

			if (ring_check(from, slot + (uint64_t)i, record) != at)
				continue;
			ring_continue_after(to, at - 1);
			if (ring_append(to, record + RING_BODY, NULL, f) < 0)
				return -EIO;
		}
	}
	return 0;
}

/* @name with @slots slots, from @old or empty. */
static int replace_file(struct store *s, const char *name, const struct ring *old, uint16_t kind,
			uint64_t slots, bool carry, struct fail *f)
{
	_cleanup_(ring_closep) struct ring *new = NULL;
	struct ring_options options = store_ring_options(s, slots, false);
	struct ring_report report;
	char new_name[64];
	uint64_t next = ring_next(old);
	int r;

	(void)snprintf(new_name, sizeof(new_name), "%s" STORE_NEW, name);
	/* Of a time when this did not come to its end. */
	if (unlinkat(s->directory, new_name, 0) < 0 && errno != ENOENT)
		return fail_set(f, SCHEDLAB_ERROR_STORE_UNAVAILABLE, "cannot remove %s/%s: %s",
				s->path, new_name, strerror(errno));
	options.kind = kind;
	r = ring_open(s->directory, new_name, &options, &new, &report, f);
	if (r >= 0 && carry)
		r = copy_records(old, new, MAX_OF(ring_first(old), next > slots ? next - slots : 1),
				 f);
	if (r >= 0)
		r = ring_sync(new, f);
	if (r >= 0 &&
	    (renameat(s->directory, new_name, s->directory, name) < 0 || fsync(s->directory) < 0))
		r = fail_set(f, SCHEDLAB_ERROR_STORE_UNAVAILABLE, "cannot replace %s/%s: %s",
			     s->path, name, strerror(errno));
	if (r < 0)
		(void)unlinkat(s->directory, new_name, 0);
	return r;
}

static int replace_side(struct store *s, uint64_t slots, bool carry, struct fail *f)
{
	return replace_file(s, STORE_SIDE_FILE, side_ring(s->side), SIDE_KIND,
			    MAX_OF(slots / STORE_SIDE_SHARE, (uint64_t)RING_SLOTS_MIN), carry, f);
}

static int replace_files(struct store *s, uint64_t slots, bool carry, struct fail *f)
{
	struct fail ignored = { 0 };
	int r = 0;

	/* Whenever it stops in between, no record is without its texts. */
	if (slots > ring_slots(s->ring))
		r = replace_side(s, slots, carry, f);
	if (r >= 0)
		r = replace_file(s, STORE_FILE, s->ring, STORE_KIND, slots, carry, f);
	if (r >= 0 && slots <= ring_slots(s->ring))
		r = replace_side(s, slots, carry, f);
	store_close(s);
	if (store_open_files(s, r < 0 ? &ignored : f) < 0)
		return -EIO;
	return r;
}

int store_resize(struct store *s, uint64_t size, struct fail *f)
{
	int r;

	if (s->size != 0 && size != s->size)
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
				"the configuration says store-size = %ju bytes, and the next start "
				"would go back to it: change it there, and restart the daemon",
				(uintmax_t)s->size);
	r = store_open_quietly(s, f);
	return r < 0 ? r : replace_files(s, size / RING_RECORD, true, f);
}

int store_clear(struct store *s, uint64_t *ret, struct fail *f)
{
	struct ring_report report;
	int r = store_open_quietly(s, f);

	if (r < 0)
		return r;
	if (ring_count(s->ring, &report) < 0)
		report.whole = 0;
	r = replace_files(s, ring_slots(s->ring), false, f);
	if (r >= 0)
		*ret = report.whole;
	return r;
}
