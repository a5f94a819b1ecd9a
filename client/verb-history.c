/* SPDX-License-Identifier: MIT */
/*
 * history: what was kept, as tables, CSV or JSON.
 */
#include <schedlab/names.h>
#include <schedlab/units.h>
#include <string.h>
#include <time.h>

#include "choice.h"
#include "client.h"
#include "render/csv.h"
#include "render/history.h"
#include "render/pager.h"
#include "render/result.h"
#include "render/text.h"
#include "util/parse.h"
#include "util/suggest.h"
#include "when.h"

#define KINDS_MAX  16
#define HASH_CHARS 16
#define KIND       "sample" /* of tables and CSV, unless others are named */

/* What the options said. */
static struct {
	const char *since_text, *until_text;
	uint64_t now_usec, since_usec, until_usec;
	const char *kinds[KINDS_MAX];
	size_t n_kinds;
	const char *benchmark, *fingerprint, *kernel, *parameters;
	struct choice choice;
	bool has_arm, all_metrics, csv, by_job;
	uint32_t given; /* bit (1 << option): single ones are not given twice */
	uint64_t arm, job, experiment;
	size_t n_filters;
} arg;

enum {
	OPTION_SINCE = 1,
	OPTION_UNTIL,
	OPTION_KIND,
	OPTION_BENCHMARK,
	OPTION_CLASS,
	OPTION_PAIR,
	OPTION_ARM,
	OPTION_JOB,
	OPTION_EXPERIMENT,
	OPTION_FINGERPRINT,
	OPTION_KERNEL,
	OPTION_PARAMETERS,
	OPTION_ALL_METRICS,
	OPTION_CSV,
	OPTION_BY,
};

static const struct option options[] = {
	{ "since", required_argument, NULL, OPTION_SINCE },
	{ "until", required_argument, NULL, OPTION_UNTIL },
	{ "kind", required_argument, NULL, OPTION_KIND },
	{ "benchmark", required_argument, NULL, OPTION_BENCHMARK },
	{ "class", required_argument, NULL, OPTION_CLASS },
	{ "pair", required_argument, NULL, OPTION_PAIR },
	{ "arm", required_argument, NULL, OPTION_ARM },
	{ "job", required_argument, NULL, OPTION_JOB },
	{ "experiment", required_argument, NULL, OPTION_EXPERIMENT },
	{ "fingerprint", required_argument, NULL, OPTION_FINGERPRINT },
	{ "kernel", required_argument, NULL, OPTION_KERNEL },
	{ "parameters", required_argument, NULL, OPTION_PARAMETERS },
	{ "all-metrics", no_argument, NULL, OPTION_ALL_METRICS },
	{ "csv", no_argument, NULL, OPTION_CSV },
	{ "by", required_argument, NULL, OPTION_BY },
	{ 0 },
};

static uint64_t read_clock(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * USEC_PER_SEC + (uint64_t)now.tv_nsec / NSEC_PER_USEC;
}

static int set_time(const char *option, const char *text, const char **said, uint64_t *ret,
		    struct fail *f)
{
	int r;

	/* One moment for both options. */
	if (arg.now_usec == 0)
		arg.now_usec = read_clock();
	r = when_parse(option, text, arg.now_usec, ret, f);
	if (r < 0)
		return r;
	*said = text;
	if (arg.since_text && arg.until_text && arg.since_usec >= arg.until_usec)
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
				"--since %.60s is not before --until %.60s: nothing lies in "
				"between",
				arg.since_text, arg.until_text);
	return 0;
}

/* "sample,job" */
static int add_kinds(const char *list, struct fail *f)
{
	static const char *const known[] = { "sample", "verdict", "noise-floor", "change", "job" };
	_cleanup_free_ char *copy = strdup(list);
	char *rest = copy;

	if (!copy)
		return fail_oom(f);
	for (char *kind; (kind = strsep(&rest, ","));) {
		_cleanup_free_ char *hint = NULL;
		size_t i = 0;

		while (i < ELEMENTSOF(known) && strcmp(known[i], kind) != 0)
			i++;
		if (i == ELEMENTSOF(known)) {
			hint = suggest_sentence(kind, known, ELEMENTSOF(known));
			return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
					"--kind: '%.40s' is no kind of record%s", kind,
					hint ? hint : "");
		}
		if (arg.n_kinds == KINDS_MAX)
			return fail_set(f, SCHEDLAB_ERROR_LIMITS_EXCEEDED,
					"--kind: more than %d are named", KINDS_MAX);
		arg.kinds[arg.n_kinds++] = known[i];
	}
	return 0;
}

static int set_by(const char *text, struct fail *f)
{
	if (strcmp(text, "job") != 0 && strcmp(text, "class") != 0)
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
				"--by: '%.40s' is not known; accepted are class and job", text);
	arg.by_job = strcmp(text, "job") == 0;
	return 0;
}

static int set_text(const char *option, const char *text, const char **slot, struct fail *f)
{
	if (*text == '\0')
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT, "%s: the text is empty",
				option);
	*slot = text;
	return client_check_texts(option, &text, 1, f);
}

static int set_hash(const char *option, const char *text, const char **slot, struct fail *f)
{
	if (strlen(text) != HASH_CHARS || strspn(text, "0123456789abcdefABCDEF") != HASH_CHARS)
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
				"%s: '%.60s' is not a hash; one has 16 hexadecimal digits, like "
				"92e3876ac907e586",
				option, text);
	*slot = text;
	return 0;
}

static int set_filter(int option, const char *argument, struct fail *f)
{
	int r;

	switch (option) {
	case OPTION_SINCE:
		return set_time("--since", argument, &arg.since_text, &arg.since_usec, f);
	case OPTION_UNTIL:
		return set_time("--until", argument, &arg.until_text, &arg.until_usec, f);
	case OPTION_KIND:
		return add_kinds(argument, f);
	case OPTION_BENCHMARK:
		return set_text("--benchmark", argument, &arg.benchmark, f);
	case OPTION_CLASS:
		r = client_check_texts("--class", &argument, 1, f);
		return r < 0 ? r : choice_add_classes(&arg.choice, argument, f);
	case OPTION_PAIR:
		return choice_add_pair(&arg.choice, argument, f);
	case OPTION_ARM:
		arg.has_arm = true;
		return parse_u64("--arm", argument, 0, UINT16_MAX, &arg.arm, f);
	case OPTION_JOB:
		return parse_u64("--job", argument, 1, UINT64_MAX, &arg.job, f);
	case OPTION_EXPERIMENT:
		return parse_u64("--experiment", argument, 1, UINT64_MAX, &arg.experiment, f);
	case OPTION_FINGERPRINT:
		return set_hash("--fingerprint", argument, &arg.fingerprint, f);
	case OPTION_KERNEL:
		return set_text("--kernel", argument, &arg.kernel, f);
	default:
		return set_hash("--parameters", argument, &arg.parameters, f);
	}
}

/* Of two values of one option the first would be forgotten. */
static int check_once(int option, struct fail *f)
{
	if (option == OPTION_CLASS || option == OPTION_PAIR || option == OPTION_KIND)
		return 0;
	for (size_t i = 0; arg.given >> option & 1 && options[i].name; i++)
		if (options[i].val == option && options[i].has_arg == required_argument)
			return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT, "--%s is given twice",
					options[i].name);
	arg.given |= 1U << option;
	return 0;
}

static int set(int option, const char *argument, struct fail *f)
{
	int r = check_once(option, f);

	if (r < 0)
		return r;
	if (option == OPTION_ALL_METRICS)
		arg.all_metrics = true;
	else if (option == OPTION_CSV)
		arg.csv = true;
	else if (option == OPTION_BY)
		return set_by(argument, f);
	else {
		arg.n_filters++;
		return set_filter(option, argument, f);
	}
	return 0;
}

static int append_texts(sd_bus_message *call)
{
	const struct {
		const char *key, *text;
	} texts[] = {
		{ "benchmark", arg.benchmark },
		{ "fingerprint", arg.fingerprint },
		{ "kernel", arg.kernel },
		{ "parameters", arg.parameters },
	};
	int r = 0;

	for (size_t i = 0; i < ELEMENTSOF(texts) && r >= 0; i++)
		if (texts[i].text)
			r = sd_bus_message_append(call, "{sv}", texts[i].key, "s", texts[i].text);
	return r;
}

static int append_numbers(sd_bus_message *call)
{
	const struct {
		const char *key;
		bool given;
		uint64_t number;
	} numbers[] = {
		{ "since-usec", arg.since_text, arg.since_usec },
		{ "until-usec", arg.until_text, arg.until_usec },
		{ "job", arg.job > 0, arg.job },
		{ "experiment", arg.experiment > 0, arg.experiment },
	};
	int r = 0;

	for (size_t i = 0; i < ELEMENTSOF(numbers) && r >= 0; i++)
		if (numbers[i].given)
			r = sd_bus_message_append(call, "{sv}", numbers[i].key, "t",
						  numbers[i].number);
	if (r >= 0 && arg.has_arm)
		r = sd_bus_message_append(call, "{sv}", "arm", "u", (uint32_t)arg.arm);
	return r;
}

/* Only what was said; but tables and CSV are about samples. */
static int append_filter(const struct client *c, sd_bus_message *call)
{
	static const char *const samples[] = { KIND };
	int r = sd_bus_message_open_container(call, 'a', "{sv}");

	if (r >= 0 && arg.n_kinds > 0)
		r = choice_append_list(call, "kinds", arg.kinds, arg.n_kinds);
	else if (r >= 0 && c->json == CLIENT_JSON_OFF)
		r = choice_append_list(call, "kinds", samples, ELEMENTSOF(samples));
	if (r >= 0 && arg.choice.n_classes > 0)
		r = choice_append_list(call, "classes", arg.choice.classes, arg.choice.n_classes);
	if (r >= 0 && arg.choice.n_pairs > 0)
		r = choice_append_pairs(&arg.choice, call);
	if (r >= 0)
		r = append_texts(call);
	if (r >= 0)
		r = append_numbers(call);
	return r < 0 ? r : sd_bus_message_close_container(call);
}

/* The next page; *@cursor is where the one after it begins, 0: nowhere. */
static int get_page(struct client *c, uint64_t *cursor, char **ret, struct fail *f)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *call = NULL, *reply = NULL;
	const char *lines;
	int r = sd_bus_message_new_method_call(c->bus, &call, SCHEDLAB_BUS_NAME, SCHEDLAB_PATH,
					       SCHEDLAB_INTERFACE_MANAGER, "QueryPage");

	if (r >= 0)
		r = append_filter(c, call);
	if (r >= 0)
		r = sd_bus_message_append(call, "tu", *cursor, 0);
	if (r < 0)
		return fail_errno(f, r, "cannot ask the daemon");
	r = sd_bus_call(c->bus, call, 0, &error, &reply);
	if (r < 0)
		return client_fail(c, r, &error, f);
	r = sd_bus_message_read(reply, "ts", cursor, &lines);
	if (r < 0)
		return fail_errno(f, r, "cannot read the daemon's answer");
	*ret = strdup(lines);
	return *ret ? 0 : fail_oom(f);
}

static int take_record(struct client *c, struct history *h, const char *line, struct fail *f)
{
	_cleanup_(json_decrefp) json_t *record = NULL;

	if (client_print_json(c, line))
		return 0;
	record = text_load(line);
	if (!json_is_object(record))
		return fail_set(f, SCHEDLAB_ERROR_FAILED,
				"the daemon sent a record that is no JSON: %.60s", line);
	if (arg.csv)
		csv_print_record(stdout, record);
	else if (history_add(h, record) < 0)
		return fail_oom(f);
	return 0;
}

static int take_records(struct client *c, struct history *h, struct fail *f)
{
	uint64_t cursor = 0;
	int r;

	do {
		_cleanup_free_ char *page = NULL;
		char *rest;

		r = get_page(c, &cursor, &page, f);
		rest = page;
		for (char *line; r >= 0 && (line = strsep(&rest, "\n"));)
			if (*line != '\0')
				r = take_record(c, h, line, f);
	} while (r >= 0 && cursor != 0);
	return r;
}

/* The whole job again, also when the daemon does not remember it: as 'jobs show' prints it. */
static int show_job(struct client *c, struct fail *f)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	_cleanup_(json_decrefp) json_t *root = NULL;
	const char *text;
	int r = sd_bus_call_method(c->bus, SCHEDLAB_BUS_NAME, SCHEDLAB_PATH,
				   SCHEDLAB_INTERFACE_MANAGER, "GetJobResult", &error, &reply, "t",
				   arg.job);

	if (r < 0)
		return client_fail(c, r, &error, f);
	r = sd_bus_message_read(reply, "s", &text);
	if (r < 0)
		return fail_errno(f, r, "cannot read the daemon's answer");
	if (client_print_json(c, text))
		return 0;
	root = text_load(text);
	pager_open(!c->no_pager);
	printf("Job %llu: %s%s%s\n\n", (unsigned long long)arg.job, text_of(root, "state"),
	       *text_of(root, "why") ? ": " : "", text_of(root, "why"));
	result_print(root, arg.all_metrics);
	return 0;
}

/* Without it the table is worth as much: then nothing is said. */
static json_t *describe_fingerprint(const char *id, void *userdata)
{
	struct client *c = userdata;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	const char *text;

	if (sd_bus_call_method(c->bus, SCHEDLAB_BUS_NAME, SCHEDLAB_PATH, SCHEDLAB_INTERFACE_MANAGER,
			       "DescribeFingerprint", NULL, &reply, "s", id) < 0 ||
	    sd_bus_message_read(reply, "s", &text) < 0)
		return NULL;
	return text_load(text);
}

/* What is kept, for whoever asked for what is not. */
static int say_nothing_fits(struct client *c, struct fail *f)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_(json_decrefp) json_t *store = NULL;
	json_int_t n, whole;
	int r = client_get_json(c, SCHEDLAB_PATH, SCHEDLAB_INTERFACE_MANAGER, "CheckStore", &text,
				f);

	if (r < 0)
		return r;
	store = text_load(text);
	n = json_integer_value(json_object_get(json_object_get(store, "kinds"), KIND));
	whole = json_integer_value(json_object_get(store, "whole"));
	if (whole == 0) {
		puts("nothing kept fits: nothing has been kept yet");
		return 0;
	}
	printf("nothing kept fits; kept %s %lld sample%s, and all records are from %s to %s\n",
	       n == 1 ? "is" : "are", (long long)n, n == 1 ? "" : "s",
	       TEXT_TIME(json_integer_value(json_object_get(store, "oldest_usec"))),
	       TEXT_TIME(json_integer_value(json_object_get(store, "newest_usec"))));
	if (arg.kernel && !strpbrk(arg.kernel, "*?["))
		puts("--kernel wants a whole release, or a pattern like '6.1*'");
	return 0;
}

/* Whether somebody does, so that a job without an end is one that runs. */
static bool is_written(struct client *c)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_(json_decrefp) json_t *root = NULL;
	const json_t *store;

	if (client_get_json(c, SCHEDLAB_PATH, SCHEDLAB_INTERFACE_MANAGER, "Describe", &text, NULL) <
	    0)
		return false;
	root = text_load(text);
	store = json_object_get(root, "store");
	return json_is_true(json_object_get(store, "writable")) || *text_of(store, "writer");
}

static int run(struct client *c, int argc, char *argv[], struct fail *f)
{
	_cleanup_(history_freep) struct history *h = NULL;
	int r = client_no_arguments(argc, argv, f);

	if (r < 0)
		return r;
	if (arg.csv && c->json != CLIENT_JSON_OFF)
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
				"--csv and --json exclude each other: there is one output");
	if (arg.job > 0 && arg.n_filters == 1 && !arg.csv)
		return show_job(c, f);
	h = history_new(arg.all_metrics, arg.by_job);
	if (!h)
		return fail_oom(f);
	if (arg.csv)
		csv_print_header(stdout);
	r = take_records(c, h, f);
	if (r < 0 || arg.csv || c->json != CLIENT_JSON_OFF)
		return r;
	if (history_is_empty(h))
		return say_nothing_fits(c, f);
	if (history_has_jobs(h))
		history_set_written(h, is_written(c));
	pager_open(!c->no_pager);
	history_print(h, describe_fingerprint, c);
	return 0;
}

extern const struct verb verb_history;
const struct verb verb_history = {
	.name = "history",
	.arguments = "",
	.summary = "What was measured and kept before, as tables, CSV or JSON",
	.help = "A table for each benchmark as it was configured; in it a line for each class, "
		"machine\n(fingerprint) and metric: the median of all samples that fit, and how "
		"they went over time.\n"
		"Times: -7d, -1h30min, '-2 days' (ms, s, min, h, d, w; a plain number is "
		"seconds), now,\n"
		"yesterday, today, tomorrow, 'today 8:15', 14:05, 2026-11-30, '2026-11-30 "
		"14:05:07' (with UTC\n"
		"or Z behind it in UTC, else in this time zone), @1764500000 (seconds since "
		"1970).\n\n"
		"  --since TIME          not before this\n"
		"  --until TIME          before this\n"
		"  --kind K[,K...]       sample, verdict, noise-floor, change, job; without it: "
		"samples,\n                        with --json every kind\n"
		"  --benchmark SPEC      switch, or configured exactly so: switch:mode=futex\n"
		"  --class C[,C...]      pairs of these classes; may be repeated\n"
		"  --pair A-B            this pair of CPUs, waker and wakee; may be repeated\n"
		"  --job N               of this job; alone, it shows the job as 'jobs show' does\n"
		"  --experiment N        of this experiment\n"
		"  --arm N               of this arm of an experiment\n"
		"  --fingerprint HEX     on a machine with this fingerprint\n"
		"  --kernel RELEASE      on this kernel: 6.1.0-28-amd64, or a pattern: '6.12*'\n"
		"  --parameters HEX      with this hash of a benchmark's parameters\n"
		"  --by job              a line for each job instead of all together (class, the "
		"default)\n"
		"  --all-metrics         not only the main metrics\n"
		"  --csv                 a line for each sample and metric\n",
	.options = options,
	.set = set,
	.run = run,
};
