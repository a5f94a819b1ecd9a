/* SPDX-License-Identifier: MIT */
/*
 * Cleaning texts: what stays, what goes, and that any bytes may come.
 */
#include "unit.h"

#include "util/random.h"
#include "util/utf8.h"

static void test_what_stays_and_what_goes(void **state)
{
	static const struct {
		const char *text, *clean;
	} cases[] = {
		{ "", "" },
		{ "plain", "plain" },
		{ "\u00e4\u20ac\U0001f600", "\u00e4\u20ac\U0001f600" },
		{ "a\x1b[31mb\r\n\t\x7f", "a?[31mb????" },
		{ "\xc2\x9b"
		  "31m\xc2\xa0",
		  "??31m\xc2\xa0" },
		{ "\xff\xfe\xc0\x80\xc1\xbf", "??????" },
		{ "\xe0\x9f\xbf\xed\xa0\x80", "??????" },
		{ "\xf0\x8f\xbf\xbf\xf4\x90\x80\x80\xf5", "?????????" },
		{ "cut \xe2\x82", "cut ??" },
		{ "\xe2\x82y", "??y" },
	};

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		char text[64];

		(void)snprintf(text, sizeof(text), "%s", cases[i].text);
		utf8_clean(text);
		assert_string_equal(text, cases[i].clean);
	}
}

/* Whatever it is given, once is enough, and no byte is added or lost. */
static void test_any_bytes(void **state)
{
	struct random random = { 11 };

	(void)state;
	for (int round = 0; round < 20000; round++) {
		char text[32], once[32];
		size_t n = random_below(&random, 31);

		for (size_t i = 0; i < n; i++)
			text[i] = (char)(1 + random_below(&random, 255));
		text[n] = '\0';
		utf8_clean(text);
		assert_int_equal(strlen(text), n);
		memcpy(once, text, sizeof(once));
		utf8_clean(text);
		assert_string_equal(text, once);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_stays_and_what_goes),
		cmocka_unit_test(test_any_bytes),
	};

	return cmocka_run_group_tests_name("utf8", tests, NULL, NULL);
}
