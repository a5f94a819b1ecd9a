/* SPDX-License-Identifier: MIT */
/*
 * Points in time, read strictly.
 */
#include "when.h"

#include <ctype.h>
#include <math.h>
#include <schedlab/units.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>
#include <time.h>

/* Why a text is no time. */
enum fault { FAULT_NONE, FAULT_SYNTAX, FAULT_CALENDAR, FAULT_SKIPPED, FAULT_RANGE };

#define SECONDS_MAX 253402300799.0 /* the last one of the year 9999 */
#define HALF_HOURS  48             /* in a day */

static const struct {
	const char *name;
	double seconds;
} units[] = {
	{ "", 1 },         { "ms", 0.001 },    { "s", 1 },          { "sec", 1 },
	{ "second", 1 },   { "seconds", 1 },   { "m", 60 },         { "min", 60 },
	{ "minute", 60 },  { "minutes", 60 },  { "h", 3600 },       { "hour", 3600 },
	{ "hours", 3600 }, { "d", 86400 },     { "day", 86400 },    { "days", 86400 },
	{ "w", 604800 },   { "week", 604800 }, { "weeks", 604800 },
};

/* They may stand alone, for the first moment of the day, or before a time of it. */
static const struct {
	const char *name;
	int days;
} words[] = {
	{ "yesterday", -1 },
	{ "today", 0 },
	{ "tomorrow", 1 },
};

static const char *skip_blanks(const char *p)
{
	while (isspace((unsigned char)*p))
		p++;
	return p;
}

/* Digits, and perhaps a point with digits behind it. */
static bool read_number(const char **p, double *ret)
{
	double place = 1;

	*ret = 0;
	if (!isdigit((unsigned char)**p))
		return false;
	for (; isdigit((unsigned char)**p); (*p)++)
		*ret = *ret * 10 + (**p - '0');
	if (**p != '.')
		return true;
	(*p)++;
	if (!isdigit((unsigned char)**p))
		return false;
	for (; isdigit((unsigned char)**p); (*p)++)
		*ret += (place /= 10) * (**p - '0');
	return true;
}

static bool read_digits(const char **p, int n, int *ret)
{
	*ret = 0;
	for (int i = 0; i < n; i++, (*p)++) {
		if (!isdigit((unsigned char)**p))
			return false;
		*ret = *ret * 10 + (**p - '0');
	}
	return true;
}

static bool read_char(const char **p, char c)
{
	if (**p != c)
		return false;
	(*p)++;
	return true;
}

static bool read_unit(const char **p, double *ret)
{
	size_t length = 0;

	while (isalpha((unsigned char)(*p)[length]))
		length++;
	for (size_t i = 0; i < ELEMENTSOF(units); i++) {
		if (strlen(units[i].name) != length || strncasecmp(*p, units[i].name, length) != 0)
			continue;
		*p += length;
		*ret = units[i].seconds;
		return true;
	}
	return false;
}

/* What follows the minus sign: "7d", "1h 30min". A number without a unit stands alone. */
static enum fault read_offset(const char *p, double *ret)
{
	double sum = 0, number, unit;

	for (int parts = 0; parts == 0 || *p != '\0'; parts++) {
		const char *name;

		p = skip_blanks(p);
		if (!read_number(&p, &number))
			return FAULT_SYNTAX;
		name = p = skip_blanks(p);
		if (!read_unit(&p, &unit) || (p == name && (parts > 0 || *p != '\0')))
			return FAULT_SYNTAX;
		sum += number * unit;
		p = skip_blanks(p);
	}
	*ret = sum;
	return FAULT_NONE;
}

/* A clock's reading as people write it; what is not written is 0. */
struct reading {
	struct tm tm;
	double fraction; /* of the second */
	bool has_time, utc;
};

/* "14:05", "2:50", "14:05:07", "14:05:07.25". */
static bool read_clock(const char **p, struct reading *ret)
{
	double seconds = 0;
	int digits = isdigit((unsigned char)(*p)[0]) && isdigit((unsigned char)(*p)[1]) ? 2 : 1;

	if (!read_digits(p, digits, &ret->tm.tm_hour) || !read_char(p, ':') ||
	    !read_digits(p, 2, &ret->tm.tm_min))
		return false;
	ret->has_time = true;
	if (!read_char(p, ':'))
		return true;
	if (!isdigit((unsigned char)(*p)[0]) || !isdigit((unsigned char)(*p)[1]) ||
	    isdigit((unsigned char)(*p)[2]) || !read_number(p, &seconds))
		return false;
	ret->tm.tm_sec = (int)seconds;
	ret->fraction = seconds - floor(seconds);
	return true;
}

/* "Z" or " UTC", or nothing. */
static bool read_zone(const char *p, bool *ret_utc)
{
	const char *name = skip_blanks(p);

	*ret_utc = strcasecmp(p, "Z") == 0 || (name > p && strcasecmp(name, "UTC") == 0);
	return *ret_utc || *p == '\0';
}

/* "2026-11-30", and perhaps a time behind it. */
static bool read_date(const char *p, struct reading *ret)
{
	if (!read_digits(&p, 4, &ret->tm.tm_year) || !read_char(&p, '-') ||
	    !read_digits(&p, 2, &ret->tm.tm_mon) || !read_char(&p, '-') ||
	    !read_digits(&p, 2, &ret->tm.tm_mday))
		return false;
	ret->tm.tm_year -= 1900;
	ret->tm.tm_mon -= 1;
	if (*p == '\0')
		return true;
	if (*p == 'T' || *p == 't')
		p++;
	else if (isspace((unsigned char)*p))
		p = skip_blanks(p);
	else
		return false;
	return read_clock(&p, ret) && read_zone(p, &ret->utc);
}

static bool same_reading(const struct tm *a, const struct tm *b)
{
	return a->tm_year == b->tm_year && a->tm_mon == b->tm_mon && a->tm_mday == b->tm_mday &&
	       a->tm_hour == b->tm_hour && a->tm_min == b->tm_min && a->tm_sec == b->tm_sec;
}

/* The earliest moment at which the clocks show @wanted. mktime() turns what no clock shows into
 * something else, and of two moments it returns either; so it is asked for both. */
static bool find_moment(const struct tm *wanted, bool utc, time_t *ret)
{
	bool found = false;

	for (int dst = -1; dst <= 1; dst++) {
		struct tm tm = *wanted;
		time_t t;

		tm.tm_isdst = dst;
		t = utc ? timegm(&tm) : mktime(&tm);
		if (!same_reading(&tm, wanted) || (found && t >= *ret))
			continue;
		*ret = t;
		found = true;
	}
	return found;
}

/* Most days begin at midnight; but the clocks may be put forward then. */
static bool find_day(const struct tm *day, time_t *ret)
{
	struct tm tm = *day;

	for (int i = 0; i < HALF_HOURS; i++) {
		tm.tm_hour = i / 2;
		tm.tm_min = i % 2 * 30;
		if (find_moment(&tm, false, ret))
			return true;
	}
	return false;
}

static enum fault find_reading(const struct reading *r, double *ret)
{
	static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	int year = r->tm.tm_year + 1900, month = r->tm.tm_mon;
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
	time_t t = 0;

	if (month < 0 || month > 11 || r->tm.tm_mday < 1 ||
	    r->tm.tm_mday > days[month] + (month == 1 && leap) || r->tm.tm_hour > 23 ||
	    r->tm.tm_min > 59 || r->tm.tm_sec > 59)
		return FAULT_CALENDAR;
	if (!(r->has_time ? find_moment(&r->tm, r->utc, &t) : find_day(&r->tm, &t)))
		return FAULT_SKIPPED;
	*ret = (double)t + r->fraction;
	return FAULT_NONE;
}

/* "yesterday", "tomorrow 8:00"; a clock alone is today's. @r holds today. */
static bool read_day(const char *p, struct reading *r)
{
	for (size_t i = 0; i < ELEMENTSOF(words); i++) {
		size_t length = strlen(words[i].name);

		if (strncasecmp(p, words[i].name, length) != 0)
			continue;
		/* Noon exists, and other days have one too. */
		r->tm.tm_mday += words[i].days;
		r->tm.tm_hour = 12;
		r->tm.tm_isdst = -1;
		(void)mktime(&r->tm);
		r->tm.tm_hour = 0;
		p += length;
		if (*p == '\0')
			return true;
		if (!isspace((unsigned char)*p))
			return false;
		p = skip_blanks(p);
		break;
	}
	return read_clock(&p, r) && *p == '\0';
}

/* A day by its name, a time of today, a date. */
static enum fault read_calendar(const char *text, time_t now, double *ret)
{
	struct reading r = { 0 };
	struct tm today;

	if (!localtime_r(&now, &today))
		return FAULT_RANGE;
	r.tm.tm_year = today.tm_year;
	r.tm.tm_mon = today.tm_mon;
	r.tm.tm_mday = today.tm_mday;
	if (read_day(text, &r))
		return find_reading(&r, ret);
	r = (struct reading){ 0 };
	return read_date(text, &r) ? find_reading(&r, ret) : FAULT_SYNTAX;
}

static enum fault read_when(const char *text, uint64_t now_usec, double *ret)
{
	double now = (double)now_usec / (double)USEC_PER_SEC, offset = 0;
	enum fault fault = FAULT_NONE;
	const char *p = text + 1;

	if (strcasecmp(text, "now") == 0)
		*ret = now;
	else if (*text == '@')
		fault = read_number(&p, ret) && *p == '\0' ? FAULT_NONE : FAULT_SYNTAX;
	else if (*text == '-') {
		fault = read_offset(p, &offset);
		*ret = now - offset;
	} else
		fault = read_calendar(text, (time_t)(now_usec / USEC_PER_SEC), ret);
	if (fault == FAULT_NONE && (*ret < 0 || *ret > SECONDS_MAX))
		fault = FAULT_RANGE;
	return fault;
}

int when_parse(const char *what, const char *text, uint64_t now_usec, uint64_t *ret_usec,
	       struct fail *f)
{
	_cleanup_free_ char *trimmed = strdup(skip_blanks(text));
	double seconds = 0;

	if (!trimmed)
		return fail_oom(f);
	for (size_t n = strlen(trimmed); n > 0 && isspace((unsigned char)trimmed[n - 1]); n--)
		trimmed[n - 1] = '\0';
	switch (read_when(trimmed, now_usec, &seconds)) {
	case FAULT_NONE:
		*ret_usec = (uint64_t)llround(seconds * (double)USEC_PER_SEC);
		return 0;
	case FAULT_CALENDAR:
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
				"%s: no calendar or clock has '%.60s'", what, text);
	case FAULT_SKIPPED:
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
				"%s: there was no '%.60s' in this time zone: the clocks skipped it",
				what, text);
	case FAULT_RANGE:
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
				"%s: '%.60s' is out of range; accepted are times from 1970 to 9999",
				what, text);
	default:
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
				"%s: '%.60s' is not a time; one looks like -7d, -1h 30min, now, "
				"today, 'yesterday 14:05', 14:05, 2026-11-30, "
				"'2026-11-30 14:05:07', '2026-11-30 14:05 UTC', @1764500000",
				what, text);
	}
}
