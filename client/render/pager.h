/* SPDX-License-Identifier: MIT */
/*
 * Long output on a terminal goes through a pager.
 */
#pragma once

#include <stdbool.h>

/* From here on standard output goes to `less`, if it is a terminal, @wanted, and there is a less. */
void pager_open(bool wanted);
/* Waits until the reader has left. */
void pager_close(void);
