/* SPDX-License-Identifier: MIT */
/*
 * Manager's methods about the store as a whole, and the signal that it has grown.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <schedlab/names.h>
#include <schedlab/units.h>
#include <string.h>
#include <sys/stat.h>

#include "bus/internal.h"
#include "bus/stream.h"
#include "util/clock.h"
#include "util/log.h"

/* Each signal wakes its readers: not after every short sample. */
#define RECORD_INTERVAL_NS (200 * NSEC_PER_MSEC)

int bus_look(const struct bus_context *context, struct store_view *ret, struct fail *f)
{
	if (job_queue_is_idle(context->queue))
		store_refresh(context->store);
	return store_look(context->store, ret, f);
}

int bus_method_check_store(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
	const struct bus_context *context = userdata;
	struct fail f = { .code = SCHEDLAB_ERROR_FAILED };
	struct store_view unused;
	json_t *root = NULL;

	(void)bus_look(context, &unused, NULL);
	if (store_check(context->store, &root, &f) < 0)
		return bus_fail(error, &f);
	return bus_reply_json(call, root, error);
}

/* A file that goes into a pipe as it is: records that come meanwhile are in it or not, and whole. */
struct file_source {
	int fd;
	uint64_t size, at;
};

static int fill_file(void *userdata, char **ret, size_t *ret_size)
{
	struct file_source *s = userdata;
	size_t wanted = (size_t)MIN_OF(s->size - s->at, (uint64_t)STREAM_PIECE);
	ssize_t n;

	if (wanted == 0)
		return 0;
	*ret = malloc(wanted);
	if (!*ret)
		return -ENOMEM;
	n = pread(s->fd, *ret, wanted, (off_t)s->at);
	/* Shorter than it was said to be: the client counts. */
	if (n <= 0)
		return n < 0 ? -errno : -ENODATA;
	s->at += (uint64_t)n;
	*ret_size = (size_t)n;
	return 1;
}

static void free_file(void *userdata)
{
	struct file_source *s = userdata;

	(void)fd_close(s->fd);
	free(s);
}

static int stream_file(struct bus_context *context, sd_bus_message *call, const struct ring *ring,
		       int *ret_fd, uint64_t *ret_size, struct fail *f)
{
	struct file_source *s = calloc(1, sizeof(*s));
	struct stream_source source = { .fill = fill_file, .free = free_file, .userdata = s };
	struct stat st;

	if (!s)
		return fail_oom(f);
	/* Of its own: the store may be given another file before the end. */
	s->fd = fcntl(ring_fd(ring), F_DUPFD_CLOEXEC, 3);
	if (s->fd < 0 || fstat(s->fd, &st) < 0) {
		free_file(s);
		return fail_errno(f, errno, "cannot read the store");
	}
	s->size = (uint64_t)st.st_size;
	*ret_size = s->size;
	return stream_new(context, call, &source, ret_fd, f);
}

int bus_method_backup_store(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
	struct bus_context *context = userdata;
	struct fail f = { .code = SCHEDLAB_ERROR_FAILED };
	_cleanup_fd_ int records = -1, side = -1;
	uint64_t records_size = 0, side_size = 0;
	struct store_view view;
	int r = bus_look(context, &view, &f);

	if (r >= 0 && (!view.ring || !view.side))
		r = fail_set(&f, SCHEDLAB_ERROR_STORE_UNAVAILABLE, "nothing has been kept yet");
	if (r >= 0)
		r = stream_file(context, call, view.ring, &records, &records_size, &f);
	if (r >= 0)
		r = stream_file(context, call, side_ring(view.side), &side, &side_size, &f);
	if (r < 0)
		return bus_fail(error, &f);
	return sd_bus_reply_method_return(call, "htht", records, records_size, side, side_size);
}

/* Records refer to each other's texts: not under a measurement's hands. */
static int check_idle(const struct bus_context *context, struct fail *f)
{
	for (struct job *job = job_first(context->queue); job; job = job_next(job))
		if (!job_has_ended(job))
			return fail_set(
				f, SCHEDLAB_ERROR_BUSY,
				"job %" PRIu64
				" is %s, and the store's file is not replaced under it; "
				"wait for it, or end it by 'schedlabctl jobs cancel %" PRIu64 "'",
				job->id, job_state_name(job->state), job->id);
	return 0;
}

int bus_method_clear_store(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
	const struct bus_context *context = userdata;
	struct fail f = { .code = SCHEDLAB_ERROR_FAILED };
	uint64_t removed = 0;
	int r = check_idle(context, &f);

	if (r >= 0)
		r = store_clear(context->store, &removed, &f);
	if (r < 0)
		return bus_fail(error, &f);
	log_notice("the store was cleared: %" PRIu64 " records removed", removed);
	return sd_bus_reply_method_return(call, "t", removed);
}

int bus_method_resize_store(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
	const struct bus_context *context = userdata;
	struct fail f = { .code = SCHEDLAB_ERROR_FAILED };
	uint64_t bytes;
	int r = sd_bus_message_read_basic(call, 't', &bytes);

	if (r < 0)
		return r;
	if (bytes < STORE_SIZE_MIN || bytes > STORE_SIZE_MAX)
		r = fail_set(&f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
			     "bytes: %" PRIu64 " is out of range; accepted is %" PRIu64
			     " to %" PRIu64,
			     bytes, STORE_SIZE_MIN, STORE_SIZE_MAX);
	if (r >= 0)
		r = check_idle(context, &f);
	if (r >= 0)
		r = store_resize(context->store, bytes, &f);
	if (r < 0)
		return bus_fail(error, &f);
	log_notice("the store now has %" PRIu64 " bytes", bytes);
	return sd_bus_reply_method_return(call, NULL);
}

void bus_tell_records(struct bus_context *context)
{
	int r;

	if (context->told_record == context->last_record)
		return;
	context->told_record = context->last_record;
	context->last_record_ns = clock_monotonic_ns();
	r = sd_bus_emit_signal(context->bus, SCHEDLAB_PATH, SCHEDLAB_INTERFACE_MANAGER,
			       "RecordAdded", "t", context->last_record);
	if (r < 0)
		log_warning("cannot send a signal: %s", strerror(-r));
}

void bus_on_record(uint64_t sequence, void *userdata)
{
	struct bus_context *context = userdata;

	context->last_record = sequence;
	if (clock_monotonic_ns() - context->last_record_ns >= RECORD_INTERVAL_NS)
		bus_tell_records(context);
}
