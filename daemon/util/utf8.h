/* SPDX-License-Identifier: MIT */
/*
 * Texts that come from elsewhere, made fit for a terminal, a log and a bus.
 */
#pragma once

/* Puts '?' in the place of each control character (C0, DEL, C1) and of each byte that is not part of valid
 * UTF-8 (RFC 3629: no overlong forms, no surrogates). */
void utf8_clean(char *text);
