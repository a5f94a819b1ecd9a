/* SPDX-License-Identifier: MIT */
/*
 * The fingerprint: what was measured, so that nobody has to ask "what x86 did you test?".
 *
 * Each field has a value or the reason why there is none. Identity fields (CPU, microcode, topology,
 * kernel, command line, mitigations, firmware, virtualisation) make the id: two records with one id
 * come from the same machine in the same state. The others (drivers and governors of idle states and
 * frequency, clock source, ...) may change while a machine runs and stand beside it.
 */
#pragma once

#include <jansson.h>

#include "topology/topology.h"

#define FINGERPRINT_ID_MAX 17 /* XXH3, 16 hexadecimal digits */

struct fingerprint_field {
	const char *key;
	bool identity;
	char *value;   /* NULL where unavailable */
	char *why_not; /* then the reason */
};

struct fingerprint {
	char id[FINGERPRINT_ID_MAX];
	struct fingerprint_field *fields;
	size_t n_fields;
};

/* Reads the machine below @k that @t describes. Never fails but for memory: see why_not. */
int fingerprint_read(const struct kernfs *k, const struct topology *t, struct fingerprint **ret,
		     struct fail *f);
struct fingerprint *fingerprint_free(struct fingerprint *fp);
DEFINE_CLEANUP(struct fingerprint *, fingerprint_free);

/* The value of a field, or NULL. */
const char *fingerprint_get(const struct fingerprint *fp, const char *key);

/* {"id", "fields": {key: value}, "unavailable": {key: why}}; a new reference, NULL without memory. */
json_t *fingerprint_to_json(const struct fingerprint *fp);
