/* SPDX-License-Identifier: MIT */
/*
 * The connection: system bus, user's bus, another host, or a daemon of one's own on a socket pair.
 */
#include <errno.h>
#include <fcntl.h>
#include <schedlab/names.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "client.h"
#include "command.h"
#include "util/program.h"
#include "version.h"

#define DAEMON_NAME "schedlabd"
#define DAEMON_FD   3 /* where a standalone daemon finds its end of the socket pair */

struct arguments {
	char *list[24];
	size_t n;
};

/* Copies, since exec wants plain char *; freed by free_arguments(). */
static void add_argument(struct arguments *a, const char *text)
{
	if (a->n + 1 < ELEMENTSOF(a->list))
		a->list[a->n++] = strdup(text);
}

static void add_option(struct arguments *a, const char *name, const char *value)
{
	if (!value)
		return;
	add_argument(a, name);
	add_argument(a, value);
}

static void free_arguments(struct arguments *a)
{
	for (size_t i = 0; i < a->n; i++)
		free(a->list[i]);
}

static void make_arguments(const struct client *c, struct arguments *a)
{
	char fd[16];

	(void)snprintf(fd, sizeof(fd), "%d", DAEMON_FD);
	add_argument(a, DAEMON_NAME);
	add_option(a, "--bus-fd", fd);
	add_option(a, "--log-level", c->verbose ? "info" : "warning");
	add_option(a, "--config", c->config);
	add_option(a, "--topology", c->topology);
	add_option(a, "--root", c->root);
	add_option(a, "--worker", c->worker);
	add_option(a, "--lock-file", c->lock_file);
	add_option(a, "--state-dir", c->state_dir);
}

/* In a process group of its own: a ^C at the terminal is the client's, which cancels in order. */
static int spawn_daemon(const struct client *c, const char *program, int fd, pid_t *ret)
{
	_cleanup_(free_arguments) struct arguments a = { 0 };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int r;

	make_arguments(c, &a);
	if (!program || posix_spawnattr_init(&attributes) != 0)
		return -ENOMEM;
	if (posix_spawn_file_actions_init(&actions) != 0) {
		(void)posix_spawnattr_destroy(&attributes);
		return -ENOMEM;
	}
	r = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
	if (r == 0)
		r = posix_spawnattr_setpgroup(&attributes, 0);
	if (r == 0)
		r = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY,
						     0);
	if (r == 0)
		r = posix_spawn_file_actions_adddup2(&actions, fd, DAEMON_FD);
	if (r == 0)
		r = posix_spawn(ret, program, &actions, &attributes, a.list, environ);
	(void)posix_spawn_file_actions_destroy(&actions);
	(void)posix_spawnattr_destroy(&attributes);
	return -r;
}

static int open_standalone(struct client *c, struct fail *f)
{
	_cleanup_free_ char *program = NULL;
	_cleanup_fd_ int ours = -1, theirs = -1;
	int fds[2], r;

	r = program_find(DAEMON_NAME, SCHEDLAB_SBINDIR, &program, f);
	if (r < 0)
		return r;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
		return fail_errno(f, errno, "cannot make a socket pair");
	ours = fds[0];
	theirs = fds[1];
	r = spawn_daemon(c, program, theirs, &c->daemon);
	if (r < 0) {
		c->daemon = 0;
		return fail_errno(f, r, "cannot start %s", program);
	}
	r = sd_bus_new(&c->bus);
	if (r >= 0)
		r = sd_bus_set_fd(c->bus, ours, ours);
	if (r >= 0) {
		(void)TAKE_FD(ours);
		r = sd_bus_start(c->bus);
	}
	return r < 0 ? fail_errno(f, r, "cannot talk to %s", program) : 0;
}

static int open_bus(struct client *c, struct fail *f)
{
	int r;

	switch (c->where) {
	case CLIENT_BUS_STANDALONE:
		return open_standalone(c, f);
	case CLIENT_BUS_USER:
		r = sd_bus_open_user(&c->bus);
		return r < 0 ? fail_errno(f, r, "cannot connect to the user's bus") : 0;
	case CLIENT_BUS_HOST:
		r = sd_bus_open_system_remote(&c->bus, c->host);
		return r < 0 ? fail_errno(f, r, "cannot connect to the system bus of %s", c->host)
			     : 0;
	default:
		r = sd_bus_open_system(&c->bus);
		return r < 0 ? fail_errno(f, r,
					  "cannot connect to the system bus (without one, use "
					  "--standalone)")
			     : 0;
	}
}

/* A standalone daemon that ended has said why; its status becomes ours. */
static int fail_ended(struct client *c, struct fail *f)
{
	int status;
	pid_t pid = c->daemon;

	c->daemon = 0;
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return fail_set(f, SCHEDLAB_ERROR_FAILED, "the daemon died");
	return fail_set(f,
			WEXITSTATUS(status) == 2 ? SCHEDLAB_ERROR_INVALID_ARGUMENT
						 : SCHEDLAB_ERROR_FAILED,
			"the daemon could not start; it said why above");
}

const char *client_command(const struct client *c)
{
	static char *command;
	const char *option = "", *value = NULL;
	_cleanup_free_ char *word = NULL;

	if (command)
		return command;
	if (c->where == CLIENT_BUS_USER)
		option = " --user";
	if (c->where == CLIENT_BUS_HOST) {
		option = " -H ";
		value = c->host;
	}
	if (c->where == CLIENT_BUS_STANDALONE) {
		option = c->state_dir ? " --standalone --state-dir " : " --standalone";
		value = c->state_dir;
	}
	word = value ? command_quote(value) : NULL;
	if (asprintf(&command, "schedlabctl%s%s", option, word ? word : "") < 0)
		command = NULL;
	return command ? command : "schedlabctl";
}

static bool is_missing_service(const sd_bus_error *error)
{
	return sd_bus_error_has_name(error, SD_BUS_ERROR_SERVICE_UNKNOWN) ||
	       sd_bus_error_has_name(error, SD_BUS_ERROR_NAME_HAS_NO_OWNER) ||
	       sd_bus_error_has_name(error, "org.freedesktop.systemd1.NoSuchUnit");
}

/* A broker closes the connection of a user that it does not want, without a word. */
static int fail_lost(const struct client *c, int error, struct fail *f)
{
	if (c->where == CLIENT_BUS_HOST)
		return fail_set(f, SCHEDLAB_ERROR_FAILED,
				"no connection to the bus of %s (%s): ssh may have said why; "
				"'ssh %s systemd-stdio-bridge' must work, without a password",
				c->host, strerror(-error), c->host);
	return fail_set(f, SCHEDLAB_ERROR_FAILED,
			"the bus closed the connection (%s): it has stopped, or does not let this "
			"user in; without it, use --standalone",
			strerror(-error));
}

int client_fail(struct client *c, int r, const sd_bus_error *error, struct fail *f)
{
	enum schedlab_error code = schedlab_error_from_name(error->name);

	if (c->daemon > 0 && (r == -ECONNRESET || r == -ENOTCONN || r == -EPIPE))
		return fail_ended(c, f);
	if (code != SCHEDLAB_ERROR_INVALID)
		return fail_set(f, code, "%s", error->message ? error->message : "it failed");
	if (is_missing_service(error))
		return fail_set(f, SCHEDLAB_ERROR_FAILED,
				"no daemon answers on the bus (%s); start it with '%s', or use "
				"--standalone",
				error->message,
				c->where == CLIENT_BUS_USER ? "schedlabd --user"
							    : "systemctl start schedlabd");
	/* The broker says so; where time ran out, the name is the same and sd-bus says that. */
	if (sd_bus_error_has_name(error, SD_BUS_ERROR_NO_REPLY) && error->message &&
	    !strstr(error->message, "timed out"))
		return fail_set(f, SCHEDLAB_ERROR_FAILED,
				"the daemon has gone before it could answer (%s)", error->message);
	if (sd_bus_error_has_name(error, SD_BUS_ERROR_ACCESS_DENIED))
		return fail_set(f, SCHEDLAB_ERROR_FAILED, "not allowed; try as root (%s)",
				error->message);
	if (r == -ECONNRESET || r == -ENOTCONN || r == -EPIPE)
		return fail_lost(c, r, f);
	return fail_set(f, SCHEDLAB_ERROR_FAILED, "%s",
			error->message ? error->message : strerror(abs(r)));
}

static int check_version(struct client *c, struct fail *f)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	_cleanup_free_ char *version = NULL;
	int r = sd_bus_get_property_string(c->bus, SCHEDLAB_BUS_NAME, SCHEDLAB_PATH,
					   SCHEDLAB_INTERFACE_MANAGER, "Version", &error, &version);

	if (r < 0)
		return client_fail(c, r, &error, f);
	if (strcmp(version, SCHEDLAB_VERSION) != 0)
		return fail_set(f, SCHEDLAB_ERROR_FAILED,
				"this is schedlabctl %s, but the daemon is %s: both must be of one "
				"version; restart the daemon after an upgrade",
				SCHEDLAB_VERSION, version);
	return 0;
}

int client_connect(struct client *c, struct fail *f)
{
	int r = open_bus(c, f);

	return r < 0 ? r : check_version(c, f);
}

void client_disconnect(struct client *c)
{
	c->bus = sd_bus_flush_close_unref(c->bus);
	if (c->daemon > 0)
		(void)waitpid(c->daemon, NULL, 0);
	c->daemon = 0;
}

int client_get_json(struct client *c, const char *path, const char *interface, const char *method,
		    char **ret, struct fail *f)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	const char *text;
	int r = sd_bus_call_method(c->bus, SCHEDLAB_BUS_NAME, path, interface, method, &error,
				   &reply, NULL);

	if (r < 0)
		return client_fail(c, r, &error, f);
	r = sd_bus_message_read_basic(reply, 's', &text);
	if (r < 0)
		return fail_errno(f, r, "the daemon's answer cannot be read");
	*ret = strdup(text);
	return *ret ? 0 : fail_oom(f);
}

int client_read_path(sd_bus_message *reply, char **ret, struct fail *f)
{
	const char *path;
	int r = sd_bus_message_read_basic(reply, 'o', &path);

	if (r < 0)
		return fail_errno(f, r, "the daemon's answer cannot be read");
	*ret = strdup(path);
	return *ret ? 0 : fail_oom(f);
}
