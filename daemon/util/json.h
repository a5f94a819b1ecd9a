/* SPDX-License-Identifier: MIT */
/*
 * How all our JSON is written: compact, reals to twelve digits (more is noise of no measurement).
 */
#pragma once

#include <jansson.h>

#define JSON_WRITE (JSON_COMPACT | JSON_REAL_PRECISION(12))
