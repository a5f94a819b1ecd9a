/* SPDX-License-Identifier: MIT */
/*
 * The result of a measurement (schema "schedlab.measure/1") as tables.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

/* One table for each benchmark, with all metrics or the main ones; then what to know about them. */
void result_print(const json_t *root, bool all_metrics);
