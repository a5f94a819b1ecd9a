/* SPDX-License-Identifier: MIT */
/*
 * The life of a waited-for job, as its client sees it: subscribe, ask, wait, fetch.
 */
#include "wait.h"

#include <errno.h>
#include <schedlab/names.h>
#include <schedlab/units.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <systemd/sd-event.h>

#include "render/result.h"
#include "render/text.h"
#include "util/parse.h"

#define SAY_ESTIMATE_USEC (60 * USEC_PER_SEC)

struct job_wait {
	struct client *client;
	sd_event *event;
	char *path;  /* of the job; signals are only read from the loop, when it is known */
	char *state; /* how it ended; NULL before */
	bool over;   /* ends the loop; sd_event_exit() would close the bus */
	bool owner;  /* ^C cancels */
	bool interrupted, progress_shown;
	bool gone; /* the daemon has left the bus */
	int lost;  /* the connection's end, as a negative errno */
};

const char *job_path_id(const char *path)
{
	static char id[32];
	_cleanup_free_ char *decoded = NULL;

	if (sd_bus_path_decode(path, SCHEDLAB_PATH_JOB, &decoded) <= 0)
		return "?";
	(void)snprintf(id, sizeof(id), "%s", decoded);
	return id;
}

static void end(struct job_wait *w, const char *state)
{
	if (!w->state)
		w->state = strdup(state);
	w->over = true;
}

static int on_removed(sd_bus_message *signal, void *userdata, sd_bus_error *error)
{
	struct job_wait *w = userdata;
	const char *path, *state;

	(void)error;
	if (sd_bus_message_read(signal, "os", &path, &state) < 0)
		return 0;
	if (strcmp(path, w->path) == 0)
		end(w, state);
	return 0;
}

static void clear_progress(struct job_wait *w)
{
	if (w->progress_shown)
		(void)fputs("\r\033[K", stderr);
	w->progress_shown = false;
}

/* An estimate to the next second; what is left is never nothing. */
static uint64_t whole_seconds_ns(uint64_t usec)
{
	return usec == 0 ? NSEC_PER_SEC : (usec + USEC_PER_SEC - 1) / USEC_PER_SEC * NSEC_PER_SEC;
}

/* One line that fits the terminal: "[ 42 %] round 2 of 5: switch, class l3 on 0-1, 12 s left". */
static void show_progress(struct job_wait *w, double progress, uint64_t remaining_usec,
			  const char *step)
{
	struct winsize size = { .ws_col = 80 };
	const char *terminal = getenv("TERM");
	char line[256];

	if (!isatty(STDERR_FILENO) || w->interrupted || !terminal || strcmp(terminal, "dumb") == 0)
		return;
	(void)ioctl(STDERR_FILENO, TIOCGWINSZ, &size);
	(void)snprintf(line, sizeof(line), "[%3.0f %%] %s, %s left", progress * 100, step,
		       FORMAT_TIME(whole_seconds_ns(remaining_usec)));
	(void)fprintf(stderr, "\r\033[K%.*s", size.ws_col > 1 ? size.ws_col - 1 : 79, line);
	(void)fflush(stderr);
	w->progress_shown = true;
}

/* One of the properties that PropertiesChanged holds; -ENOENT for another. */
static int read_property(sd_bus_message *signal, const char *name, double *progress,
			 uint64_t *remaining, const char **step)
{
	if (strcmp(name, "Progress") == 0)
		return sd_bus_message_read(signal, "v", "d", progress);
	if (strcmp(name, "RemainingUSec") == 0)
		return sd_bus_message_read(signal, "v", "t", remaining);
	if (strcmp(name, "Step") == 0)
		return sd_bus_message_read(signal, "v", "s", step);
	return sd_bus_message_skip(signal, "v");
}

static int on_changed(sd_bus_message *signal, void *userdata, sd_bus_error *error)
{
	struct job_wait *w = userdata;
	double progress = 0;
	uint64_t remaining = 0;
	const char *interface, *name, *step = "";
	int r;

	(void)error;
	if (strcmp(sd_bus_message_get_path(signal), w->path) != 0)
		return 0;
	r = sd_bus_message_read_basic(signal, 's', &interface);
	if (r >= 0)
		r = sd_bus_message_enter_container(signal, 'a', "{sv}");
	while (r >= 0 && (r = sd_bus_message_enter_container(signal, 'e', "sv")) > 0) {
		r = sd_bus_message_read_basic(signal, 's', &name);
		if (r >= 0)
			r = read_property(signal, name, &progress, &remaining, &step);
		if (r >= 0)
			r = sd_bus_message_exit_container(signal);
	}
	if (r >= 0 && *step != '\0')
		show_progress(w, progress, remaining, step);
	return 0;
}

static int on_lost(sd_bus_message *signal, void *userdata, sd_bus_error *error)
{
	struct job_wait *w = userdata;

	(void)signal;
	(void)error;
	w->lost = -ECONNRESET;
	w->over = true;
	return 0;
}

/* NameOwnerChanged(s name, s old, s new) of the daemon's name: a killed daemon says no more. */
static int on_owner_changed(sd_bus_message *signal, void *userdata, sd_bus_error *error)
{
	struct job_wait *w = userdata;
	const char *name, *before, *after;

	(void)error;
	if (sd_bus_message_read(signal, "sss", &name, &before, &after) >= 0 && *after == '\0') {
		w->gone = true;
		w->over = true;
	}
	return 0;
}

static int on_cancelled(sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
	const sd_bus_error *e = sd_bus_message_get_error(reply);

	(void)userdata;
	(void)error;
	if (e)
		(void)fprintf(stderr, "schedlabctl: cannot cancel: %s\n", e->message);
	return 0;
}

/* The second time nobody waits any more; in another's job the first time. */
static int on_interrupt(sd_event_source *source, const struct signalfd_siginfo *info,
			void *userdata)
{
	struct job_wait *w = userdata;

	(void)source;
	(void)info;
	clear_progress(w);
	if (w->interrupted || !w->owner) {
		w->over = true;
		return 0;
	}
	w->interrupted = true;
	(void)fprintf(stderr, "cancelling job %s\n", job_path_id(w->path));
	return sd_bus_call_method_async(w->client->bus, NULL, SCHEDLAB_BUS_NAME, w->path,
					SCHEDLAB_INTERFACE_JOB, "Cancel", on_cancelled, w, NULL);
}

static int watch(struct job_wait *w)
{
	sd_bus *bus = w->client->bus;
	const char *sender = w->client->where == CLIENT_BUS_STANDALONE ? NULL : SCHEDLAB_BUS_NAME;
	sigset_t blocked;
	int r;

	(void)sigemptyset(&blocked);
	(void)sigaddset(&blocked, SIGINT);
	(void)sigaddset(&blocked, SIGTERM);
	if (sigprocmask(SIG_BLOCK, &blocked, NULL) < 0)
		return -errno;
	r = sd_event_new(&w->event);
	if (r >= 0)
		r = sd_event_add_signal(w->event, NULL, SIGINT, on_interrupt, w);
	if (r >= 0)
		r = sd_event_add_signal(w->event, NULL, SIGTERM, on_interrupt, w);
	if (r >= 0)
		r = sd_bus_attach_event(bus, w->event, SD_EVENT_PRIORITY_NORMAL);
	if (r >= 0)
		r = sd_bus_match_signal(bus, NULL, sender, SCHEDLAB_PATH,
					SCHEDLAB_INTERFACE_MANAGER, "JobRemoved", on_removed, w);
	if (r >= 0)
		r = sd_bus_match_signal(bus, NULL, sender, NULL, "org.freedesktop.DBus.Properties",
					"PropertiesChanged", on_changed, w);
	if (r >= 0 && w->client->where != CLIENT_BUS_STANDALONE)
		r = sd_bus_add_match(bus, NULL,
				     "type='signal',sender='org.freedesktop.DBus',"
				     "interface='org.freedesktop.DBus',member='NameOwnerChanged',"
				     "arg0='" SCHEDLAB_BUS_NAME "'",
				     on_owner_changed, w);
	if (r >= 0)
		r = sd_bus_match_signal(bus, NULL, NULL, "/org/freedesktop/DBus/Local",
					"org.freedesktop.DBus.Local", "Disconnected", on_lost, w);
	return r;
}

int job_wait_new(struct client *c, struct job_wait **ret, struct fail *f)
{
	_cleanup_(job_wait_freep) struct job_wait *w = calloc(1, sizeof(*w));
	int r;

	if (!w)
		return fail_oom(f);
	w->client = c;
	r = watch(w);
	if (r < 0)
		return fail_errno(f, r, "cannot listen to the daemon");
	*ret = TAKE_PTR(w);
	return 0;
}

struct job_wait *job_wait_free(struct job_wait *w)
{
	if (!w)
		return NULL;
	(void)sd_bus_detach_event(w->client->bus);
	sd_event_unref(w->event);
	free(w->path);
	free(w->state);
	free(w);
	return NULL;
}

void job_print_waiting(FILE *out, const json_t *job)
{
	json_int_t ahead = json_integer_value(json_object_get(job, "ahead"));

	(void)fprintf(out, "job %lld waits for %lld other%s",
		      (long long)json_integer_value(json_object_get(job, "job")), (long long)ahead,
		      ahead == 1 ? "" : "s");
}

/* Whether it has ended already. If it ends from now on, JobRemoved waits in the queue. */
static int look(struct job_wait *w, struct fail *f)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_(json_decrefp) json_t *job = NULL;
	const char *state;
	uint64_t left;
	int r = client_get_json(w->client, w->path, SCHEDLAB_INTERFACE_JOB, "Describe", &text, f);

	if (r < 0)
		return r;
	job = text_load(text);
	state = text_of(job, "state");
	if (strcmp(state, "queued") != 0 && strcmp(state, "running") != 0) {
		end(w, state);
		return 0;
	}
	left = (uint64_t)json_integer_value(json_object_get(job, "remaining_usec"));
	if (json_integer_value(json_object_get(job, "ahead")) > 0) {
		job_print_waiting(stderr, job);
		(void)fputs("; one measures at a time\n", stderr);
	}
	if (left > SAY_ESTIMATE_USEC)
		(void)fprintf(stderr, "job %s takes about %s\n", job_path_id(w->path),
			      FORMAT_TIME(whole_seconds_ns(left)));
	return 0;
}

/* What was measured is not lost with the job. */
static int fail_gone(struct fail *f, const char *path, const char *what)
{
	return fail_set(f, SCHEDLAB_ERROR_FAILED,
			"%s, and job %s with it; what it had measured: 'schedlabctl history "
			"--job %s'",
			what, job_path_id(path), job_path_id(path));
}

/* The connection has ended, and with it a daemon of our own. */
static int fail_connection(struct job_wait *w, struct fail *f)
{
	bool own = w->client->daemon > 0;
	int r = client_fail(w->client, w->lost, &SD_BUS_ERROR_NULL, f);

	return own ? fail_gone(f, w->path, "the daemon died") : r;
}

int job_wait_run(struct job_wait *w, const char *path, bool owner, char **ret_state,
		 char **ret_json, struct fail *f)
{
	int r;

	w->owner = owner;
	w->path = strdup(path);
	if (!w->path)
		return fail_oom(f);
	r = look(w, f);
	if (r < 0)
		return r;
	while (!w->state && !w->over && r >= 0)
		r = sd_event_run(w->event, UINT64_MAX);
	clear_progress(w);
	if (w->lost < 0)
		return fail_connection(w, f);
	if (r < 0)
		return fail_errno(f, r, "cannot wait for job %s", job_path_id(path));
	if (!w->state && w->gone)
		return fail_gone(f, path, "the daemon has gone");
	if (!w->state)
		return fail_set(f, owner ? SCHEDLAB_ERROR_CANCELLED : SCHEDLAB_ERROR_FAILED,
				"nobody waits for job %s any more; it %s", job_path_id(path),
				owner ? "was told to stop" : "goes on");
	r = client_get_json(w->client, path, SCHEDLAB_INTERFACE_JOB, "GetResult", ret_json, f);
	/* A daemon that was stopped ends its jobs, and itself right after. */
	if (r < 0 && strcmp(w->state, "cancelled") == 0)
		return fail_set(f, SCHEDLAB_ERROR_CANCELLED,
				"job %s was cancelled, and its result cannot be had any more: the "
				"daemon has stopped; what it had measured: 'schedlabctl history "
				"--job %s'",
				job_path_id(path), job_path_id(path));
	if (r < 0)
		return r;
	*ret_state = TAKE_PTR(w->state);
	return 0;
}

/* Whether there is anything to show: samples, or what went wrong with them. */
static bool was_tried(const json_t *result)
{
	const json_t *counts = json_object_get(result, "counts");

	return json_integer_value(json_object_get(counts, "samples")) > 0 ||
	       json_integer_value(json_object_get(counts, "failed")) > 0;
}

/* Beside the output, which is the same when it is shown again. */
static void say_kept(const struct client *c, const json_t *result)
{
	json_int_t job = json_integer_value(json_object_get(result, "job"));

	if (json_integer_value(json_object_get(json_object_get(result, "store"), "kept")) == 0)
		return;
	(void)fflush(stdout);
	(void)fprintf(stderr, "'%s history --job %lld' shows it again\n", client_command(c),
		      (long long)job);
}

int job_wait_and_print(struct job_wait *w, const char *path, bool owner, bool all_metrics,
		       struct fail *f)
{
	_cleanup_free_ char *state = NULL, *text = NULL;
	_cleanup_(json_decrefp) json_t *root = NULL;
	int r = job_wait_run(w, path, owner, &state, &text, f);

	if (r < 0 || !state || !text)
		return r;
	root = text_load(text);
	if (!client_print_json(w->client, text) && was_tried(root)) {
		result_print(root, all_metrics);
		say_kept(w->client, root);
	}
	if (strcmp(state, "done") == 0)
		return 0;
	return fail_set(
		f,
		strcmp(state, "cancelled") == 0 ? SCHEDLAB_ERROR_CANCELLED : SCHEDLAB_ERROR_FAILED,
		"job %s %s: %s", job_path_id(path),
		strcmp(state, "cancelled") == 0 ? "was cancelled" : state, text_of(root, "why"));
}
