/* SPDX-License-Identifier: MIT */
/*
 * store: look after what is kept: check, backup, clear, resize.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <schedlab/names.h>
#include <schedlab/units.h>
#include <string.h>

#include "backup.h"
#include "client.h"
#include "command.h"
#include "render/table.h"
#include "render/text.h"
#include "util/parse.h"
#include "util/suggest.h"

#define SIZE_LEAST    MIB
#define SIZE_GREATEST GIB
#define RECORD_SIZE   512
#define PATIENCE      (600 * USEC_PER_SEC) /* a large store is read, or written anew */
#define RECORDS_NAME  "store.ring"
#define SIDE_NAME     "side.ring"

static bool arg_yes;

enum { OPTION_YES = 1 };

static const struct option options[] = {
	{ "yes", no_argument, NULL, OPTION_YES },
	{ 0 },
};

static int set(int option, const char *argument, struct fail *f)
{
	(void)option;
	(void)argument;
	(void)f;
	arg_yes = true;
	return 0;
}

static json_int_t integer_of(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static int get_check(struct client *c, json_t **ret, struct fail *f)
{
	_cleanup_free_ char *text = NULL;
	int r = client_get_json(c, SCHEDLAB_PATH, SCHEDLAB_INTERFACE_MANAGER, "CheckStore", &text,
				f);

	if (r < 0)
		return r;
	*ret = text_load(text);
	return *ret ? 0
		    : fail_set(f, SCHEDLAB_ERROR_FAILED,
			       "the daemon's answer about the store is "
			       "no JSON");
}

/* For people; @one: there is one of them. */
static const char *name_kind(const char *kind, bool one)
{
	if (strcmp(kind, "sample") == 0)
		return one ? "sample" : "samples";
	if (strcmp(kind, "job") == 0)
		return one ? "begin or end of a job" : "begins and ends of jobs";
	return kind;
}

/* "1234 of at most 131072"; of a store without a file: none. */
static void print_counts(const json_t *store)
{
	json_t *kinds = json_object_get(store, "kinds"), *n;
	const char *kind, *before = ": ";

	if (!json_is_integer(json_object_get(store, "slots"))) {
		puts("  records       none, as nothing has been kept yet");
		return;
	}
	printf("  records       %lld of at most %lld", (long long)integer_of(store, "whole"),
	       (long long)integer_of(store, "slots"));
	json_object_foreach (kinds, kind, n) {
		printf("%s%lld %s", before, (long long)json_integer_value(n),
		       name_kind(kind, json_integer_value(n) == 1));
		before = ", ";
	}
	printf("\n  torn          %lld%s\n", (long long)integer_of(store, "torn"),
	       integer_of(store, "torn") > 0
		       ? ": damaged, or being written when the machine stopped; never shown"
		       : "");
	if (integer_of(store, "whole") > 0)
		printf("  oldest        %s\n  newest        %s\n",
		       TEXT_TIME(integer_of(store, "oldest_usec")),
		       TEXT_TIME(integer_of(store, "newest_usec")));
	if (integer_of(store, "clock_steps_back") > 0)
		printf("  clock         was set back %lld time%s: records stand in the order in "
		       "which they were kept\n",
		       (long long)integer_of(store, "clock_steps_back"),
		       integer_of(store, "clock_steps_back") == 1 ? "" : "s");
}

static void print_files(const json_t *store)
{
	const json_t *side = json_object_get(store, "side");
	json_t *file;
	size_t i;

	if (json_is_integer(json_object_get(side, "slots"))) {
		printf("  side file     %s of texts, %lld of %lld slots used",
		       FORMAT_BYTES((double)integer_of(side, "bytes")),
		       (long long)(integer_of(side, "slots") - integer_of(side, "empty")),
		       (long long)integer_of(side, "slots"));
		if (integer_of(side, "torn") > 0)
			printf(", %lld torn", (long long)integer_of(side, "torn"));
		puts("");
	} else if (integer_of(store, "whole") > 0)
		puts("  side file     missing or unreadable: options, names of metrics and kernels "
		     "of what is kept are not known");
	if (json_is_integer(json_object_get(store, "superblocks")) &&
	    integer_of(store, "superblocks") == 1)
		puts("  superblock    one of two is damaged; the next daemon that writes mends it");
	if (*text_of(store, "writer"))
		printf("  written by    %s\n", text_of(store, "writer"));
	json_array_foreach (json_object_get(store, "set_aside"), i, file)
		printf("  set aside     %s, %s: it could not be used, and nothing reads it\n",
		       text_of(file, "name"), FORMAT_BYTES((double)integer_of(file, "bytes")));
}

/* Nothing that is kept was damaged, and more can be kept. */
static bool is_well(const json_t *store)
{
	const json_t *side = json_object_get(store, "side");
	const json_t *superblocks = json_object_get(store, "superblocks");

	return integer_of(store, "torn") == 0 && integer_of(side, "torn") == 0 &&
	       (json_is_object(side) || integer_of(store, "whole") == 0) &&
	       (!json_is_integer(superblocks) || json_integer_value(superblocks) == 2) &&
	       json_array_size(json_object_get(store, "set_aside")) == 0 &&
	       *text_of(store, "why") == '\0';
}

static int check(struct client *c, const char *argument, struct fail *f)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_(json_decrefp) json_t *store = NULL;
	int r = client_get_json(c, SCHEDLAB_PATH, SCHEDLAB_INTERFACE_MANAGER, "CheckStore", &text,
				f);

	(void)argument;
	if (r < 0 || client_print_json(c, text))
		return r;
	store = text_load(text);
	printf("Store: %s", *text_of(store, "path") ? text_of(store, "path") : "none");
	if (json_is_integer(json_object_get(store, "slots")))
		printf(", %s of records",
		       FORMAT_BYTES((double)integer_of(store, "slots") * RECORD_SIZE));
	puts("");
	print_counts(store);
	print_files(store);
	if (*text_of(store, "why"))
		printf("In trouble: %s\n", text_of(store, "why"));
	else if (is_well(store) && json_is_integer(json_object_get(store, "slots")))
		puts("All is well.");
	return 0;
}

/* A daemon of one's own needs no stop; one that runs would not look at what is put under it. */
static void print_restore(FILE *out, const struct client *c, const char *file,
			  const char *directory)
{
	bool service = c->where != CLIENT_BUS_STANDALONE;
	_cleanup_free_ char *from = command_quote_archive(file), *to = command_quote(directory);

	if (from && to)
		(void)fprintf(out, "To put it back%s: mkdir -p %s && tar -xf %s -C %s%s\n",
			      service ? ", stop the daemon" : "", to, from, to,
			      service ? "; and start it again" : "");
}

/* What there is now, and how to put it back; where the archive itself is the output, beside it. */
static void print_backup(const struct client *c, const char *file, const json_t *store,
			 uint64_t bytes, const struct backup_member members[2])
{
	_cleanup_free_ char *directory = strdup(text_of(store, "path"));
	char *end = directory ? strrchr(directory, '/') : NULL;
	bool piped = strcmp(file, "-") == 0;
	FILE *out = piped ? stderr : stdout;

	(void)fprintf(out, "%s: %lld records, %s (%s of %s, %s of %s)\n",
		      piped ? "the archive" : file, (long long)integer_of(store, "whole"),
		      FORMAT_BYTES((double)bytes), FORMAT_BYTES((double)members[0].bytes),
		      members[0].name, FORMAT_BYTES((double)members[1].bytes), members[1].name);
	if (!end)
		return;
	*end = '\0';
	print_restore(out, c, piped ? "FILE" : file, directory);
}

static int receive(struct client *c, const char *file, const json_t *store, struct fail *f)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	struct backup_member members[2] = { { .name = RECORDS_NAME }, { .name = SIDE_NAME } };
	uint64_t bytes = 0;
	int r = sd_bus_call_method(c->bus, SCHEDLAB_BUS_NAME, SCHEDLAB_PATH,
				   SCHEDLAB_INTERFACE_MANAGER, "BackupStore", &error, &reply, NULL);

	if (r < 0)
		return client_fail(c, r, &error, f);
	r = sd_bus_message_read(reply, "htht", &members[0].fd, &members[0].bytes, &members[1].fd,
				&members[1].bytes);
	if (r < 0)
		return fail_errno(f, r, "cannot read the daemon's answer");
	r = backup_write(file, members, ELEMENTSOF(members), c->where != CLIENT_BUS_SYSTEM, &bytes,
			 f);
	if (r >= 0)
		print_backup(c, file, store, bytes, members);
	return r;
}

static int backup(struct client *c, const char *file, struct fail *f)
{
	_cleanup_(json_decrefp) json_t *store = NULL;
	int r;

	if (c->where == CLIENT_BUS_HOST)
		return fail_set(f, SCHEDLAB_ERROR_NOT_HERE,
				"the store of %s cannot be sent over --host, which carries no "
				"files; there, 'schedlabctl --system store backup FILE' makes one",
				c->host);
	r = backup_check(file, f);
	if (r >= 0)
		r = get_check(c, &store, f);
	return r < 0 ? r : receive(c, file, store, f);
}

static int clear(struct client *c, const char *argument, struct fail *f)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	_cleanup_(json_decrefp) json_t *store = NULL;
	uint64_t removed = 0;
	int r;

	(void)argument;
	if (!arg_yes) {
		r = get_check(c, &store, f);
		return r < 0 ? r
			     : fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
					"this removes all %lld records of %s, and nothing brings "
					"them back; add --yes if that is meant",
					(long long)integer_of(store, "whole"),
					text_of(store, "path"));
	}
	r = sd_bus_call_method(c->bus, SCHEDLAB_BUS_NAME, SCHEDLAB_PATH, SCHEDLAB_INTERFACE_MANAGER,
			       "ClearStore", &error, &reply, NULL);
	if (r < 0)
		return client_fail(c, r, &error, f);
	r = sd_bus_message_read(reply, "t", &removed);
	if (r < 0)
		return fail_errno(f, r, "cannot read the daemon's answer");
	printf("removed %" PRIu64 " record%s\n", removed, removed == 1 ? "" : "s");
	return 0;
}

/* Whether what would go may go. */
static int check_loss(const json_t *store, uint64_t bytes, struct fail *f)
{
	json_int_t whole = integer_of(store, "whole");
	json_int_t room = (json_int_t)(bytes / RECORD_SIZE);

	if (arg_yes || whole <= room)
		return 0;
	return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
			"this removes the oldest %lld of %lld records of %s, and nothing brings "
			"them back; add --yes if that is meant",
			(long long)(whole - room), (long long)whole, text_of(store, "path"));
}

static int resize(struct client *c, const char *size, struct fail *f)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	_cleanup_(json_decrefp) json_t *before = NULL, *store = NULL;
	uint64_t bytes = 0;
	json_int_t gone;
	int r = parse_size("resize", size, SIZE_LEAST, SIZE_GREATEST, &bytes, f);

	if (r >= 0)
		r = get_check(c, &before, f);
	if (r >= 0)
		r = check_loss(before, bytes, f);
	if (r < 0)
		return r;
	r = sd_bus_call_method(c->bus, SCHEDLAB_BUS_NAME, SCHEDLAB_PATH, SCHEDLAB_INTERFACE_MANAGER,
			       "ResizeStore", &error, NULL, "t", bytes);
	if (r < 0)
		return client_fail(c, r, &error, f);
	r = get_check(c, &store, f);
	if (r < 0)
		return r;
	gone = integer_of(before, "whole") - integer_of(store, "whole");
	printf("%s: %s, %lld records of at most %lld", text_of(store, "path"),
	       FORMAT_BYTES((double)integer_of(store, "slots") * RECORD_SIZE),
	       (long long)integer_of(store, "whole"), (long long)integer_of(store, "slots"));
	if (gone > 0)
		printf("; %lld removed", (long long)gone);
	puts("");
	return 0;
}

static const struct {
	const char *name;
	const char *wants; /* one argument; NULL: none */
	int (*run)(struct client *c, const char *argument, struct fail *f);
} actions[] = {
	{ "check", NULL, check },
	{ "backup", "the name of a new file, or -", backup },
	{ "clear", NULL, clear },
	{ "resize", "a size, like 128M", resize },
};

static int run(struct client *c, int argc, char *argv[], struct fail *f)
{
	const char *names[ELEMENTSOF(actions)];
	const char *name = argc > 0 ? argv[0] : "check";
	_cleanup_free_ char *hint = NULL;

	(void)sd_bus_set_method_call_timeout(c->bus, PATIENCE);
	if (arg_yes && strcmp(name, "clear") != 0 && strcmp(name, "resize") != 0)
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
				"--yes belongs to 'store clear' and 'store resize', not to 'store "
				"%.40s'",
				name);
	for (size_t i = 0; i < ELEMENTSOF(actions); i++) {
		names[i] = actions[i].name;
		if (strcmp(actions[i].name, name) != 0)
			continue;
		if (actions[i].wants && argc != 2)
			return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT, "store %s wants %s",
					name, actions[i].wants);
		if (!actions[i].wants && argc > 1)
			return client_no_arguments(argc - 1, argv + 1, f);
		return actions[i].run(c, argc > 1 ? argv[1] : NULL, f);
	}
	hint = suggest_sentence(name, names, ELEMENTSOF(names));
	return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT, "store: '%.40s' is no action%s", name,
			hint ? hint : "");
}

extern const struct verb verb_store;
const struct verb verb_store = {
	.name = "store",
	.arguments = "[check | backup FILE | clear --yes | resize SIZE [--yes]]",
	.summary = "Look after what is kept: check, back up, clear, resize",
	.help = "  check                 how much is kept, since when, and whether all is well "
		"(default)\n"
		"  backup FILE           a tar archive of it; .tar.gz, .tar.xz, .tar.zst and the "
		"like\n                        compress it; - is standard output\n"
		"  clear --yes           remove all of it\n"
		"  resize SIZE [--yes]   1M to 1G; 64M hold 131072 records. The newest that fit "
		"stay;\n                        --yes where others go\n",
	.options = options,
	.set = set,
	.run = run,
};
