/* SPDX-License-Identifier: MIT */
/*
 * "Did you mean ...?" for names that people mistype.
 */
#pragma once

#include <stddef.h>

/*
 * The name in @names (@n of them) that is nearest to @typed, or NULL if none is near: at most a
 * third of the letters may be wrong, missing, added or swapped with their neighbour.
 */
const char *suggest_name(const char *typed, const char *const *names, size_t n);

/* The end of a sentence: "; did you mean 'x'? There are: x, y, z". The caller frees it. */
char *suggest_sentence(const char *typed, const char *const *names, size_t n);
