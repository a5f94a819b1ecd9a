/* SPDX-License-Identifier: MIT */
/*
 * Opening the store to write, and what the last writer could not write.
 */
#include <inttypes.h>

#include "measure/recall.h"
#include "util/log.h"

static int take(const struct record *record, void *userdata)
{
	*(struct record *)userdata = *record;
	return 0;
}

/* The newest record of a job's begin or end; @ret stays where there is none. */
static int find_last(const struct ring *ring, struct record *ret, struct fail *f)
{
	struct query_filter q = query_any();
	uint64_t cursor = 0;
	int r = 0;

	q.kinds = 1U << RECORD_JOB;
	while (cursor < ring_next(ring) && r >= 0) {
		struct query_counts counts;

		r = query_page(ring, &q, &cursor, 0, take, ret, &counts, f);
	}
	return r;
}

/* What the daemon that was killed would have written. */
static int end_lost(struct store *s, struct fail *f)
{
	_cleanup_(json_decrefp) json_t *job = NULL, *about = NULL;
	struct record last = { 0 }, end;
	struct store_view view;
	int r = store_look(s, &view, f);

	if (r >= 0)
		r = find_last(view.ring, &last, f);
	/* One job measures at a time: only the last can be without its end. */
	if (r < 0 || last.kind != RECORD_JOB || last.flags & RECORD_ENDED)
		return r;
	r = recall_job(&view, last.job, &job, f);
	about = store_view_json(&view, last.text_key);
	if (r < 0 || !about)
		return r;
	json_object_set_new(about, "state", json_string("failed"));
	json_object_set_new(about, "why", json_string(RECALL_LOST));
	json_object_set_new(about, "lost", json_true());
	json_object_set(about, "rounds_done", json_object_get(job, "rounds_done"));
	json_object_set(about, "store", json_object_get(job, "store"));
	end = (struct record){ .kind = RECORD_JOB,
			       .flags = RECORD_ENDED,
			       .job = last.job,
			       .fingerprint = last.fingerprint,
			       .plan_key = last.plan_key,
			       .waker = RECORD_NO_CPU,
			       .wakee = RECORD_NO_CPU };
	end.text_key = store_put_json(s, SIDE_TEXT, json_incref(about));
	log_notice("job %" PRIu64 " had not ended when its daemon did", last.job);
	return store_append(s, &end, f);
}

int recall_open(struct store *s, struct fail *f)
{
	struct fail own;
	int r = store_open(s, f);

	if (r > 0 && end_lost(s, &own) < 0)
		log_warning("what the last daemon left is not tidied up: %s", own.message);
	return r;
}
