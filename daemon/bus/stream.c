/* SPDX-License-Identifier: MIT */
/*
 * Pipes that are filled from the event loop.
 */
#include "bus/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <schedlab/units.h>
#include <string.h>

#include "util/log.h"

struct stream {
	struct bus_context *context;
	struct stream_source source;
	char *client; /* the sender's name; "" on a socket pair */
	int fd;
	sd_event_source *writable, *idle;
	char *piece;
	size_t size, written;
	struct stream *next;
};

static void stream_free(struct stream *s)
{
	for (struct stream **slot = &s->context->streams; *slot; slot = &(*slot)->next) {
		if (*slot == s) {
			*slot = s->next;
			break;
		}
	}
	sd_event_source_disable_unref(s->writable);
	sd_event_source_disable_unref(s->idle);
	s->source.free(s->source.userdata);
	(void)fd_close(s->fd);
	free(s->piece);
	free(s->client);
	free(s);
}

void stream_free_all(struct bus_context *context)
{
	while (context->streams)
		stream_free(context->streams);
}

static int on_idle(sd_event_source *source, uint64_t usec, void *userdata)
{
	(void)source;
	(void)usec;
	log_info("a client did not read what it asked for");
	stream_free(userdata);
	return 0;
}

/* The next piece, where the last is written; it may be empty. 0: the end. */
static int refill(struct stream *s)
{
	int r;

	if (s->written < s->size)
		return 1;
	free(s->piece);
	s->piece = NULL;
	s->size = s->written = 0;
	r = s->source.fill(s->source.userdata, &s->piece, &s->size);
	return r;
}

/* One piece a turn of the loop. */
static int on_writable(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct stream *s = userdata;
	ssize_t n;
	int r = refill(s);

	(void)source;
	(void)events;
	if (r <= 0) {
		stream_free(s);
		return 0;
	}
	if (s->size == 0)
		return 0;
	n = write(fd, s->piece + s->written, s->size - s->written);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n < 0) {
		/* The client has closed it. */
		stream_free(s);
		return 0;
	}
	s->written += (size_t)n;
	(void)sd_event_source_set_time_relative(s->idle, STREAM_IDLE_USEC);
	return 0;
}

static int check_limits(const struct bus_context *context, const char *client, struct fail *f)
{
	size_t all = 0, own = 0;

	for (const struct stream *s = context->streams; s; s = s->next) {
		all++;
		own += strcmp(s->client, client) == 0;
	}
	if (all >= STREAMS_MAX || own >= STREAMS_CLIENT_MAX)
		return fail_set(f, SCHEDLAB_ERROR_LIMITS_EXCEEDED,
				"%zu queries are being answered, %zu of them yours; at most %d "
				"may, and %d a client",
				all, own, STREAMS_MAX, STREAMS_CLIENT_MAX);
	return 0;
}

static int add_sources(struct stream *s)
{
	sd_event *event = sd_bus_get_event(s->context->bus);
	int r = sd_event_add_io(event, &s->writable, s->fd, EPOLLOUT, on_writable, s);

	/* Calls of others and samples come first. */
	if (r >= 0)
		r = sd_event_source_set_priority(s->writable, SD_EVENT_PRIORITY_IDLE);
	if (r >= 0)
		r = sd_event_add_time_relative(event, &s->idle, CLOCK_MONOTONIC, STREAM_IDLE_USEC,
					       0, on_idle, s);
	return r;
}

int stream_new(struct bus_context *context, sd_bus_message *call,
	       const struct stream_source *source, int *ret_fd, struct fail *f)
{
	const char *sender = sd_bus_message_get_sender(call);
	struct stream *s = NULL;
	int fds[2] = { -1, -1 };
	int r = check_limits(context, sender ? sender : "", f);

	if (r >= 0 && pipe2(fds, O_CLOEXEC) < 0)
		r = fail_errno(f, errno, "cannot make a pipe");
	/* Only our end: the other is the client's, which may wait as it likes. */
	if (r >= 0 && fcntl(fds[1], F_SETFL, O_NONBLOCK) < 0)
		r = fail_errno(f, errno, "cannot make a pipe");
	if (r >= 0)
		s = calloc(1, sizeof(*s));
	if (r >= 0 && s)
		s->client = strdup(sender ? sender : "");
	if (r < 0 || !s || !s->client) {
		source->free(source->userdata);
		free(s);
		(void)fd_close(fds[0]);
		(void)fd_close(fds[1]);
		return r < 0 ? r : fail_oom(f);
	}
	s->context = context;
	s->source = *source;
	s->fd = fds[1];
	s->next = context->streams;
	context->streams = s;
	r = add_sources(s);
	if (r < 0) {
		stream_free(s);
		(void)fd_close(fds[0]);
		return fail_errno(f, r, "cannot answer by a pipe");
	}
	*ret_fd = fds[0];
	return 0;
}
