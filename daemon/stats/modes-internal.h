/* SPDX-License-Identifier: MIT */
/*
 * What the files of modes share.
 */
#pragma once

#include "stats/modes.h"

/* The dip of positions @work[].at, in ascending order, for @n > 0. */
double modes_dip_of(struct modes_work *work, size_t n);

/* The dip, times the root of @n, that one mode reaches at worst so often (see modes-dip.c). */
#define MODES_TABLE_LEVELS 12
extern const double modes_table_level[MODES_TABLE_LEVELS];

struct modes_table_row {
	size_t n;
	double dip[MODES_TABLE_LEVELS];
};
extern const struct modes_table_row modes_table[];
extern const size_t modes_table_rows;
