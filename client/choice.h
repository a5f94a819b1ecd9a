/* SPDX-License-Identifier: MIT */
/*
 * Which classes and pairs are meant: options that measure and history share, and how they are sent.
 */
#pragma once

#include <schedlab/limits.h>
#include <stdint.h>
#include <systemd/sd-bus.h>

#include "util/fail.h"

struct choice {
	const char *classes[MEASURE_CLASSES_MAX];
	size_t n_classes;
	struct {
		uint32_t waker, wakee;
	} pairs[MEASURE_PAIRS_MAX];
	size_t n_pairs;
};

/* --class: "l3,core"; ids hold no comma. The texts live as long as the program. */
int choice_add_classes(struct choice *c, const char *list, struct fail *f);

/* --pair: "0-1". */
int choice_add_pair(struct choice *c, const char *text, struct fail *f);

/* The pairs as the entry {"pairs": a(uu)} of an a{sv}. */
int choice_append_pairs(const struct choice *c, sd_bus_message *call);

/* An array of texts, and the entry {@key: as} of an a{sv}. */
int choice_append_texts(sd_bus_message *call, const char *const *texts, size_t n);
int choice_append_list(sd_bus_message *call, const char *key, const char *const *texts, size_t n);
