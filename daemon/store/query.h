/* SPDX-License-Identifier: MIT */
/*
 * Asking the store: records by what they are, oldest first, a page at a time.
 *
 * Records are read in large pieces and looked at where they lie; only those that fit are checked and
 * decoded, and none that is not whole is served. A page costs memory for one piece, whatever the size of
 * the store, and records may be appended between pages.
 */
#pragma once

#include "store/record.h"

struct query_pair {
	uint32_t waker, wakee;
};

/* What is asked for. Zeroed, with query_any() for the rest, it fits all. */
struct query_filter {
	uint64_t since_ns, until_ns; /* CLOCK_REALTIME, from since to before until; 0: no bound */
	uint32_t kinds;              /* bit (1 << kind); 0: all */
	const char *benchmark;       /* NULL: all */
	const char *const *classes;  /* one of these ids; none: all */
	size_t n_classes;
	const struct query_pair *pairs; /* one of these; none: all */
	size_t n_pairs;
	uint64_t job, experiment, parameters; /* 0: all */
	bool by_fingerprint;
	const uint64_t *fingerprints; /* then: one of these */
	size_t n_fingerprints;
	int32_t arm; /* below 0: all */
};

/* Fits all. */
static inline struct query_filter query_any(void)
{
	return (struct query_filter){ .arm = -1 };
}

/* For each that fits; a negative return ends the page with it. */
typedef int (*query_visit)(const struct record *record, void *userdata);

struct query_counts {
	uint64_t fitting; /* records that were visited */
	uint64_t rotten;  /* slots on the way that hold no whole record, and would have fitted */
};

#define QUERY_SLOTS_MAX \
	(UINT64_C(1) << 18) /* that one page looks at: half a second of a cold disk */

/*
 * Visits up to @limit records that fit (0: all), in the order of their sequences, beginning with sequence
 * *@cursor (0: the oldest). *@cursor is where the next page begins: at ring_next() there is no more. A page
 * ends early after QUERY_SLOTS_MAX slots.
 */
int query_page(const struct ring *r, const struct query_filter *filter, uint64_t *cursor,
	       uint64_t limit, query_visit visit, void *userdata, struct query_counts *ret,
	       struct fail *f);
