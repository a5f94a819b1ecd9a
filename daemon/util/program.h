/* SPDX-License-Identifier: MIT */
/*
 * Where our other programs are.
 */
#pragma once

#include "util/fail.h"

/* The path of program @name: beside this program, else in @directory, where it is installed. Never by
 * the environment. The caller frees it. */
int program_find(const char *name, const char *directory, char **ret, struct fail *f);

/* Ends this program when it has printed all that was wanted (--help): with a sentence and status 1 where
 * that could not be written. */
_Noreturn void program_end_printed(const char *name);
