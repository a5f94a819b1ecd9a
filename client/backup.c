/* SPDX-License-Identifier: MIT */
/*
 * A tar archive by libarchive, which appears under its name when it is whole.
 */
#include "backup.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <schedlab/names.h>
#include <schedlab/units.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>

#define MEMBER_MODE 0640
#define PIECE       (256 * KIB)

/* Of a name with another suffix the archive is not compressed; @filter NULL: not a tar archive. */
static const struct {
	const char *suffix, *filter;
} suffixes[] = {
	{ ".gz", "gzip" },    { ".tgz", "gzip" }, { ".bz2", "bzip2" }, { ".tbz2", "bzip2" },
	{ ".xz", "xz" },      { ".txz", "xz" },   { ".zst", "zstd" },  { ".tzst", "zstd" },
	{ ".lz4", "lz4" },    { ".lz", "lzip" },  { ".lzma", "lzma" }, { ".lzo", "lzop" },
	{ ".Z", "compress" }, { ".zip", NULL },   { ".7z", NULL },     { ".rar", NULL },
	{ ".br", NULL },
};

/* Where an archive goes. What is freed is finished before, as if it were whole: that must not get out. */
struct sink {
	int fd;
	bool broken;
};

/* What a signal has to remove. */
static const char *volatile partial;

static struct archive *archive_finish(struct archive *a)
{
	(void)archive_write_free(a);
	return NULL;
}
DEFINE_CLEANUP(struct archive *, archive_finish);

static int fail_archive(struct archive *a, const char *file, struct fail *f)
{
	const char *why = archive_error_string(a);

	return fail_set(f, SCHEDLAB_ERROR_FAILED, "cannot write %s: %s", file,
			why ? why : "libarchive does not say why");
}

static int add_filter(struct archive *a, const char *file, struct fail *f)
{
	const char *suffix = strrchr(file, '.');

	for (size_t i = 0; suffix && i < ELEMENTSOF(suffixes); i++) {
		if (strcasecmp(suffix, suffixes[i].suffix) != 0)
			continue;
		if (!suffixes[i].filter)
			return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
					"%s: a backup is a tar archive, not a %s file; name it "
					".tar, .tar.gz, .tar.xz or .tar.zst",
					file, suffixes[i].suffix);
		/* Whatever is not simply done is done by another program, if there is one. */
		if (archive_write_add_filter_by_name(a, suffixes[i].filter) != ARCHIVE_OK)
			return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
					"%s: the libarchive here has no %s in it; name it .tar or "
					".tar.gz",
					file, suffixes[i].filter);
		return 0;
	}
	return 0;
}

static int make_archive(const char *file, struct archive **ret, struct fail *f)
{
	_cleanup_(archive_finishp) struct archive *a = archive_write_new();
	int r;

	if (!a)
		return fail_oom(f);
	if (archive_write_set_format_pax_restricted(a) != ARCHIVE_OK)
		return fail_archive(a, file, f);
	r = add_filter(a, file, f);
	if (r >= 0)
		*ret = TAKE_PTR(a);
	return r;
}

static int fail_exists(const char *file, struct fail *f)
{
	return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
			"%s exists already, and a backup replaces nothing; name another file",
			file);
}

int backup_check(const char *file, struct fail *f)
{
	_cleanup_(archive_finishp) struct archive *a = NULL;
	struct stat st;

	if (strcmp(file, "-") == 0) {
		if (isatty(STDOUT_FILENO))
			return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
					"a terminal is no place for an archive; redirect it to a "
					"file, or name one");
		return 0;
	}
	if (*file == '\0')
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT, "the file's name is empty");
	if (lstat(file, &st) == 0)
		return fail_exists(file, f);
	if (errno != ENOENT)
		return fail_errno(f, errno, "cannot write %s", file);
	return make_archive(file, &a, f);
}

static int add_header(struct archive *a, const char *file, const struct backup_member *m, bool own,
		      struct fail *f)
{
	struct archive_entry *entry = archive_entry_new();
	int r;

	if (!entry)
		return fail_oom(f);
	archive_entry_set_pathname(entry, m->name);
	archive_entry_set_filetype(entry, AE_IFREG);
	archive_entry_set_perm(entry, MEMBER_MODE);
	archive_entry_set_size(entry, (la_int64_t)m->bytes);
	archive_entry_set_mtime(entry, time(NULL), 0);
	/* Whose files they are where root restores them. */
	if (own) {
		archive_entry_set_uid(entry, (la_int64_t)geteuid());
		archive_entry_set_gid(entry, (la_int64_t)getegid());
	} else {
		archive_entry_set_uname(entry, SCHEDLAB_USER);
		archive_entry_set_gname(entry, SCHEDLAB_USER);
	}
	r = archive_write_header(a, entry);
	archive_entry_free(entry);
	return r == ARCHIVE_OK ? 0 : fail_archive(a, file, f);
}

static int add_member(struct archive *a, const char *file, const struct backup_member *m, bool own,
		      struct fail *f)
{
	_cleanup_free_ char *piece = malloc(PIECE);
	int flags = fcntl(m->fd, F_GETFL), r;
	uint64_t left = m->bytes;

	if (!piece)
		return fail_oom(f);
	/* We have nothing else to do than to wait. */
	if (flags < 0 || fcntl(m->fd, F_SETFL, flags & ~O_NONBLOCK) < 0)
		return fail_errno(f, errno, "cannot read %s from the daemon", m->name);
	r = add_header(a, file, m, own, f);
	while (r >= 0 && left > 0) {
		ssize_t n = read(m->fd, piece, MIN_OF(left, PIECE));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail_errno(f, errno, "cannot read %s from the daemon", m->name);
		if (n == 0)
			return fail_set(f, SCHEDLAB_ERROR_FAILED,
					"the daemon sent only %" PRIu64 " of %" PRIu64
					" bytes of %s; there is no backup",
					m->bytes - left, m->bytes, m->name);
		if (archive_write_data(a, piece, (size_t)n) != n)
			return fail_archive(a, file, f);
		left -= (uint64_t)n;
	}
	return r;
}

static la_ssize_t write_piece(struct archive *a, void *userdata, const void *data, size_t size)
{
	const struct sink *sink = userdata;
	ssize_t n = -1;

	errno = ECANCELED;
	while (!sink->broken && (n = write(sink->fd, data, size)) < 0 && errno == EINTR)
		;
	if (n < 0)
		archive_set_error(a, errno, "%s", strerror(errno));
	return n;
}

static int write_archive(const char *file, int fd, const struct backup_member *members, size_t n,
			 bool own, uint64_t *ret_bytes, struct fail *f)
{
	struct sink sink = { .fd = fd };
	_cleanup_(archive_finishp) struct archive *a = NULL;
	int r = make_archive(file, &a, f);

	if (r < 0)
		return r;
	/* Unlike tapes, compressed files end where they end. */
	if (archive_write_set_bytes_in_last_block(a, 1) != ARCHIVE_OK ||
	    archive_write_open(a, &sink, NULL, write_piece, NULL) != ARCHIVE_OK)
		r = fail_archive(a, file, f);
	for (size_t i = 0; i < n && r >= 0; i++)
		r = add_member(a, file, &members[i], own, f);
	if (r >= 0 && archive_write_close(a) != ARCHIVE_OK)
		r = fail_archive(a, file, f);
	sink.broken = r < 0;
	if (r >= 0)
		*ret_bytes = (uint64_t)archive_filter_bytes(a, -1);
	return r;
}

static void on_signal(int number)
{
	if (partial)
		(void)unlink(partial);
	(void)raise(number);
}

static void remove_at_signals(const char *path)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND };

	partial = path;
	for (size_t i = 0; i < ELEMENTSOF(signals); i++) {
		struct sigaction before;

		/* Whom nohup started goes on. */
		if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
			(void)sigaction(signals[i], &action, NULL);
	}
}

/* To its name, which nobody must have taken meanwhile; file systems that cannot rename so can link. */
static int give_name(const char *from, const char *file, struct fail *f)
{
	int r = renameat2(AT_FDCWD, from, AT_FDCWD, file, RENAME_NOREPLACE);

	if (r < 0 && (errno == EINVAL || errno == ENOSYS)) {
		r = link(from, file);
		if (r == 0)
			(void)unlink(from);
	}
	if (r < 0)
		return errno == EEXIST ? fail_exists(file, f)
				       : fail_errno(f, errno, "cannot name %s", file);
	return 0;
}

/* So that the name is there after a crash as well. Whoever cannot has the file all the same. */
static void sync_directory(const char *file)
{
	_cleanup_free_ char *copy = strdup(file);
	_cleanup_fd_ int fd = -1;

	if (copy)
		fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		(void)fsync(fd);
}

int backup_write(const char *file, const struct backup_member *members, size_t n, bool own,
		 uint64_t *ret_bytes, struct fail *f)
{
	_cleanup_free_ char *path = NULL;
	_cleanup_fd_ int fd = -1;
	int r;

	if (strcmp(file, "-") == 0)
		return write_archive("standard output", STDOUT_FILENO, members, n, own, ret_bytes,
				     f);
	if (asprintf(&path, "%s.XXXXXX", file) < 0) {
		path = NULL;
		return fail_oom(f);
	}
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return fail_errno(f, errno, "cannot write %s", file);
	remove_at_signals(path);
	r = write_archive(file, fd, members, n, own, ret_bytes, f);
	if (r >= 0 && fsync(fd) < 0)
		r = fail_errno(f, errno, "cannot write %s", file);
	if (r >= 0)
		r = give_name(path, file, f);
	if (r < 0)
		(void)unlink(path);
	partial = NULL;
	if (r >= 0)
		sync_directory(file);
	return r;
}
