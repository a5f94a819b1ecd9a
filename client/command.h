/* SPDX-License-Identifier: MIT */
/*
 * Commands for people to copy.
 */
#pragma once

/* @text as one word of a shell: in quotes where it needs them. The caller frees it; NULL without memory. */
char *command_quote(const char *text);

/* @file as a word that tar takes for a file: of a name alone, a colon would end that of another host. */
char *command_quote_archive(const char *file);

/*
 * @sentence with each "'schedlabctl VERB" in it as "'@command VERB". What has an option there, as in
 * "'schedlabctl --system VERB", says itself which daemon it means and stays. The caller frees it; NULL
 * without memory.
 */
char *command_in_sentence(const char *sentence, const char *command);
