/* SPDX-License-Identifier: MIT */
/*
 * main of schedlabd: options.
 */
#include <getopt.h>
#include <schedlab/names.h>

#include "app.h"
#include "util/log.h"
#include "util/parse.h"
#include "util/program.h"
#include "version.h"

static void print_help(void)
{
	printf("schedlabd [OPTIONS]\n\n"
	       "Measures what wakeups and cache lines cost between CPUs, and serves it on D-Bus "
	       "as\n" SCHEDLAB_BUS_NAME ". Clients: schedlabctl, busctl.\n\n"
	       "  --user             serve the user's bus instead of the system bus\n"
	       "  --config FILE      configuration (default: " SCHEDLAB_CONF_FILE
	       ", if it exists)\n"
	       "  --topology SPEC    explore another machine: a directory with its /sys and /proc, "
	       "an\n"
	       "                     hwloc FILE.xml, or synthetic:DESCRIPTION; it cannot be "
	       "measured\n"
	       "  --state-dir DIR    keep results there (default: " SCHEDLAB_STATE_DIR
	       "; with --user or\n"
	       "                     --bus-fd $XDG_STATE_HOME/schedlab)\n"
	       "  --log-level LEVEL  err, warning, notice (default), info or debug\n"
	       "  --version          version\n"
	       "  --help             this text\n\n"
	       "For schedlabctl --standalone:\n"
	       "  --bus-fd N         serve one client on this socket, and end with it\n\n"
	       "For tests:\n"
	       "  --root DIR         read the kernel's files below DIR\n"
	       "  --worker PROGRAM   let PROGRAM stand in for the worker and the hardware\n"
	       "  --lock-file FILE   instead of " SCHEDLAB_LOCK_FILE "\n");
}

static int parse_option(int option, struct app_options *o, struct fail *f)
{
	uint64_t fd;
	int level, r;

	switch (option) {
	case 'u':
		o->bus = APP_BUS_USER;
		return 0;
	case 'f':
		r = parse_u64("--bus-fd", optarg, 0, 1 << 20, &fd, f);
		if (r < 0)
			return r;
		o->bus = APP_BUS_SOCKET;
		o->bus_fd = (int)fd;
		return 0;
	case 'c':
		o->config = optarg;
		return 0;
	case 't':
		o->topology = optarg;
		return 0;
	case 'r':
		o->root = optarg;
		return 0;
	case 'w':
		o->worker = optarg;
		return 0;
	case 'L':
		o->lock_file = optarg;
		return 0;
	case 's':
		o->state_dir = optarg;
		return 0;
	case 'l':
		r = log_parse_level(optarg, &level, f);
		if (r >= 0)
			log_set_level(level);
		return r;
	case 'V':
		printf("schedlabd %s\n", SCHEDLAB_VERSION);
		program_end_printed("schedlabd");
	case 'h':
		print_help();
		program_end_printed("schedlabd");
	default:
		/* getopt_long() has said what is wrong. */
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT, "see schedlabd --help");
	}
}

static int parse_arguments(int argc, char *argv[], struct app_options *o, struct fail *f)
{
	static const struct option options[] = {
		{ "user", no_argument, NULL, 'u' },
		{ "bus-fd", required_argument, NULL, 'f' },
		{ "config", required_argument, NULL, 'c' },
		{ "topology", required_argument, NULL, 't' },
		{ "root", required_argument, NULL, 'r' },
		{ "worker", required_argument, NULL, 'w' },
		{ "lock-file", required_argument, NULL, 'L' },
		{ "state-dir", required_argument, NULL, 's' },
		{ "log-level", required_argument, NULL, 'l' },
		{ "version", no_argument, NULL, 'V' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		int r = parse_option(option, o, f);

		if (r < 0)
			return r;
	}
	if (optind < argc)
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
				"'%s' is not expected; see schedlabd --help", argv[optind]);
	return 0;
}

int main(int argc, char *argv[])
{
	struct app_options options = { .bus_fd = -1 };
	struct fail f = { .code = SCHEDLAB_ERROR_FAILED, .message = "it failed" };

	if (parse_arguments(argc, argv, &options, &f) >= 0 && app_run(&options, &f) >= 0)
		return EXIT_SUCCESS;
	log_error("%s", f.message);
	return schedlab_error_status(f.code);
}
