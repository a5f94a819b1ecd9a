/* SPDX-License-Identifier: MIT */
/*
 * Times on the command line: as meant, in any time zone, or refused by name.
 */
#include "unit.h"

#include <schedlab/units.h>
#include <time.h>

#include "when.h"

#define BERLIN "CET-1CEST,M3.5.0,M10.5.0/3"
/* Clocks go forward at midnight, so that this day begins at one: the last Sunday of March. */
#define MIDNIGHT "XST-2XDT,M3.5.0/0,M10.5.0/0"

/* 2026-11-30 14:05:07.5 UTC, a Monday */
#define NOW_SEC  UINT64_C(1796047507)
#define NOW_USEC (NOW_SEC * USEC_PER_SEC + 500000)
#define DAY      UINT64_C(86400)

static void set_zone(const char *zone)
{
	assert_int_equal(setenv("TZ", zone, 1), 0);
	tzset();
}

static void assert_when(const char *text, uint64_t usec)
{
	struct fail f = { 0 };
	uint64_t got = 0;

	if (when_parse("--since", text, NOW_USEC, &got, &f) < 0)
		fail_msg("'%s': %s", text, f.message);
	if (got != usec)
		fail_msg("'%s' is %ju and not %ju", text, (uintmax_t)got, (uintmax_t)usec);
}

static void assert_refused(const char *text, const char *because)
{
	struct fail f = { 0 };
	uint64_t got = 77;

	if (when_parse("--since", text, NOW_USEC, &got, &f) >= 0)
		fail_msg("'%s' was taken as %ju", text, (uintmax_t)got);
	assert_int_equal(got, 77);
	assert_int_equal(f.code, SCHEDLAB_ERROR_INVALID_ARGUMENT);
	assert_contains(f.message, "--since: ");
	assert_contains(f.message, text);
	assert_contains(f.message, because);
}

static void test_offsets(void **state)
{
	static const struct {
		const char *text;
		uint64_t seconds;
	} good[] = {
		{ "-7d", 7 * DAY },
		{ "-2w", 14 * DAY },
		{ "-90min", 5400 },
		{ "-90m", 5400 },
		{ "-1h30min", 5400 },
		{ "-1h 30min", 5400 },
		{ " - 1.5 h ", 5400 },
		{ "-90", 90 },
		{ "-30s", 30 },
		{ "-30sec", 30 },
		{ "-1w1d1h1m1s", 694861 },
		{ "-1D", DAY },
		{ "-2000ms", 2 },
		{ "-0d", 0 },
		{ "-1day", DAY },
		{ "-2 days", 2 * DAY },
		{ "-7days", 7 * DAY },
		{ "-1hour", 3600 },
		{ "-3 Hours", 10800 },
		{ "-1week", 7 * DAY },
		{ "-2weeks", 14 * DAY },
		{ "-1 hour 30 minutes", 5400 },
		{ "-1minute1second", 61 },
		{ "-5 seconds", 5 },
	};
	static const char *const bad[] = { "-",     "--7d",    "-d",   "-7x",        "-1h 30",
					   "-1 2",  "-1.d",    "-.5d", "+1h",        "7d",
					   "-1e3s", "-0x5",    "-nan", "- ",         "-7d;",
					   "-inf",  "-7dayss", "-1da", "-2 days UTC" };

	(void)state;
	set_zone(BERLIN);
	for (size_t i = 0; i < ELEMENTSOF(good); i++)
		assert_when(good[i].text, NOW_USEC - good[i].seconds * USEC_PER_SEC);
	for (size_t i = 0; i < ELEMENTSOF(bad); i++)
		assert_refused(bad[i], "one looks like -7d");
	assert_when("-0.25s", NOW_USEC - 250000);
	assert_refused("-3000w", "times from 1970");
	assert_refused("-99999999999999999999w", "times from 1970");
}

static void test_words_and_days(void **state)
{
	(void)state;
	set_zone("UTC0");
	assert_when("now", NOW_USEC);
	assert_when(" Now ", NOW_USEC);
	assert_when("today", (NOW_SEC - NOW_SEC % DAY) * USEC_PER_SEC);
	assert_when("yesterday", (NOW_SEC - NOW_SEC % DAY - DAY) * USEC_PER_SEC);
	assert_when("tomorrow", (NOW_SEC - NOW_SEC % DAY + DAY) * USEC_PER_SEC);
	assert_when("today 8:15", (NOW_SEC - NOW_SEC % DAY + 29700) * USEC_PER_SEC);
	assert_when("Yesterday  14:05:07", (NOW_SEC - DAY) * USEC_PER_SEC);
	assert_when("tomorrow 8:00", (NOW_SEC - NOW_SEC % DAY + DAY + 28800) * USEC_PER_SEC);
	assert_when("2:50", (NOW_SEC - NOW_SEC % DAY + 10200) * USEC_PER_SEC);
	assert_when("0:00:00.5", (NOW_SEC - NOW_SEC % DAY) * USEC_PER_SEC + 500000);
	assert_when("14:05:07", NOW_SEC * USEC_PER_SEC);
	assert_when("14:05", (NOW_SEC - 7) * USEC_PER_SEC);
	assert_when("00:00", (NOW_SEC - NOW_SEC % DAY) * USEC_PER_SEC);
	/* Elsewhere it is later, or tomorrow. */
	set_zone("JST-9");
	assert_when("23:05:07", NOW_SEC * USEC_PER_SEC);
	set_zone("XXX-14");
	assert_when("today", UINT64_C(1796032800) * USEC_PER_SEC);
}

static void test_dates(void **state)
{
	(void)state;
	set_zone("UTC0");
	assert_when("2026-11-30", (NOW_SEC - NOW_SEC % DAY) * USEC_PER_SEC);
	assert_when("2026-11-30 14:05", (NOW_SEC - 7) * USEC_PER_SEC);
	assert_when(" 2026-11-30 ", (NOW_SEC - NOW_SEC % DAY) * USEC_PER_SEC);
	assert_when("2026-11-30  14:05:07", NOW_SEC * USEC_PER_SEC);
	assert_when("2026-11-30T14:05:07", NOW_SEC * USEC_PER_SEC);
	assert_when("2026-11-30t14:05:07.5", NOW_USEC);
	assert_when("2024-02-29", UINT64_C(1709164800) * USEC_PER_SEC);
	assert_when("1970-01-01", 0);
	assert_when("@1764500000", UINT64_C(1764500000) * USEC_PER_SEC);
	assert_when("@1764500000.123456", UINT64_C(1764500000123456));
	assert_when("@0", 0);
	set_zone(BERLIN);
	assert_when("2026-11-30 15:05:07", NOW_SEC * USEC_PER_SEC);
	assert_when("2026-07-01", UINT64_C(1782856800) * USEC_PER_SEC);
	/* As CSV has them. */
	assert_when("2026-11-30T14:05:07.500000Z", NOW_USEC);
	assert_when("2026-11-30 14:05:07 UTC", NOW_SEC * USEC_PER_SEC);
	assert_when("2026-11-30 14:05  utc ", (NOW_SEC - 7) * USEC_PER_SEC);
	assert_when("2026-11-30 2:50", (NOW_SEC - NOW_SEC % DAY + 6600) * USEC_PER_SEC);
}

static const char *const malformed[] = {
	"",
	"tuesday",
	"2026",
	"2026-11",
	"26-11-30",
	"2026-1-30",
	"2026/11/30",
	"2026-11-30x",
	"2026-11-30 14",
	"14",
	"014:05",
	":05",
	"14:5",
	"14:05:7",
	"14:05:077",
	"14:05Z",
	"@",
	"@x",
	"@-1",
	"@1 2",
	"@1e9",
	"today14:05",
	"today 14:05 UTC",
	"today T14:05",
	"today 2026-11-30",
	"tomorrow 8",
	"tomorrows",
	"now 14:05",
	"2026-11-30Z",
	"2026-11-30 UTC",
	"2026-11-30 14:05UTC",
	"2026-11-30 14:05 CET",
	"2026-11-30 14:05 Z UTC",
	"2026-11-30 14:05+01:00",
	"2026-11-300",
	"-7d 14:05",
};

static void test_refused_dates(void **state)
{
	static const char *const impossible[] = {
		"2026-02-30", "2026-02-29", "2100-02-29",       "2026-13-01",
		"2026-00-10", "2026-01-00", "2026-04-31",       "24:00",
		"12:60",      "12:00:60",   "2026-11-30 25:00", "today 24:00",
	};

	(void)state;
	set_zone(BERLIN);
	for (size_t i = 0; i < ELEMENTSOF(impossible); i++)
		assert_refused(impossible[i], "no calendar or clock has");
	for (size_t i = 0; i < ELEMENTSOF(malformed); i++)
		assert_refused(malformed[i], "one looks like -7d");
	assert_refused("1969-12-31", "times from 1970");
	assert_refused("@253402300800", "times from 1970 to 9999");
}

static void test_summer_time(void **state)
{
	(void)state;
	set_zone(BERLIN);
	/* From 02:00 to 03:00 there is nothing in the spring ... */
	assert_when("2026-03-29 01:59:59", UINT64_C(1774745999) * USEC_PER_SEC);
	assert_when("2026-03-29 03:00", UINT64_C(1774746000) * USEC_PER_SEC);
	assert_refused("2026-03-29 02:30", "the clocks skipped it");
	/* ... and in the autumn it comes twice. */
	assert_when("2026-10-25 01:59:59", UINT64_C(1792886399) * USEC_PER_SEC);
	assert_when("2026-10-25 02:30", UINT64_C(1792888200) * USEC_PER_SEC);
	assert_when("2026-10-25 03:00", UINT64_C(1792893600) * USEC_PER_SEC);
	/* What was asked before has no influence. */
	assert_when("2026-12-24 12:00", UINT64_C(1798110000) * USEC_PER_SEC);
	assert_when("2026-10-25 02:30", UINT64_C(1792888200) * USEC_PER_SEC);
	assert_when("2026-07-01 12:00", UINT64_C(1782900000) * USEC_PER_SEC);
	assert_when("2026-10-25 02:30", UINT64_C(1792888200) * USEC_PER_SEC);
	/* Days of 23 and of 25 hours. */
	assert_when("2026-03-29", UINT64_C(1774738800) * USEC_PER_SEC);
	assert_when("2026-03-30", (1774738800 + 23 * 3600) * USEC_PER_SEC);
	assert_when("2026-10-25", UINT64_C(1792879200) * USEC_PER_SEC);
	assert_when("2026-10-26", (1792879200 + 25 * 3600) * USEC_PER_SEC);
}

/* From one day with a change of clocks to the next. */
static void test_words_in_summer_time(void **state)
{
	static const struct {
		const char *text;
		uint64_t now, expected;
	} cases[] = {
		{ "tomorrow 3:00", 1774738800, 1774832400 },  /* from March 29 on */
		{ "yesterday 1:30", 1774821600, 1774744200 }, /* from March 30 back */
		{ "tomorrow", 1792879200, 1792879200 + 25 * 3600 },
		{ "yesterday", 1792879200 + 25 * 3600, 1792879200 },
	};
	uint64_t got;

	(void)state;
	set_zone(BERLIN);
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		assert_int_equal(
			when_parse("t", cases[i].text, cases[i].now * USEC_PER_SEC, &got, NULL), 0);
		if (got != cases[i].expected * USEC_PER_SEC)
			fail_msg("'%s' is %ju", cases[i].text, (uintmax_t)(got / USEC_PER_SEC));
	}
	assert_true(when_parse("t", "tomorrow 2:30", UINT64_C(1774652400) * USEC_PER_SEC, &got,
			       NULL) < 0);
}

static void test_days_without_a_midnight(void **state)
{
	uint64_t got = 0, now = UINT64_C(1774738800) * USEC_PER_SEC; /* 2026-03-29 02:00 there */

	(void)state;
	set_zone(MIDNIGHT);
	assert_when("2026-03-29", UINT64_C(1774735200) * USEC_PER_SEC);
	assert_refused("2026-03-29 00:00", "the clocks skipped it");
	assert_int_equal(when_parse("t", "today", now, &got, NULL), 0);
	assert_true(got == UINT64_C(1774735200) * USEC_PER_SEC);
	assert_int_equal(when_parse("t", "yesterday", now + DAY * USEC_PER_SEC, &got, NULL), 0);
	assert_true(got == UINT64_C(1774735200) * USEC_PER_SEC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_offsets),
		cmocka_unit_test(test_words_and_days),
		cmocka_unit_test(test_dates),
		cmocka_unit_test(test_refused_dates),
		cmocka_unit_test(test_summer_time),
		cmocka_unit_test(test_words_in_summer_time),
		cmocka_unit_test(test_days_without_a_midnight),
	};

	return cmocka_run_group_tests_name("when", tests, NULL, NULL);
}
