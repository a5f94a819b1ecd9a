/* SPDX-License-Identifier: MIT */
/*
 * The daemon's configuration: files to sections; each module is handed its own section.
 *
 * A module publishes the keys it knows (struct config_spec); nothing else reads files. Drop-ins
 * (*.conf in <file minus extension>'s conf.d directory, in the order of their names) override keys
 * of the main file one by one.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/fail.h"
#include "util/macro.h"

struct config_spec {
	const char *section;
	const char *const *keys;
	size_t n_keys;
};

struct config;

/*
 * Reads @path and its drop-ins: for "/etc/schedlab/schedlabd.conf" those in "/etc/schedlab/conf.d".
 * A main file that does not exist is an empty one unless @must_exist. An unknown section or key, a
 * key given twice in one file, or a syntax error is InvalidArgument with file, line, key and what
 * is accepted.
 */
int config_load(const char *path, bool must_exist, const struct config_spec *specs, size_t n_specs,
		struct config **ret, struct fail *f);
struct config *config_free(struct config *c);
DEFINE_CLEANUP(struct config *, config_free);

/* The value, or NULL where it is not set. */
const char *config_get(const struct config *c, const char *section, const char *key);

/*
 * Typed reading, for modules: *@ret stays as it is where the key is not set. A bad value fails with
 * "file:line: key: ...". @c may be NULL.
 */
int config_get_u64(const struct config *c, const char *section, const char *key, uint64_t min,
		   uint64_t max, uint64_t *ret, struct fail *f);
int config_get_time(const struct config *c, const char *section, const char *key, uint64_t min_ns,
		    uint64_t max_ns, uint64_t *ret_ns, struct fail *f);
int config_get_size(const struct config *c, const char *section, const char *key, uint64_t min,
		    uint64_t max, uint64_t *ret, struct fail *f);
int config_get_bool(const struct config *c, const char *section, const char *key, bool *ret,
		    struct fail *f);
