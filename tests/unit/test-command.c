/* SPDX-License-Identifier: MIT */
/*
 * Commands that people copy: a shell takes them as they are meant, and they go to the daemon that was asked.
 */
#include "unit.h"

#include "command.h"

static void test_quotes(void **state)
{
	static const struct {
		const char *text, *word;
	} cases[] = {
		{ "/tmp/store-1.tar.xz", "/tmp/store-1.tar.xz" },
		{ "root@host:/x", "root@host:/x" },
		{ "", "''" },
		{ "a b", "'a b'" },
		{ "it's", "'it'\\''s'" },
		{ "''", "''\\'''\\'''" },
		{ "$HOME", "'$HOME'" },
		{ "~/x", "'~/x'" },
		{ "a\nb", "'a\nb'" },
		{ "größe", "'größe'" },
	};

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_free_ char *word = command_quote(cases[i].text);

		assert_string_equal(word, cases[i].word);
	}
}

static void test_archives(void **state)
{
	static const struct {
		const char *file, *word;
	} cases[] = {
		{ "store.tar", "store.tar" },           { "-x.tar", "./-x.tar" },
		{ "12:30.tar", "./12:30.tar" },         { "/tmp/12:30.tar", "/tmp/12:30.tar" },
		{ "d/12:30.tar", "d/12:30.tar" },       { "at 12:30.tar", "'./at 12:30.tar'" },
		{ "it's.tar.gz", "'it'\\''s.tar.gz'" },
	};

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_free_ char *word = command_quote_archive(cases[i].file);

		assert_string_equal(word, cases[i].word);
	}
}

static void test_sentences(void **state)
{
	static const struct {
		const char *sentence, *ours;
	} cases[] = {
		{ "", "" },
		{ "see schedlabctl --help", "see schedlabctl --help" },
		{ "'schedlabctl jobs' lists", "'schedlabctl --user jobs' lists" },
		{ "a 'schedlabctl jobs'; b 'schedlabctl history'",
		  "a 'schedlabctl --user jobs'; b 'schedlabctl --user history'" },
		{ "there, 'schedlabctl --system store'", "there, 'schedlabctl --system store'" },
		{ "'schedlabctl '", "'schedlabctl --user '" },
	};

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_free_ char *ours =
			command_in_sentence(cases[i].sentence, "schedlabctl --user");

		assert_string_equal(ours, cases[i].ours);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quotes),
		cmocka_unit_test(test_archives),
		cmocka_unit_test(test_sentences),
	};

	return cmocka_run_group_tests_name("command", tests, NULL, NULL);
}
