/* SPDX-License-Identifier: MIT */
/*
 * The daemon's log: standard error, which systemd takes into the journal.
 */
#pragma once

#include <syslog.h>

#include "util/fail.h"

/* What is logged: LOG_ERR .. LOG_DEBUG. The default is LOG_NOTICE. */
void log_set_level(int level);
int log_get_level(void);

/* "err", "warning", "notice", "info", "debug". */
int log_parse_level(const char *text, int *ret, struct fail *f);

/* Under systemd (JOURNAL_STREAM is set) lines begin with "<priority>", elsewhere with the name. */
void log_line(int level, const char *format, ...) _printf_(2, 3);

#define log_error(...)   log_line(LOG_ERR, __VA_ARGS__)
#define log_warning(...) log_line(LOG_WARNING, __VA_ARGS__)
#define log_notice(...)  log_line(LOG_NOTICE, __VA_ARGS__)
#define log_info(...)    log_line(LOG_INFO, __VA_ARGS__)
#define log_debug(...)   log_line(LOG_DEBUG, __VA_ARGS__)
