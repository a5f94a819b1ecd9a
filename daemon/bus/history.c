/* SPDX-License-Identifier: MIT */
/*
 * Manager's methods that ask the store: QueryPage, Query, GetJobResult.
 */
#include <errno.h>
#include <inttypes.h>
#include <schedlab/names.h>
#include <string.h>

#include "bus/filter.h"
#include "bus/internal.h"
#include "bus/options.h"
#include "bus/stream.h"
#include "util/json.h"

#define PAGE_MAX   1000      /* records: some 20 ms of work, and a megabyte */
#define PAGE_BYTES (4 << 20) /* of text; a bus carries no more than some megabytes */
#define STREAM_MAX 200       /* records of one piece */

/* Lines, as they are written. */
struct lines {
	struct recall *recall;
	FILE *out;
	uint64_t records, torn;
};

static int write_line(const struct record *record, void *userdata)
{
	struct lines *lines = userdata;
	_cleanup_(json_decrefp) json_t *root = recall_record(lines->recall, record);

	if (!root || json_dumpf(root, lines->out, JSON_WRITE) < 0 || fputc('\n', lines->out) < 0)
		return -ENOMEM;
	lines->records++;
	return ftell(lines->out) > PAGE_BYTES ? -ENOBUFS : 0;
}

/* One page of lines to *@ret; *@cursor is 0 where there is no more. */
static int read_page(const struct bus_context *context, struct filter *filter, uint64_t *cursor,
		     uint64_t limit, char **ret, size_t *ret_size, struct lines *lines,
		     struct fail *f)
{
	_cleanup_(recall_freep) struct recall *recall = NULL;
	struct query_counts counts = { 0 };
	struct store_view view;
	int r = bus_look(context, &view, f);

	if (r >= 0)
		r = recall_new(&view, &recall, f);
	if (r >= 0)
		r = filter_resolve(filter, recall, f);
	if (r < 0)
		return r;
	lines->out = open_memstream(ret, ret_size);
	if (!lines->out)
		return fail_oom(f);
	lines->recall = recall;
	if (view.ring)
		r = query_page(view.ring, &filter->query, cursor, limit, write_line, lines, &counts,
			       f);
	lines->torn += counts.rotten;
	if (fclose(lines->out) != 0 || r == -ENOMEM)
		r = fail_oom(f);
	/* The page is full, and what follows is the next one's. */
	if (r == -ENOBUFS)
		r = 0;
	if (!view.ring || *cursor >= ring_next(view.ring))
		*cursor = 0;
	return r;
}

int bus_method_query_page(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
	const struct bus_context *context = userdata;
	_cleanup_(filter_clear) struct filter filter = { 0 };
	_cleanup_free_ char *text = NULL;
	struct lines lines = { 0 };
	struct fail f = { .code = SCHEDLAB_ERROR_FAILED };
	uint64_t cursor;
	uint32_t limit;
	size_t size = 0;
	int r = filter_read(call, &filter, &f);

	if (r >= 0 && (r = sd_bus_message_read(call, "tu", &cursor, &limit)) < 0)
		r = options_fail(r, &f);
	if (r >= 0 && limit > PAGE_MAX)
		r = fail_set(&f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
			     "limit: %u is out of range; accepted is 0 to %d", limit, PAGE_MAX);
	if (r >= 0)
		r = read_page(context, &filter, &cursor, limit ? limit : PAGE_MAX, &text, &size,
			      &lines, &f);
	if (r < 0)
		return bus_fail(error, &f);
	return sd_bus_reply_method_return(call, "ts", cursor, text);
}

/* A query that goes into a pipe. */
struct query_source {
	const struct bus_context *context;
	struct filter filter;
	uint64_t cursor;
	struct lines lines;
	bool over, ended;
};

/* Tells a whole answer from one that broke off. */
static int write_end(struct query_source *q, char **ret, size_t *ret_size)
{
	json_t *root =
		json_pack("{s:s, s:I, s:I}", "schema", SCHEDLAB_SCHEMA("query-end"), "records",
			  (json_int_t)q->lines.records, "torn", (json_int_t)q->lines.torn);
	_cleanup_free_ char *text = root ? json_dumps(root, JSON_WRITE) : NULL;

	json_decref(root);
	q->ended = true;
	if (!text || asprintf(ret, "%s\n", text) < 0)
		return -ENOMEM;
	*ret_size = strlen(*ret);
	return 1;
}

static int fill_query(void *userdata, char **ret, size_t *ret_size)
{
	struct query_source *q = userdata;
	struct fail f;

	if (!q->over) {
		int r = read_page(q->context, &q->filter, &q->cursor, STREAM_MAX, ret, ret_size,
				  &q->lines, &f);

		q->over = q->cursor == 0;
		return r < 0 ? r : 1;
	}
	return q->ended ? 0 : write_end(q, ret, ret_size);
}

static void free_query(void *userdata)
{
	struct query_source *q = userdata;

	filter_clear(&q->filter);
	free(q);
}

int bus_method_query(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
	struct bus_context *context = userdata;
	struct query_source *q = calloc(1, sizeof(*q));
	struct stream_source source = { .fill = fill_query, .free = free_query, .userdata = q };
	struct store_view view;
	struct fail f = { .code = SCHEDLAB_ERROR_FAILED };
	_cleanup_fd_ int fd = -1;
	int r;

	if (!q)
		return -ENOMEM;
	q->context = context;
	r = filter_read(call, &q->filter, &f);
	/* What cannot be read at all is said here: the pipe has no words. */
	if (r >= 0)
		r = bus_look(context, &view, &f);
	if (r < 0)
		free_query(q);
	else
		r = stream_new(context, call, &source, &fd, &f);
	if (r < 0)
		return bus_fail(error, &f);
	return sd_bus_reply_method_return(call, "h", fd);
}

int bus_method_get_job_result(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
	const struct bus_context *context = userdata;
	struct fail f = { .code = SCHEDLAB_ERROR_FAILED };
	struct store_view view;
	struct job *job;
	json_t *root = NULL;
	uint64_t id;
	int r = sd_bus_message_read_basic(call, 't', &id);

	if (r < 0)
		return r;
	if (job_find(context->queue, id, &job, NULL) >= 0) {
		_cleanup_free_ char *text = job_result(job);

		return text ? sd_bus_reply_method_return(call, "s", text) : -ENOMEM;
	}
	r = bus_look(context, &view, &f);
	if (r >= 0)
		r = recall_job(&view, id, &root, &f);
	return r < 0 ? bus_fail(error, &f) : bus_reply_json(call, root, error);
}

/* Of any record, also of a machine state long gone. */
int bus_method_describe_fingerprint(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
	const struct bus_context *context = userdata;
	_cleanup_(recall_freep) struct recall *recall = NULL;
	struct fail f = { .code = SCHEDLAB_ERROR_FAILED };
	struct store_view view;
	json_t *root = NULL;
	const char *id;
	int r = sd_bus_message_read_basic(call, 's', &id);

	if (r < 0)
		return r;
	if (strcmp(id, context->fingerprint->id) == 0)
		return bus_reply_json(call, fingerprint_to_json(context->fingerprint), error);
	r = bus_look(context, &view, &f);
	if (r >= 0)
		r = recall_new(&view, &recall, &f);
	if (r >= 0 && !(root = recall_fingerprint(recall, id)))
		r = fail_set(&f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
			     "no fingerprint '%.40s' is kept; records tell theirs", id);
	return r < 0 ? bus_fail(error, &f) : bus_reply_json(call, root, error);
}
