/* SPDX-License-Identifier: MIT */
/*
 * Opening the store, adding to it, syncing it, and saying what is wrong with it.
 */
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <systemd/sd-id128.h>
#include <unistd.h>

#include "store/internal.h"
#include "util/clock.h"
#include "util/json.h"
#include "util/log.h"
#include "util/parse.h"

#define JOB_MAX          (UINT64_C(1) << 53) /* as JSON has numbers; higher ones are nobody's */
#define SYNC_INTERVAL_NS (5 * NSEC_PER_SEC)

/* Names this application's files by machine, without telling the machine's own id. */
#define APPLICATION_ID SD_ID128_MAKE(5c, 0e, d1, ab, 2b, 6f, 4a, 6e, 9d, 3f, 77, 1c, 88, 0a, 41, 59)

int store_new(sd_event *event, const struct store_options *options, struct store **ret,
	      struct fail *f)
{
	_cleanup_(store_freep) struct store *s = calloc(1, sizeof(*s));
	const char *directory = options->directory, *why_not = options->why_not;
	sd_id128_t id;

	if (!s)
		return fail_oom(f);
	s->event = sd_event_ref(event);
	s->directory = -1;
	s->size = options->size;
	if (directory && *directory == '\0') {
		directory = NULL;
		why_not = "the state directory is named by an empty text";
	}
	s->path = directory ? strdup(directory) : NULL;
	s->why_not = why_not ? strdup(why_not) : NULL;
	if ((directory && !s->path) || (why_not && !s->why_not))
		return fail_oom(f);
	/* A machine may have none; then the files are anybody's. */
	if (sd_id128_get_machine_app_specific(APPLICATION_ID, &id) >= 0)
		memcpy(s->machine_id, id.bytes, sizeof(s->machine_id));
	if (sd_id128_get_boot(&id) >= 0)
		memcpy(&s->boot_tag, id.bytes, sizeof(s->boot_tag));
	*ret = TAKE_PTR(s);
	return 0;
}

struct store *store_free(struct store *s)
{
	if (!s)
		return NULL;
	sync_free(s->sync);
	store_close(s);
	store_look_away(s);
	(void)fd_close(s->directory);
	sd_event_unref(s->event);
	free(s->path);
	free(s->why_not);
	free(s);
	return NULL;
}

void store_close(struct store *s)
{
	struct fail f = { 0 };

	if ((s->side && side_sync(s->side, &f) < 0) || (s->ring && ring_sync(s->ring, &f) < 0))
		log_warning("%s", f.message);
	s->side = side_close(s->side);
	s->ring = ring_close(s->ring);
}

/* Nothing is kept from now on, or all is again (@why NULL): said when it changes. */
static void set_trouble(struct store *s, const struct fail *why)
{
	if (why && strcmp(s->told, why->message) != 0)
		log_line(s->path ? LOG_WARNING : LOG_INFO, "results are not kept: %s",
			 why->message);
	else if (!why && s->told[0] != '\0')
		log_notice("results are kept again, in %s", s->path);
	(void)snprintf(s->told, sizeof(s->told), "%s", why ? why->message : "");
	s->trouble = why ? *why : (struct fail){ 0 };
}

struct ring_options store_ring_options(const struct store *s, uint64_t slots, bool read_only)
{
	struct ring_options o = { .kind = STORE_KIND, .slots = slots, .read_only = read_only };

	memcpy(o.machine_id, s->machine_id, sizeof(o.machine_id));
	return o;
}

/* mkdir -p, for the owner and its group alone. */
static int make_directory(const char *path, struct fail *f)
{
	_cleanup_free_ char *copy = strdup(path);

	if (!copy)
		return fail_oom(f);
	for (char *at = copy + 1; at; at++) {
		at = strchr(at, '/');
		if (at)
			*at = '\0';
		if (mkdir(copy, 0750) < 0 && errno != EEXIST)
			return fail_set(f, SCHEDLAB_ERROR_STORE_UNAVAILABLE,
					"cannot make the directory %s: %s", copy, strerror(errno));
		if (!at)
			break;
		*at = '/';
	}
	return 0;
}

int store_open_directory(struct store *s, bool make, struct fail *f)
{
	int r;

	if (!s->path)
		return fail_set(f, SCHEDLAB_ERROR_STORE_UNAVAILABLE, "%s", s->why_not);
	/* It may have been replaced by another. */
	s->directory = fd_close(s->directory);
	s->directory = open(s->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->directory < 0 && errno == ENOENT && make) {
		r = make_directory(s->path, f);
		if (r < 0)
			return r;
		s->directory = open(s->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	return s->directory < 0
		       ? fail_set(f, SCHEDLAB_ERROR_STORE_UNAVAILABLE,
				  "cannot open the directory %s: %s", s->path, strerror(errno))
		       : 0;
}

static void say_report(const char *name, const struct ring_report *report)
{
	if (report->set_aside[0] != '\0')
		log_warning("%s could not be used, as %s; it is now %s, and a new one was begun",
			    name, report->why, report->set_aside);
	else if (report->created)
		log_info("%s is new: %ju slots", name, (uintmax_t)report->empty);
	if (report->mended)
		log_warning("%s was damaged (a superblock, or its size) and has been mended", name);
	if (report->rotten > 0)
		log_warning("%s: %ju records were not whole; they are skipped", name,
			    (uintmax_t)report->rotten);
}

static int max_job(const struct record *record, void *userdata)
{
	uint64_t *highest = userdata;

	if (record->job > *highest && record->job <= JOB_MAX)
		*highest = record->job;
	return 0;
}

static int find_highest_job(struct store *s, struct fail *f)
{
	struct query_filter all = query_any();
	uint64_t cursor = 0;
	int r = 0;

	while (cursor < ring_next(s->ring) && r >= 0) {
		struct query_counts counts;

		r = query_page(s->ring, &all, &cursor, 0, max_job, &s->highest_job, &counts, f);
	}
	return r;
}

/* Of changes of size that did not come to their end. */
static void remove_left_over(const struct store *s)
{
	(void)unlinkat(s->directory, STORE_FILE STORE_NEW, 0);
	(void)unlinkat(s->directory, STORE_SIDE_FILE STORE_NEW, 0);
}

static int open_files(struct store *s, struct fail *f)
{
	uint64_t slots = (s->size ? s->size : STORE_SIZE_DEFAULT) / RING_RECORD;
	struct ring_options options = store_ring_options(s, slots, false);
	struct ring_report report;
	int r = ring_open(s->directory, STORE_FILE, &options, &s->ring, &report, f);

	if (r < 0) {
		/* Also where the new one could not be made. */
		if (report.set_aside[0] != '\0')
			say_report(STORE_FILE, &report);
		return r;
	}
	say_report(STORE_FILE, &report);
	remove_left_over(s);
	/* Beside what is there, as large as that needs it. */
	options.slots = ring_slots(s->ring) / STORE_SIDE_SHARE;
	options.slots = MAX_OF(options.slots, (uint64_t)RING_SLOTS_MIN);
	r = side_open(s->directory, STORE_SIDE_FILE, &options, &s->side, &report, f);
	if (r < 0)
		return r;
	say_report(STORE_SIDE_FILE, &report);
	s->synced_next = ring_next(s->ring);
	s->synced_ns = clock_monotonic_ns();
	return find_highest_job(s, f);
}

int store_open_files(struct store *s, struct fail *f)
{
	int r = open_files(s, f);

	store_look_away(s);
	if (r < 0) {
		s->side = side_close(s->side);
		s->ring = ring_close(s->ring);
	}
	s->trouble = r < 0 ? *f : (struct fail){ 0 };
	return r;
}

/* As it was wished: where that fails, the old size serves as well. */
static void settle_size(struct store *s)
{
	uint64_t is = ring_slots(s->ring) * RING_RECORD;
	struct fail f = { 0 };

	if (s->size == 0 || s->size / RING_RECORD == ring_slots(s->ring))
		return;
	if (store_resize(s, s->size, &f) < 0)
		log_warning("the store keeps its size of %ju bytes: %s", (uintmax_t)is, f.message);
	else
		log_notice("the store had %ju bytes and now has the configured %ju", (uintmax_t)is,
			   (uintmax_t)s->size);
}

bool store_is_in_place(const struct store *s)
{
	char path[2][PATH_MAX];

	/* By the whole path: the directory may have been moved as well. */
	(void)snprintf(path[0], PATH_MAX, "%s/" STORE_FILE, s->path);
	(void)snprintf(path[1], PATH_MAX, "%s/" STORE_SIDE_FILE, s->path);
	return ring_is_at(s->ring, AT_FDCWD, path[0]) &&
	       ring_is_at(side_ring(s->side), AT_FDCWD, path[1]);
}

int store_open_quietly(struct store *s, struct fail *f)
{
	int r;

	if (s->ring && !store_is_in_place(s)) {
		log_warning("the files in %s were moved, removed or replaced; what is there now is "
			    "used",
			    s->path);
		store_close(s);
	}
	if (s->ring)
		return 0;
	r = store_open_directory(s, true, f);
	if (r < 0)
		s->trouble = *f;
	else
		r = store_open_files(s, f);
	if (r < 0)
		return r;
	settle_size(s);
	return s->ring ? 1
		       : fail_set(f, SCHEDLAB_ERROR_STORE_UNAVAILABLE, "%s", s->trouble.message);
}

int store_open(struct store *s, struct fail *f)
{
	struct fail own = { 0 };
	int r = store_open_quietly(s, f ? f : &own);

	set_trouble(s, r >= 0 ? NULL : f ? f : &own);
	return r;
}

void store_refresh(struct store *s)
{
	if (s->ring && !store_is_in_place(s))
		(void)store_open(s, NULL);
}

int store_append(struct store *s, struct record *record, struct fail *f)
{
	uint8_t body[RING_BODY_SIZE];
	int r;

	if (!s->ring)
		return fail_set(f, SCHEDLAB_ERROR_STORE_UNAVAILABLE, "%s", s->trouble.message);
	if (!store_is_in_place(s))
		return fail_set(f, SCHEDLAB_ERROR_STORE_UNAVAILABLE,
				"the files in %s were moved or removed", s->path);
	record->boot_tag = s->boot_tag;
	record->realtime_ns = clock_realtime_ns();
	record->boottime_ns = clock_read_ns(CLOCK_BOOTTIME);
	record_encode(record, body);
	r = ring_append(s->ring, body, &record->sequence, f);
	set_trouble(s, r < 0 ? f : NULL);
	if (r < 0)
		return r;
	if (record->job > s->highest_job)
		s->highest_job = record->job;
	if (s->added)
		s->added(record->sequence, s->userdata);
	return 0;
}

uint64_t store_put(struct store *s, enum side_type type, const void *bytes, size_t size)
{
	uint64_t key = 0;
	struct fail f = { 0 };

	if (!s->side)
		return 0;
	if (side_put(s->side, type, bytes, size, &key, &f) < 0) {
		if (f.code != SCHEDLAB_ERROR_LIMITS_EXCEEDED)
			set_trouble(s, &f);
		return 0;
	}
	return key;
}

uint64_t store_put_json(struct store *s, enum side_type type, json_t *root)
{
	_cleanup_free_ char *text = root ? json_dumps(root, JSON_WRITE | JSON_ENCODE_ANY) : NULL;

	json_decref(root);
	return text ? store_put(s, type, text, strlen(text)) : 0;
}

void store_observe(struct store *s, void (*added)(uint64_t sequence, void *userdata),
		   void *userdata)
{
	s->added = added;
	s->userdata = userdata;
}

const char *store_trouble(const struct store *s)
{
	return s->trouble.message[0] ? s->trouble.message
	       : s->sync_trouble[0]  ? s->sync_trouble
				     : s->why_not;
}

uint64_t store_highest_job(const struct store *s)
{
	return s->highest_job;
}

bool store_sync_is_due(const struct store *s)
{
	return s->ring && !s->sync && ring_next(s->ring) != s->synced_next &&
	       clock_monotonic_ns() - s->synced_ns > SYNC_INTERVAL_NS;
}

static void tell_waiter(struct store *s)
{
	void (*done)(void *userdata) = s->sync_done;

	s->sync_done = NULL;
	if (done)
		done(s->sync_userdata);
}

/* The records are in the page cache, and may be lost when the machine stops. */
static void set_sync_trouble(struct store *s, int error)
{
	char text[sizeof(s->sync_trouble)] = "";

	if (error < 0)
		(void)snprintf(text, sizeof(text),
			       "the disk does not keep what is written (%s); it is lost when the "
			       "machine stops",
			       strerror(-error));
	if (*text && strcmp(text, s->sync_trouble) != 0)
		log_error("%s: %s", s->path, text);
	memcpy(s->sync_trouble, text, sizeof(text));
}

static void on_sync(int error, void *userdata)
{
	struct store *s = userdata;

	if (error == -EINPROGRESS) {
		log_warning("the disk of %s takes more than %s to sync; measuring goes on", s->path,
			    FORMAT_TIME(SYNC_PATIENCE_USEC * NSEC_PER_USEC));
		tell_waiter(s);
		return;
	}
	s->sync = sync_free(s->sync);
	s->synced_ns = clock_monotonic_ns();
	if (error == 0)
		s->synced_next = s->syncing_next;
	set_sync_trouble(s, error);
	tell_waiter(s);
	if (s->sync_again)
		(void)store_sync(s, NULL, NULL);
}

int store_sync(struct store *s, void (*done)(void *userdata), void *userdata)
{
	int r, fds[2];

	/* Whoever asks while one is under way has records that it does not know of. */
	s->sync_again = s->sync != NULL;
	if (s->sync || !s->ring || ring_next(s->ring) == s->synced_next)
		return 0;
	/* What records refer to before the records. */
	fds[0] = ring_fd(side_ring(s->side));
	fds[1] = ring_fd(s->ring);
	s->syncing_next = ring_next(s->ring);
	r = sync_start(s->event, fds, ELEMENTSOF(fds), on_sync, s, &s->sync);
	if (r < 0) {
		log_warning("cannot sync the store: %s", strerror(-r));
		return 0;
	}
	s->sync_done = done;
	s->sync_userdata = userdata;
	return 1;
}

void store_forget(struct store *s, const void *userdata)
{
	if (s->sync_userdata == userdata)
		s->sync_done = NULL;
}

/* Before the first measurement nothing has been tried: whether it could be. NULL: nothing speaks against it. */
static char *foresee(const struct store *s)
{
	_cleanup_free_ char *at = strdup(s->path);
	uint64_t bytes = s->size ? s->size : STORE_SIZE_DEFAULT;
	struct statvfs fs;
	char *why = NULL;
	int r = 0;

	/* The nearest directory that there is. */
	while (at && access(at, F_OK) < 0 && strrchr(at, '/') > at)
		*strrchr(at, '/') = '\0';
	if (at && access(at, F_OK) < 0)
		at[0] = '/', at[1] = '\0';
	if (!at || access(at, W_OK | X_OK) < 0)
		r = asprintf(&why, "nothing may be written in %s: %s", at ? at : s->path,
			     strerror(errno));
	else if (statvfs(at, &fs) == 0 &&
		 (uint64_t)fs.f_bavail * fs.f_frsize < bytes + bytes / STORE_SIDE_SHARE)
		r = asprintf(&why, "in %s there is no room for %ju MiB", at,
			     (uintmax_t)((bytes + bytes / STORE_SIDE_SHARE) / MIB));
	return r < 0 ? NULL : why;
}

/* What is seen, or why nothing is. */
static void add_view(json_t *root, const struct store *s, const struct store_view *v)
{
	const struct ring *ring = v->ring;
	_cleanup_free_ char *why = ring || !s->path || store_trouble(s) ? NULL : foresee(s);

	if (why)
		json_object_set_new(root, "why", json_string(why));
	json_object_set_new(root, "writer", v->writer ? json_string(v->writer) : json_null());
	json_object_set_new(
		root, "records",
		json_integer(ring ? (json_int_t)(ring_next(ring) - ring_first(ring)) : 0));
	json_object_set_new(root, "slots",
			    ring ? json_integer((json_int_t)ring_slots(ring)) : json_null());
	json_object_set_new(root, "bytes",
			    ring ? json_integer((json_int_t)ring_bytes(ring)) : json_null());
}

json_t *store_to_json(struct store *s)
{
	_cleanup_free_ char *path = NULL;
	struct store_view v = { 0 };
	struct fail f = { 0 };
	json_t *root;

	if (s->path && asprintf(&path, "%s/%s", s->path, STORE_FILE) < 0)
		path = NULL;
	root = json_pack("{s:s?, s:b, s:s?}", "path", path, "writable", s->ring != NULL, "why",
			 store_trouble(s));
	if (!root)
		return NULL;
	if (store_look(s, &v, &f) < 0 && !store_trouble(s))
		json_object_set_new(root, "why", json_string(f.message));
	else
		add_view(root, s, &v);
	return root;
}
