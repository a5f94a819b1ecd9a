/* SPDX-License-Identifier: MIT */
/*
 * schedlabctl: one connection, one verb.
 */
#pragma once

#include <getopt.h>
#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>
#include <systemd/sd-bus.h>

#include "util/fail.h"

enum client_bus { CLIENT_BUS_SYSTEM, CLIENT_BUS_USER, CLIENT_BUS_HOST, CLIENT_BUS_STANDALONE };
enum client_json { CLIENT_JSON_OFF, CLIENT_JSON_SHORT, CLIENT_JSON_PRETTY };

struct client {
	enum client_bus where;
	const char *where_option; /* that said so; NULL: the default */
	const char *host;         /* of CLIENT_BUS_HOST: user@host */
	enum client_json json;
	bool verbose;
	bool no_pager;

	/* Passed on to a standalone daemon. */
	const char *config, *topology, *root, *worker, *lock_file, *state_dir;

	sd_bus *bus;
	pid_t daemon; /* of CLIENT_BUS_STANDALONE */
};

/* One verb; its own options follow it on the command line. */
struct verb {
	const char *name;
	const char *arguments; /* "[BENCHMARK...]" */
	const char *summary;
	const char *help;             /* its options and more, whole lines; NULL */
	const struct option *options; /* ends with { 0 }; NULL */
	/* An option of the verb: @value as in struct option. */
	int (*set)(int value, const char *argument, struct fail *f);
	/* @argc and @argv are the arguments behind the verb, without options. */
	int (*run)(struct client *c, int argc, char *argv[], struct fail *f);
};

/* Connects as the client's options say, and makes sure that both sides have one version. */
int client_connect(struct client *c, struct fail *f);
/* Closes the connection; a standalone daemon ends. */
void client_disconnect(struct client *c);

/* Asks an object for a JSON text: a method without arguments that returns one string. */
int client_get_json(struct client *c, const char *path, const char *interface, const char *method,
		    char **ret, struct fail *f);

/* The one object path that @reply holds. The caller frees it. */
int client_read_path(sd_bus_message *reply, char **ret, struct fail *f);

/* From a D-Bus error to ours, with its sentence. Returns the negative errno. */
int client_fail(struct client *c, int r, const sd_bus_error *error, struct fail *f);

/* How to call this program again for the same daemon and store: "schedlabctl --user". */
const char *client_command(const struct client *c);

/* For verbs: with --json prints @text as it is (short) or indented (pretty) and returns true. */
bool client_print_json(const struct client *c, const char *text);

/* Refuses texts that are not UTF-8: D-Bus carries nothing else, and would not say which it is. */
int client_check_texts(const char *what, const char *const *texts, size_t n, struct fail *f);

/* Refuses arguments that a verb does not take. */
int client_no_arguments(int argc, char *argv[], struct fail *f);
