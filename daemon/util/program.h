/* SPDX-License-Identifier: MIT */
/*
 * Where our other programs are.
 */
#pragma once

#include "util/fail.h"

/* The path of program @name: beside this program, else in @directory, where it is installed. Never by
 * the environment. The caller frees it. */
int program_find(const char *name, const char *directory, char **ret, struct fail *f);
