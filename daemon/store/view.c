/* SPDX-License-Identifier: MIT */
/*
 * Looking at the store, also where another daemon writes it; and at all of it, slot by slot.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <schedlab/names.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/internal.h"
#include "util/clock.h"
#include "util/lock.h"

#define SEEN_NS (2 * NSEC_PER_SEC)

void store_look_away(struct store *s)
{
	s->seen_ring = ring_close(s->seen_ring);
	s->seen_side = side_close(s->seen_side);
	s->seen_writer[0] = '\0';
}

/* What another writes, as it is now. */
static int open_view(struct store *s, struct fail *f)
{
	struct ring_options options = store_ring_options(s, 0, true);
	struct ring_report report;
	int r;

	if (s->path && access(s->path, F_OK) < 0 && errno == ENOENT)
		return 0;
	r = store_open_directory(s, false, f);
	if (r < 0)
		return r;
	if (faccessat(s->directory, STORE_FILE, F_OK, 0) < 0 && errno == ENOENT)
		return 0;
	r = ring_open(s->directory, STORE_FILE, &options, &s->seen_ring, &report, f);
	if (r < 0)
		return r;
	s->seen_ns = clock_monotonic_ns();
	lock_holder(ring_fd(s->seen_ring), s->seen_writer, sizeof(s->seen_writer));
	/* Records can be read without the texts that belong to them. */
	(void)side_open(s->directory, STORE_SIDE_FILE, &options, &s->seen_side, &report, NULL);
	return 0;
}

int store_look(struct store *s, struct store_view *ret, struct fail *f)
{
	int r = 0;

	*ret = (struct store_view){ .ring = s->ring, .side = s->side };
	if (s->ring)
		return 0;
	if (!s->seen_ring || clock_monotonic_ns() - s->seen_ns > SEEN_NS) {
		store_look_away(s);
		r = open_view(s, f);
	}
	*ret = (struct store_view){ .ring = s->seen_ring,
				    .side = s->seen_side,
				    .writer = s->seen_writer[0] ? s->seen_writer : NULL };
	return r;
}

json_t *store_view_json(const struct store_view *v, uint64_t key)
{
	_cleanup_free_ void *text = NULL;
	size_t size;

	if (!v->side || key == 0 || side_get(v->side, key, &text, &size, NULL) < 0)
		return NULL;
	return json_loadb(text, size, JSON_DECODE_ANY, NULL);
}

/* What a walk over all records finds. */
struct walk {
	uint64_t kinds[RECORD_JOB + 1], oldest_ns, newest_ns, last_ns, steps_back;
};

static int count_record(const struct record *record, void *userdata)
{
	struct walk *w = userdata;

	w->kinds[record->kind]++;
	if (w->oldest_ns == 0 || record->realtime_ns < w->oldest_ns)
		w->oldest_ns = record->realtime_ns;
	if (record->realtime_ns > w->newest_ns)
		w->newest_ns = record->realtime_ns;
	w->steps_back += record->realtime_ns < w->last_ns;
	w->last_ns = record->realtime_ns;
	return 0;
}

static json_t *kinds_to_json(const struct walk *w)
{
	json_t *kinds = json_object();

	for (size_t i = 0; i < ELEMENTSOF(w->kinds); i++)
		if (w->kinds[i] > 0)
			json_object_set_new(kinds, record_kind_name((enum record_kind)i),
					    json_integer((json_int_t)w->kinds[i]));
	return kinds;
}

static json_t *usec_or_null(uint64_t ns)
{
	return ns ? json_integer((json_int_t)(ns / NSEC_PER_USEC)) : json_null();
}

static int add_counts(json_t *root, const struct ring *ring)
{
	struct ring_report report;
	int r = ring_count(ring, &report);

	if (r < 0)
		return r;
	json_object_set_new(root, "slots", json_integer((json_int_t)ring_slots(ring)));
	json_object_set_new(root, "whole", json_integer((json_int_t)report.whole));
	json_object_set_new(root, "torn", json_integer((json_int_t)report.rotten));
	json_object_set_new(root, "empty", json_integer((json_int_t)report.empty));
	json_object_set_new(root, "bytes", json_integer((json_int_t)ring_bytes(ring)));
	return 0;
}

/* Files that could not be used. */
static json_t *list_set_aside(const struct store *s)
{
	json_t *list = json_array();
	DIR *directory = opendir(s->path);
	struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		struct stat st;

		if ((strstr(entry->d_name, ".set-aside-") || strstr(entry->d_name, ".machine-")) &&
		    fstatat(dirfd(directory), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
			json_array_append_new(list, json_pack("{s:s, s:I}", "name", entry->d_name,
							      "bytes", (json_int_t)st.st_size));
	}
	if (directory)
		(void)closedir(directory);
	return list;
}

static int walk_all(const struct ring *ring, struct walk *w, struct fail *f)
{
	struct query_filter all = query_any();
	uint64_t cursor = 0;
	int r = 0;

	while (cursor < ring_next(ring) && r >= 0) {
		struct query_counts counts;

		r = query_page(ring, &all, &cursor, 0, count_record, w, &counts, f);
	}
	return r;
}

int store_check(struct store *s, json_t **ret, struct fail *f)
{
	struct store_view v;
	_cleanup_(json_decrefp) json_t *known = store_to_json(s), *side = json_object();
	_cleanup_(json_decrefp) json_t *root =
		json_pack("{s:s}", "schema", SCHEDLAB_SCHEMA("store"));
	struct walk w = { 0 };
	int r = store_look(s, &v, f);

	if (r >= 0 && v.ring)
		r = walk_all(v.ring, &w, f);
	if (r < 0)
		return r;
	json_object_update(root, known);
	if ((v.ring && add_counts(root, v.ring) < 0) ||
	    (v.side && add_counts(side, side_ring(v.side)) < 0))
		return fail_set(f, SCHEDLAB_ERROR_STORE_UNAVAILABLE, "the store cannot be read");
	json_object_set_new(root, "oldest_usec", usec_or_null(w.oldest_ns));
	json_object_set_new(root, "newest_usec", usec_or_null(w.newest_ns));
	json_object_set_new(root, "next_sequence",
			    json_integer(v.ring ? (json_int_t)ring_next(v.ring) : 1));
	json_object_set_new(root, "kinds", kinds_to_json(&w));
	json_object_set_new(root, "clock_steps_back", json_integer((json_int_t)w.steps_back));
	json_object_set_new(root, "superblocks",
			    v.ring ? json_integer(ring_superblocks(v.ring)) : json_null());
	json_object_set(root, "side", v.side ? side : json_null());
	json_object_set_new(root, "set_aside", s->path ? list_set_aside(s) : json_array());
	*ret = TAKE_PTR(root);
	return 0;
}
