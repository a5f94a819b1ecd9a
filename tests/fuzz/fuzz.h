/* SPDX-License-Identifier: MIT */
/*
 * What every fuzz target shares. An input is bytes; most of our readers take a text.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/macro.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The input with a NUL behind it. */
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

/* What must hold. */
static inline void fuzz_check(int condition)
{
	if (!condition)
		abort();
}
