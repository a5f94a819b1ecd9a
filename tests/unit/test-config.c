/* SPDX-License-Identifier: MIT */
/*
 * Ini files and the configuration: every fault told with file, line and key.
 */
#include "unit.h"

#include "config/config.h"
#include "util/ini.h"

static const char *const measure_keys[] = { "duration", "rounds" };
static const char *const topology_keys[] = { "use-isolated" };
static const struct config_spec specs[] = {
	{ "measure", measure_keys, ELEMENTSOF(measure_keys) },
	{ "topology", topology_keys, ELEMENTSOF(topology_keys) },
};

static struct ini *parse(const char *text)
{
	struct ini *ini = NULL;
	struct fail f = { 0 };

	if (ini_parse("f.conf", text, strlen(text), &ini, &f) < 0)
		fail_msg("'%s': %s", text, f.message);
	return ini;
}

static void test_ini_reads(void **state)
{
	_cleanup_(ini_freep) struct ini *ini = parse("# comment\n"
						     "; comment\n"
						     "\n"
						     "[Measure]\n"
						     "Duration = 200 ms  # behind\n"
						     "name = \"NO_TTWU_QUEUE; kept\"\n"
						     "long = a \\\n"
						     "  b\n"
						     "empty =\n"
						     "[topology]\n"
						     "duration = 2");

	(void)state;
	assert_int_equal(ini->n_sections, 2);
	assert_int_equal(ini->n_entries, 5);
	assert_string_equal(ini->entries[0].section, "measure");
	assert_string_equal(ini->entries[0].key, "duration");
	assert_string_equal(ini->entries[0].value, "200 ms");
	assert_int_equal(ini->entries[0].line, 5);
	assert_string_equal(ini->entries[1].value, "NO_TTWU_QUEUE; kept");
	assert_string_equal(ini->entries[2].value, "a   b");
	assert_string_equal(ini->entries[3].value, "");
	assert_int_equal(ini->entries[3].line, 9);
	assert_string_equal(ini->entries[4].section, "topology");
}

static void test_ini_refuses(void **state)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
		{ "key = 1\n", "f.conf:1: a key before the first [section]" },
		{ "[a]\nx = 1\nX = 2\n", "f.conf:3: 'x' in [a] is given twice, first in line 2" },
		{ "[a]\nx = 1\n[b]\ny = 2\n[A]\nx = 3\n", "f.conf:6: 'x' in [a] is given twice" },
		{ "[a]\n\nnonsense\n", "f.conf:3: neither 'key = value'" },
		{ "[a\n", "f.conf:1: a section looks like [name]" },
		{ "[]\n", "f.conf:1: the name of a section" },
		{ "[a]\n= 3\n", "f.conf:2: the name of a key" },
		{ "[a]\nx:y = 3\n", "f.conf:2: the name of a key" },
	};

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
		struct ini *ini = NULL;
		struct fail f = { 0 };

		if (ini_parse("f.conf", bad[i].text, strlen(bad[i].text), &ini, &f) >= 0)
			fail_msg("'%s' was taken", bad[i].text);
		assert_contains(f.message, bad[i].says);
		assert_int_equal(f.code, SCHEDLAB_ERROR_INVALID_ARGUMENT);
	}
}

static void test_ini_long_line(void **state)
{
	char text[1300] = "[a]\nx = ";
	struct ini *ini = NULL;
	struct fail f = { 0 };

	(void)state;
	memset(text + strlen(text), 'y', 1200);
	assert_true(ini_parse("f.conf", text, strlen(text), &ini, &f) < 0);
	assert_contains(f.message, "f.conf:2: the line is longer than");
	assert_true(ini_parse("f.conf", "[a]\nx=\0\n", 8, &ini, &f) < 0);
	assert_contains(f.message, "NUL byte");
}

static void test_config(void **state)
{
	_cleanup_free_ char *dir = unit_make_dir(), *path = NULL;
	_cleanup_(config_freep) struct config *c = NULL;
	struct fail f = { 0 };
	uint64_t rounds = 3, ns = 0;
	bool isolated = true;

	(void)state;
	unit_write(dir, "schedlabd.conf", "[measure]\nrounds = 5\nduration = 1s\n");
	unit_write(dir, "conf.d/20-b.conf", "[measure]\nrounds = 9\n");
	unit_write(dir, "conf.d/10-a.conf", "[measure]\nrounds = 7\n");
	unit_write(dir, "conf.d/ignored.txt", "nonsense\n");
	assert_true(asprintf(&path, "%s/schedlabd.conf", dir) > 0);
	if (config_load(path, true, specs, ELEMENTSOF(specs), &c, &f) < 0)
		fail_msg("%s", f.message);
	assert_string_equal(config_get(c, "measure", "rounds"), "9");
	assert_null(config_get(c, "topology", "use-isolated"));
	assert_int_equal(config_get_u64(c, "measure", "rounds", 1, 100, &rounds, &f), 0);
	assert_int_equal(rounds, 9);
	assert_int_equal(config_get_time(c, "measure", "duration", 0, UINT64_MAX / 4, &ns, &f), 0);
	assert_int_equal(ns, 1000000000);
	assert_int_equal(config_get_bool(c, "topology", "use-isolated", &isolated, &f), 0);
	assert_true(isolated);
	assert_true(config_get_u64(c, "measure", "rounds", 1, 8, &rounds, &f) < 0);
	assert_contains(f.message, "20-b.conf:2: rounds: 9 is out of range");
	assert_int_equal(rounds, 9);
	unit_remove_dir(dir);
}

static void test_config_refuses(void **state)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
		{ "[measure]\nround = 5\n", "x.conf:2: no key 'round' in [measure]; did you mean "
					    "'rounds'? There are: duration, rounds" },
		{ "[mesure]\n", "x.conf:1: no section [mesure]; did you mean 'measure'?" },
		{ "[measure]\nuse-isolated = 1\n", "no key 'use-isolated' in [measure]" },
	};
	_cleanup_free_ char *dir = unit_make_dir(), *path = NULL;

	(void)state;
	assert_true(asprintf(&path, "%s/x.conf", dir) > 0);
	for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
		struct config *c = NULL;
		struct fail f = { 0 };

		unit_write(dir, "x.conf", bad[i].text);
		if (config_load(path, true, specs, ELEMENTSOF(specs), &c, &f) >= 0)
			fail_msg("'%s' was taken", bad[i].text);
		assert_contains(f.message, bad[i].says);
	}
	unit_remove_dir(dir);
}

static void test_config_missing(void **state)
{
	_cleanup_(config_freep) struct config *c = NULL;
	_cleanup_free_ char *dir = NULL, *path = NULL;
	struct fail f = { 0 };

	(void)state;
	assert_int_equal(config_load("/nonexistent/a.conf", true, specs, ELEMENTSOF(specs), &c, &f),
			 -ENOENT);
	assert_contains(f.message, "/nonexistent/a.conf");
	assert_int_equal(
		config_load("/nonexistent/a.conf", false, specs, ELEMENTSOF(specs), &c, &f), 0);
	assert_null(config_get(c, "measure", "rounds"));
	/* A directory, and a file that never ends, are no configuration. */
	assert_true(config_load("/dev/zero", true, specs, ELEMENTSOF(specs), &c, &f) < 0);
	assert_contains(f.message, "not a regular file");
	/* Nor is a pipe that nobody writes to, and it is not waited for. */
	dir = unit_make_dir();
	assert_true(asprintf(&path, "%s/pipe.conf", dir) > 0);
	assert_int_equal(mkfifo(path, 0644), 0);
	assert_true(config_load(path, true, specs, ELEMENTSOF(specs), &c, &f) < 0);
	assert_contains(f.message, "not a regular file");
	unit_remove_dir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ini_reads),      cmocka_unit_test(test_ini_refuses),
		cmocka_unit_test(test_ini_long_line),  cmocka_unit_test(test_config),
		cmocka_unit_test(test_config_refuses), cmocka_unit_test(test_config_missing),
	};

	return cmocka_run_group_tests_name("config", tests, NULL, NULL);
}
