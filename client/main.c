/* SPDX-License-Identifier: MIT */
/*
 * main of schedlabctl: global options, the table of verbs, exit status.
 */
#include <errno.h>
#include <locale.h>
#include <schedlab/names.h>
#include <string.h>

#include "client.h"
#include "command.h"
#include "render/pager.h"
#include "util/program.h"
#include "util/suggest.h"
#include "version.h"

extern const struct verb verb_benchmarks, verb_history, verb_jobs, verb_measure, verb_status,
	verb_store, verb_topology;

static const struct verb *const verbs[] = {
	&verb_status, &verb_topology, &verb_benchmarks, &verb_measure,
	&verb_jobs,   &verb_history,  &verb_store,
};

/* Global options stand before or behind the verb. Values from here on do not meet those of verbs. */
enum {
	OPTION_STANDALONE = 1000,
	OPTION_USER,
	OPTION_SYSTEM,
	OPTION_JSON,
	OPTION_NO_PAGER,
	OPTION_VERBOSE,
	OPTION_VERSION,
	OPTION_HELP,
	OPTION_CONFIG,
	OPTION_TOPOLOGY,
	OPTION_ROOT,
	OPTION_WORKER,
	OPTION_LOCK_FILE,
	OPTION_STATE_DIR,
};

static const struct option global_options[] = {
	{ "standalone", no_argument, NULL, OPTION_STANDALONE },
	{ "user", no_argument, NULL, OPTION_USER },
	{ "system", no_argument, NULL, OPTION_SYSTEM },
	{ "host", required_argument, NULL, 'H' },
	{ "json", required_argument, NULL, OPTION_JSON },
	{ "no-pager", no_argument, NULL, OPTION_NO_PAGER },
	{ "verbose", no_argument, NULL, OPTION_VERBOSE },
	{ "version", no_argument, NULL, OPTION_VERSION },
	{ "help", no_argument, NULL, OPTION_HELP },
	{ "config", required_argument, NULL, OPTION_CONFIG },
	{ "topology", required_argument, NULL, OPTION_TOPOLOGY },
	{ "root", required_argument, NULL, OPTION_ROOT },
	{ "worker", required_argument, NULL, OPTION_WORKER },
	{ "lock-file", required_argument, NULL, OPTION_LOCK_FILE },
	{ "state-dir", required_argument, NULL, OPTION_STATE_DIR },
	{ 0 },
};

static void print_global_options(void)
{
	puts("Where the daemon is:\n"
	     "  (default)             on the system bus; it is started if need be\n"
	     "  --user                on the user's bus\n"
	     "  -H, --host USER@HOST  on the system bus of another host, by ssh\n"
	     "  --standalone          started for this call alone: no bus, no root, nothing "
	     "installed\n"
	     "\n"
	     "Output:\n"
	     "  --json MODE           pretty, short or off (default); -j is pretty on a terminal, "
	     "else short\n"
	     "  --no-pager            no pager on a terminal\n"
	     "  --verbose             say more on standard error\n"
	     "  --version, --help     what this is; help for a verb: schedlabctl VERB --help\n"
	     "\n"
	     "For a standalone daemon (each implies --standalone):\n"
	     "  --topology SPEC       explore another machine: a directory with its /sys and "
	     "/proc,\n"
	     "                        an hwloc FILE.xml, or synthetic:DESCRIPTION\n"
	     "  --config FILE         its configuration\n"
	     "  --state-dir DIR       where results are kept (default: $XDG_STATE_HOME/schedlab)\n"
	     "  --root DIR, --worker PROGRAM, --lock-file FILE   for tests; see schedlabd --help");
}

static void print_help(void)
{
	puts("schedlabctl [OPTIONS] VERB [ARGUMENTS]\n\n"
	     "Asks schedlabd what wakeups and cache lines cost between the CPUs of a machine.\n\n"
	     "Verbs:");
	for (size_t i = 0; i < ELEMENTSOF(verbs); i++)
		printf("  %-12s %s\n", verbs[i]->name, verbs[i]->summary);
	puts("");
	print_global_options();
	puts("\nExit status: 0 done, 1 a job or the daemon failed, 2 bad input.");
}

static void print_verb_help(const struct verb *verb)
{
	printf("schedlabctl %s [OPTIONS] %s\n\n%s.\n\n", verb->name, verb->arguments,
	       verb->summary);
	if (verb->help)
		puts(verb->help);
	print_global_options();
}

static bool is_verb(const char *name)
{
	for (size_t i = 0; i < ELEMENTSOF(verbs); i++)
		if (strcmp(verbs[i]->name, name) == 0)
			return true;
	return false;
}

static int fail_json(struct fail *f)
{
	return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
			"--json wants pretty, short or off; -j needs none");
}

static int set_json(struct client *c, const char *mode, struct fail *f)
{
	static const char *const modes[] = { "off", "short", "pretty" };
	_cleanup_free_ char *hint = NULL;

	for (size_t i = 0; i < ELEMENTSOF(modes); i++) {
		if (strcmp(modes[i], mode) == 0) {
			c->json = (enum client_json)i;
			return 0;
		}
	}
	/* Then it stands where the value should. */
	if (*mode == '-' || is_verb(mode))
		return fail_json(f);
	hint = suggest_sentence(mode, modes, ELEMENTSOF(modes));
	return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT, "--json: '%.40s' is no mode%s", mode,
			hint ? hint : "");
}

static int set_where(struct client *c, enum client_bus where, const char *option, struct fail *f)
{
	if (c->where_option && c->where != where)
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
				"%s and %s exclude each other: there is one daemon to ask",
				c->where_option, option);
	c->where = where;
	c->where_option = option;
	return 0;
}

/* For options that only a standalone daemon has. */
static int set_standalone(struct client *c, const char *option, const char **slot, struct fail *f)
{
	*slot = optarg;
	return set_where(c, CLIENT_BUS_STANDALONE, option, f);
}

static int set_global(struct client *c, int option, struct fail *f)
{
	switch (option) {
	case OPTION_STANDALONE:
		return set_where(c, CLIENT_BUS_STANDALONE, "--standalone", f);
	case OPTION_USER:
		return set_where(c, CLIENT_BUS_USER, "--user", f);
	case OPTION_SYSTEM:
		return set_where(c, CLIENT_BUS_SYSTEM, "--system", f);
	case 'H':
		c->host = optarg;
		return set_where(c, CLIENT_BUS_HOST, "--host", f);
	case 'j':
		c->json = isatty(STDOUT_FILENO) ? CLIENT_JSON_PRETTY : CLIENT_JSON_SHORT;
		return 0;
	case OPTION_JSON:
		return set_json(c, optarg, f);
	case OPTION_NO_PAGER:
		c->no_pager = true;
		return 0;
	case OPTION_VERBOSE:
		c->verbose = true;
		return 0;
	case OPTION_CONFIG:
		return set_standalone(c, "--config", &c->config, f);
	case OPTION_TOPOLOGY:
		return set_standalone(c, "--topology", &c->topology, f);
	case OPTION_ROOT:
		return set_standalone(c, "--root", &c->root, f);
	case OPTION_WORKER:
		return set_standalone(c, "--worker", &c->worker, f);
	case OPTION_LOCK_FILE:
		return set_standalone(c, "--lock-file", &c->lock_file, f);
	case OPTION_STATE_DIR:
		return set_standalone(c, "--state-dir", &c->state_dir, f);
	default:
		return -ENOENT;
	}
}

static bool is_unknown_letter(const struct option *options, int letter)
{
	for (size_t i = 0; options[i].name; i++)
		if (options[i].val == letter)
			return false;
	return letter > ' ' && letter < 0x7f;
}

/* What getopt_long() did not understand. */
static int fail_option(const struct option *options, char *argv[], int option, struct fail *f)
{
	const char *typed = argv[optind - 1];
	const char *names[64];
	char bare[80], list[256] = "";
	size_t n = 0, n_like = 0;
	const char *near;

	if (option == ':' && optopt == OPTION_JSON)
		return fail_json(f);
	if (option == ':')
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT, "option '%.60s' wants a value",
				typed);
	if (is_unknown_letter(options, optopt))
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
				"there is no option '-%c' here; see --help", optopt);
	(void)snprintf(bare, sizeof(bare), "%.70s", typed + strspn(typed, "-"));
	bare[strcspn(bare, "=")] = '\0';
	for (; n < ELEMENTSOF(names) && options[n].name; n++) {
		names[n] = options[n].name;
		if (strcmp(bare, names[n]) == 0)
			return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
					"option '--%s' takes no value", bare);
		if (strncmp(bare, names[n], strlen(bare)) == 0)
			(void)snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s--%s",
				       n_like++ ? ", " : "", names[n]);
	}
	if (n_like > 1)
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
				"option '--%s' may be one of %s; write it out", bare, list);
	near = suggest_name(bare, names, n);
	return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
			"there is no option '%.60s' here%s%s%s; see --help", typed,
			near ? "; did you mean '--" : "", near ? near : "", near ? "'?" : "");
}

static int find_verb(const char *name, const struct verb **ret, struct fail *f)
{
	const char *names[ELEMENTSOF(verbs)];
	_cleanup_free_ char *hint = NULL;

	for (size_t i = 0; i < ELEMENTSOF(verbs); i++) {
		if (strcmp(verbs[i]->name, name) == 0) {
			*ret = verbs[i];
			return 0;
		}
		names[i] = verbs[i]->name;
	}
	hint = suggest_sentence(name, names, ELEMENTSOF(names));
	return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT, "there is no verb '%.40s'%s", name,
			hint ? hint : "");
}

/* The options of a verb with the global ones behind them. */
static void join_options(const struct verb *verb, struct option *all, size_t room)
{
	size_t n = 0;

	for (size_t i = 0; verb && verb->options && verb->options[i].name && n + 1 < room; i++)
		all[n++] = verb->options[i];
	for (size_t i = 0; global_options[i].name && n + 1 < room; i++)
		all[n++] = global_options[i];
	all[n] = (struct option){ 0 };
}

static int parse_options(struct client *c, const struct verb *verb, int argc, char *argv[],
			 struct fail *f)
{
	struct option all[64];
	int option, r;

	join_options(verb, all, ELEMENTSOF(all));
	opterr = 0;
	/* Before the verb, parsing ends at the first word that is no option; behind it, at the end. */
	while ((option = getopt_long(argc, argv, verb ? ":H:jh" : "+:H:jh", all, NULL)) >= 0) {
		if (option == '?' || option == ':')
			return fail_option(all, argv, option, f);
		if (option == OPTION_VERSION) {
			printf("schedlabctl %s\n", SCHEDLAB_VERSION);
			program_end_printed("schedlabctl");
		}
		if (option == OPTION_HELP || option == 'h') {
			if (verb)
				print_verb_help(verb);
			else
				print_help();
			program_end_printed("schedlabctl");
		}
		r = set_global(c, option, f);
		if (r == -ENOENT && verb && verb->set)
			r = verb->set(option, optarg, f);
		if (r < 0)
			return r;
	}
	return 0;
}

static int run(struct client *c, int argc, char *argv[], struct fail *f)
{
	const struct verb *verb = NULL;
	int r = parse_options(c, NULL, argc, argv, f);

	if (r < 0)
		return r;
	if (optind == argc)
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
				"name a verb; see schedlabctl --help");
	if (strcmp(argv[optind], "help") == 0) {
		print_help();
		return 0;
	}
	r = find_verb(argv[optind], &verb, f);
	if (r < 0)
		return r;
	argc -= optind;
	argv += optind;
	optind = 0; /* getopt starts anew, with another order */
	r = parse_options(c, verb, argc, argv, f);
	if (r < 0)
		return r;
	r = client_connect(c, f);
	if (r >= 0)
		r = verb->run(c, argc - optind, argv + optind, f);
	pager_close();
	return r;
}

bool client_print_json(const struct client *c, const char *text)
{
	_cleanup_(json_decrefp) json_t *root = NULL;
	_cleanup_free_ char *pretty = NULL;

	if (c->json == CLIENT_JSON_OFF)
		return false;
	if (c->json == CLIENT_JSON_PRETTY) {
		root = json_loads(text, 0, NULL);
		pretty = root ? json_dumps(root, JSON_INDENT(2)) : NULL;
	}
	puts(pretty ? pretty : text);
	return true;
}

int client_check_texts(const char *what, const char *const *texts, size_t n, struct fail *f)
{
	for (size_t i = 0; i < n; i++) {
		_cleanup_(json_decrefp) json_t *text = json_string(texts[i]);

		if (!text)
			return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
					"%s %zu is not UTF-8 text", what, i + 1);
	}
	return 0;
}

int client_no_arguments(int argc, char *argv[], struct fail *f)
{
	if (argc == 0)
		return 0;
	return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT, "'%.60s' is not expected; see --help",
			argv[0]);
}

/* What the sentence does not say already: what to do in general. */
static const char *advice_for(const struct fail *f)
{
	switch (f->code) {
	case SCHEDLAB_ERROR_INVALID_ARGUMENT:
	case SCHEDLAB_ERROR_CANCELLED:
	case SCHEDLAB_ERROR_FAILED:
		return NULL;
	default:
		return schedlab_error_advice(f->code);
	}
}

/* Commands in it are given for the daemon that was asked. */
static void print_sentence(const struct client *c, const char *sentence)
{
	_cleanup_free_ char *ours = command_in_sentence(sentence, client_command(c));

	(void)fprintf(stderr, "%s\n", ours ? ours : sentence);
}

int main(int argc, char *argv[])
{
	struct client c = { .where = CLIENT_BUS_SYSTEM };
	struct fail f = { .code = SCHEDLAB_ERROR_FAILED, .message = "it failed" };
	int r;

	/* Characters only: numbers keep their decimal point. */
	(void)setlocale(LC_CTYPE, "");
	r = run(&c, argc, argv, &f);
	client_disconnect(&c);
	if (r >= 0 && (fflush(stdout) != 0 || ferror(stdout))) {
		(void)fail_errno(&f, errno, "cannot write the output");
		r = -EIO;
	}
	if (r >= 0)
		return EXIT_SUCCESS;
	(void)fputs("schedlabctl: ", stderr);
	print_sentence(&c, f.message);
	if (advice_for(&f))
		print_sentence(&c, advice_for(&f));
	return schedlab_error_status(f.code);
}
