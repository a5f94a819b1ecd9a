/* SPDX-License-Identifier: MIT */
/*
 * Long output on a terminal goes through a pager.
 */
#pragma once

#include <stdbool.h>

/* From here on standard output goes to $PAGER or `less`, if it is a terminal and @wanted. An empty
 * PAGER or `cat` is none. */
void pager_open(bool wanted);
/* Waits until the reader has left. */
void pager_close(void);
