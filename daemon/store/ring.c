/* SPDX-License-Identifier: MIT */
/*
 * The ring file: superblocks, records, the scan for the newest.
 */
#include "store/ring.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <xxhash.h>

#include "util/clock.h"
#include "util/lock.h"
#include "util/log.h"

#define MAGIC      "SLABRING"
#define SCAN_SLOTS 2048 /* 1 MiB at a time */
#define TRIES_MAX  4

/* More are never written; so sums of them do not overflow. */
#define SEQUENCE_MAX (UINT64_C(1) << 62)

struct superblock {
	char magic[8];
	uint16_t version, kind;
	uint32_t writer_flags, reader_flags, record_size;
	uint64_t slots;
	uint8_t file_id[16], machine_id[16];
	uint64_t created_ns, generation;
	uint8_t rest[RING_SUPERBLOCK - 88];
	uint64_t hash;
};
_Static_assert(sizeof(struct superblock) == RING_SUPERBLOCK, "as the head of ring.h has it");
_Static_assert(offsetof(struct superblock, hash) == RING_SUPERBLOCK - 8, "the hash stands last");

struct record {
	uint64_t sequence;
	uint8_t body[RING_BODY_SIZE];
	uint64_t hash;
};
_Static_assert(sizeof(struct record) == RING_RECORD, "records have no holes");

struct ring {
	int fd;
	struct superblock super;
	uint64_t slots, first, next;
	bool unsynced;
};

static uint64_t slot_offset(uint64_t slot)
{
	return 2 * RING_SUPERBLOCK + slot * RING_RECORD;
}

static uint64_t hash_superblock(const struct superblock *s)
{
	return XXH3_64bits(s, offsetof(struct superblock, hash));
}

static uint64_t hash_record(const struct ring *r, uint64_t slot, const struct record *record)
{
	struct {
		uint8_t file_id[16];
		uint64_t slot;
		uint8_t bytes[offsetof(struct record, hash)];
	} all;

	memcpy(all.file_id, r->super.file_id, sizeof(all.file_id));
	all.slot = htole64(slot);
	memcpy(all.bytes, record, sizeof(all.bytes));
	return XXH3_64bits(&all, sizeof(all));
}

uint64_t ring_check(const struct ring *r, uint64_t slot, const void *bytes)
{
	const struct record *record = bytes;
	uint64_t sequence = le64toh(record->sequence);

	if (sequence == 0 || sequence > SEQUENCE_MAX || sequence % r->slots != slot ||
	    le64toh(record->hash) != hash_record(r, slot, record))
		return 0;
	return sequence;
}

static bool is_empty(const struct record *record)
{
	static const struct record nothing;

	return memcmp(record, &nothing, sizeof(nothing)) == 0;
}

/* All of it, or a negative errno; -ENODATA behind the end of the file. */
static int read_all(int fd, void *buffer, size_t size, uint64_t offset)
{
	uint8_t *at = buffer;

	while (size > 0) {
		ssize_t n = pread(fd, at, size, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -ENODATA;
		at += n;
		offset += (uint64_t)n;
		size -= (size_t)n;
	}
	return 0;
}

static int write_all(int fd, const void *buffer, size_t size, uint64_t offset)
{
	const uint8_t *at = buffer;

	while (size > 0) {
		ssize_t n = pwrite(fd, at, size, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		at += n;
		offset += (uint64_t)n;
		size -= (size_t)n;
	}
	return 0;
}

static int fail_store(struct fail *f, int error, const char *doing, const char *name)
{
	return fail_set(f, SCHEDLAB_ERROR_STORE_UNAVAILABLE, "cannot %s the store %s: %s", doing,
			name, strerror(error < 0 ? -error : error));
}

/* Both superblocks, one after the other, each synced: one of them is whole at any time. */
static int write_superblocks(struct ring *r)
{
	r->super.hash = htole64(hash_superblock(&r->super));
	for (uint64_t i = 0; i < 2; i++) {
		int e = write_all(r->fd, &r->super, sizeof(r->super), i * RING_SUPERBLOCK);

		if (e < 0)
			return e;
		if (fdatasync(r->fd) < 0)
			return -errno;
	}
	return 0;
}

/* The newest whole superblock to @newest; how many are whole. What cannot be read now is not broken: a
 * negative errno. */
static int read_superblocks(int fd, struct superblock *newest)
{
	int whole = 0;

	for (uint64_t i = 0; i < 2; i++) {
		struct superblock s;
		int e = read_all(fd, &s, sizeof(s), i * RING_SUPERBLOCK);

		if (e < 0 && e != -ENODATA)
			return e;
		if (e < 0 || memcmp(s.magic, MAGIC, sizeof(s.magic)) != 0 ||
		    le64toh(s.hash) != hash_superblock(&s))
			continue;
		if (whole++ == 0 || le64toh(s.generation) > le64toh(newest->generation))
			*newest = s;
	}
	return whole;
}

static int create(struct ring *r, int directory, const struct ring_options *o, const char *name,
		  struct fail *f)
{
	struct superblock *s = &r->super;
	struct stat st;
	int e;

	memset(s, 0, sizeof(*s));
	memcpy(s->magic, MAGIC, sizeof(s->magic));
	s->version = htole16(RING_VERSION);
	s->kind = htole16(o->kind);
	s->record_size = htole32(RING_RECORD);
	s->slots = htole64(o->slots);
	memcpy(s->machine_id, o->machine_id, sizeof(s->machine_id));
	s->created_ns = htole64(clock_realtime_ns());
	s->generation = htole64(1);
	if (getrandom(s->file_id, sizeof(s->file_id), 0) != sizeof(s->file_id))
		return fail_store(f, errno, "make an id for", name);
	/* Root makes it for whom the directory is. */
	if (geteuid() == 0 && fstat(directory, &st) == 0 && st.st_uid != 0 &&
	    fchown(r->fd, st.st_uid, st.st_gid) < 0)
		return fail_store(f, errno, "hand over", name);
	/* All of it now: later there may be no space. */
	e = posix_fallocate(r->fd, 0, (off_t)slot_offset(o->slots));
	if (e != 0)
		return fail_store(f, e, "make room for", name);
	e = write_superblocks(r);
	/* Its name, too. */
	if (e >= 0 && fsync(directory) < 0)
		e = -errno;
	return e < 0 ? fail_store(f, e, "begin", name) : 0;
}

static const char another_machine[] = "another machine wrote it";

/* Why a file with whole superblocks cannot be ours; NULL: it can. */
static const char *why_foreign(const struct ring *r, const struct ring_options *o)
{
	static const uint8_t none[sizeof(o->machine_id)];

	if (memcmp(r->super.machine_id, o->machine_id, sizeof(o->machine_id)) != 0 &&
	    memcmp(r->super.machine_id, none, sizeof(none)) != 0 &&
	    memcmp(o->machine_id, none, sizeof(none)) != 0)
		return another_machine;
	if (le16toh(r->super.kind) != o->kind)
		return "it holds something else";
	return NULL;
}

/* A file that a newer program wrote in a way that this one may not touch. */
static int check_version(const struct ring *r, bool read_only, const char *name, struct fail *f)
{
	uint32_t reader = le32toh(r->super.reader_flags), writer = le32toh(r->super.writer_flags);

	if (le16toh(r->super.version) > RING_VERSION || reader != 0 || (writer != 0 && !read_only))
		return fail_set(
			f, SCHEDLAB_ERROR_STORE_UNAVAILABLE,
			"the store %s has version %u with flags %#x, %#x, and this program knows "
			"version %d only: use a newer schedlab, or move the file away",
			name, le16toh(r->super.version), reader, writer, RING_VERSION);
	return 0;
}

/* Reads all slots: counts, and finds the newest and the oldest that is whole (0: none is). */
static int scan(const struct ring *r, struct ring_report *report, uint64_t *ret_newest,
		uint64_t *ret_oldest)
{
	_cleanup_free_ struct record *buffer = calloc(SCAN_SLOTS, sizeof(*buffer));
	uint64_t newest = 0, oldest = 0;

	if (!buffer)
		return -ENOMEM;
	for (uint64_t slot = 0; slot < r->slots;) {
		long n = ring_read_slots(r, slot, buffer, SCAN_SLOTS);

		if (n < 0)
			return (int)n;
		for (long i = 0; i < n; i++) {
			uint64_t sequence = ring_check(r, slot + (uint64_t)i, &buffer[i]);

			if (sequence > newest)
				newest = sequence;
			if (sequence > 0 && (oldest == 0 || sequence < oldest))
				oldest = sequence;
			if (sequence > 0)
				report->whole++;
			else if (is_empty(&buffer[i]))
				report->empty++;
			else
				report->rotten++;
		}
		slot += (uint64_t)n;
	}
	*ret_newest = newest;
	*ret_oldest = oldest;
	return 0;
}

int ring_count(const struct ring *r, struct ring_report *ret)
{
	uint64_t newest, oldest;

	memset(ret, 0, sizeof(*ret));
	return scan(r, ret, &newest, &oldest);
}

/* What is there is taken as it is, and mended where that loses nothing. */
static int take_over(struct ring *r, const struct ring_options *o, int whole, const char *name,
		     struct ring_report *report, struct fail *f)
{
	struct stat st;
	uint64_t newest = 0, oldest = 0;
	int e;

	r->slots = le64toh(r->super.slots);
	if (fstat(r->fd, &st) < 0)
		return fail_store(f, errno, "look at", name);
	if (!o->read_only && (uint64_t)st.st_size < slot_offset(r->slots)) {
		e = posix_fallocate(r->fd, 0, (off_t)slot_offset(r->slots));
		if (e != 0) {
			/* Some of it may have been taken; the disk is full enough. */
			if (ftruncate(r->fd, st.st_size) < 0)
				log_warning("%s: what was taken of it cannot be given back", name);
			return fail_store(f, e, "make room for", name);
		}
		report->mended = true;
	}
	if (!o->read_only && whole < 2) {
		e = write_superblocks(r);
		if (e < 0)
			return fail_store(f, e, "mend", name);
		report->mended = true;
	}
	e = scan(r, report, &newest, &oldest);
	r->next = newest + 1;
	r->first = MAX_OF(oldest, (uint64_t)1);
	return e < 0 ? fail_store(f, e, "read", name) : 0;
}

static void name_of_machine(char *text, size_t size, const char *name, const uint8_t id[16])
{
	(void)snprintf(text, size, "%.80s.machine-%02x%02x%02x%02x%02x%02x", name, id[0], id[1],
		       id[2], id[3], id[4], id[5]);
}

/* What this machine wrote, and another that has the same directory has set aside. */
static void take_back(int directory, const char *name, const struct ring_options *o)
{
	char aside[160];

	name_of_machine(aside, sizeof(aside), name, o->machine_id);
	(void)renameat2(directory, aside, directory, name, RENAME_NOREPLACE);
}

/* "NAME.machine-c0ffee012345" for one that is wanted back, else "NAME.set-aside-20261130-231500-0". */
static int set_aside(const struct ring *r, int directory, const char *name, const char *why,
		     struct ring_report *report, struct fail *f)
{
	time_t now = time(NULL);
	char stamp[32] = "";
	struct tm tm;

	if (gmtime_r(&now, &tm))
		(void)strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &tm);
	(void)snprintf(report->why, sizeof(report->why), "%s", why);
	if (why == another_machine) {
		name_of_machine(report->set_aside, sizeof(report->set_aside), name,
				r->super.machine_id);
		if (renameat2(directory, name, directory, report->set_aside, RENAME_NOREPLACE) == 0)
			return 0;
	}
	for (unsigned int i = 0;; i++) {
		(void)snprintf(report->set_aside, sizeof(report->set_aside),
			       "%.80s.set-aside-%s-%u", name, stamp, i);
		if (renameat2(directory, name, directory, report->set_aside, RENAME_NOREPLACE) == 0)
			return 0;
		if (errno != EEXIST)
			return fail_store(f, errno, "set aside", name);
	}
}

/* Under the lock: what the file is, and what is to be done about it. 0: set aside, try again. */
static int settle(struct ring *r, int directory, const char *name, const struct ring_options *o,
		  struct ring_report *report, struct fail *f)
{
	const char *foreign;
	struct stat st;
	int e, whole;

	if (fstat(r->fd, &st) < 0)
		return fail_store(f, errno, "look at", name);
	if (st.st_size == 0 && !o->read_only) {
		e = create(r, directory, o, name, f);
		if (e < 0) {
			/* Not to be found half made. */
			(void)unlinkat(directory, name, 0);
			return e;
		}
		report->created = true;
		return take_over(r, o, 2, name, report, f) < 0 ? -EIO : 1;
	}
	whole = read_superblocks(r->fd, &r->super);
	if (whole < 0)
		return fail_store(f, whole, "read", name);
	if (whole > 0) {
		e = check_version(r, o->read_only, name, f);
		if (e < 0)
			return e;
	}
	foreign = whole == 0 ? "neither of its superblocks is whole" : why_foreign(r, o);
	if (whole > 0 && !foreign &&
	    (le32toh(r->super.record_size) != RING_RECORD ||
	     le64toh(r->super.slots) < RING_SLOTS_MIN || le64toh(r->super.slots) > RING_SLOTS_MAX))
		foreign = "its sizes make no sense";
	if (foreign && o->read_only)
		return fail_set(f, SCHEDLAB_ERROR_STORE_UNAVAILABLE,
				"the store %s cannot be used: %s", name, foreign);
	if (foreign)
		return set_aside(r, directory, name, foreign, report, f);
	e = take_over(r, o, whole, name, report, f);
	return e < 0 ? e : 1;
}

static int try_open(struct ring *r, int directory, const char *name, const struct ring_options *o,
		    struct ring_report *report, struct fail *f)
{
	int flags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY |
		    (o->read_only ? O_RDONLY : O_RDWR | O_CREAT);
	struct stat st;
	int e;

	if (!o->read_only)
		take_back(directory, name, o);
	r->fd = openat(directory, name, flags, 0640);
	if (r->fd < 0 || fstat(r->fd, &st) < 0)
		return fail_store(f, errno, "open", name);
	if (!S_ISREG(st.st_mode))
		return fail_set(f, SCHEDLAB_ERROR_STORE_UNAVAILABLE,
				"the store %s is not a regular file", name);
	if (!o->read_only) {
		e = lock_fd(r->fd, "writes this store", f);
		if (e < 0)
			return e;
		/* Replaced by its last holder between open and lock. */
		if (!ring_is_at(r, directory, name))
			return 0;
	}
	return settle(r, directory, name, o, report, f);
}

int ring_open(int directory, const char *name, const struct ring_options *options,
	      struct ring **ret, struct ring_report *ret_report, struct fail *f)
{
	_cleanup_(ring_closep) struct ring *r = calloc(1, sizeof(*r));
	int e;

	if (!r)
		return fail_oom(f);
	r->fd = -1;
	memset(ret_report, 0, sizeof(*ret_report));
	e = try_open(r, directory, name, options, ret_report, f);
	for (int tries = 0; e == 0 && tries < TRIES_MAX; tries++) {
		/* It was set aside or replaced: there is another. */
		r->fd = fd_close(r->fd);
		e = try_open(r, directory, name, options, ret_report, f);
	}
	if (e <= 0)
		return e < 0 ? e : fail_store(f, EAGAIN, "get hold of", name);
	*ret = TAKE_PTR(r);
	return 0;
}

struct ring *ring_close(struct ring *r)
{
	if (!r)
		return NULL;
	(void)fd_close(r->fd);
	free(r);
	return NULL;
}

bool ring_is_at(const struct ring *r, int directory, const char *name)
{
	struct stat ours, there;

	return fstat(r->fd, &ours) == 0 &&
	       fstatat(directory, name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
	       ours.st_ino == there.st_ino && ours.st_dev == there.st_dev;
}

int ring_superblocks(const struct ring *r)
{
	struct superblock unused = { 0 };

	return read_superblocks(r->fd, &unused);
}

int ring_fd(const struct ring *r)
{
	return r->fd;
}

int ring_append(struct ring *r, const void *body, uint64_t *ret_sequence, struct fail *f)
{
	uint64_t slot = r->next % r->slots;
	struct record record = { .sequence = htole64(r->next) };
	int e;

	memcpy(record.body, body, sizeof(record.body));
	record.hash = htole64(hash_record(r, slot, &record));
	e = write_all(r->fd, &record, sizeof(record), slot_offset(slot));
	if (e < 0)
		return fail_set(f, SCHEDLAB_ERROR_STORE_UNAVAILABLE,
				"cannot write to the store: %s", strerror(-e));
	if (ret_sequence)
		*ret_sequence = r->next;
	r->next++;
	r->unsynced = true;
	return 0;
}

int ring_sync(struct ring *r, struct fail *f)
{
	if (!r->unsynced)
		return 0;
	if (fdatasync(r->fd) < 0)
		return fail_set(f, SCHEDLAB_ERROR_STORE_UNAVAILABLE,
				"the disk does not keep the store: %s", strerror(errno));
	r->unsynced = false;
	return 0;
}

int ring_read(const struct ring *r, uint64_t sequence, void *body)
{
	struct record record;
	uint64_t slot = sequence % r->slots, found;
	int e;

	if (sequence == 0 || sequence >= r->next)
		return -ENOENT;
	e = read_all(r->fd, &record, sizeof(record), slot_offset(slot));
	if (e < 0)
		return e == -ENODATA ? -EBADMSG : e;
	found = ring_check(r, slot, &record);
	/* Another whole one, or none yet: it is not here. */
	if (found != sequence)
		return found != 0 || is_empty(&record) ? -ENOENT : -EBADMSG;
	memcpy(body, record.body, sizeof(record.body));
	return 0;
}

uint64_t ring_first(const struct ring *r)
{
	return MAX_OF(r->first, r->next > r->slots ? r->next - r->slots : 1);
}

uint64_t ring_next(const struct ring *r)
{
	return r->next;
}

uint64_t ring_bytes(const struct ring *r)
{
	return slot_offset(r->slots);
}

uint64_t ring_slots(const struct ring *r)
{
	return r->slots;
}

/* Behind the end of a file that was cut nothing is there. */
static long read_to_end(const struct ring *r, uint64_t first_slot, void *buffer, size_t n)
{
	struct stat st;
	uint64_t there = 0;
	int e;

	if (fstat(r->fd, &st) < 0)
		return -errno;
	if ((uint64_t)st.st_size > slot_offset(first_slot))
		there = ((uint64_t)st.st_size - slot_offset(first_slot)) / RING_RECORD;
	there = MIN_OF(there, (uint64_t)n);
	memset(buffer, 0, n * RING_RECORD);
	e = read_all(r->fd, buffer, (size_t)there * RING_RECORD, slot_offset(first_slot));
	return e < 0 && e != -ENODATA ? e : (long)n;
}

long ring_read_slots(const struct ring *r, uint64_t first_slot, void *buffer, size_t n)
{
	uint64_t left = r->slots - first_slot;
	int e;

	n = left < n ? (size_t)left : n;
	e = read_all(r->fd, buffer, n * RING_RECORD, slot_offset(first_slot));
	if (e == -ENODATA)
		return read_to_end(r, first_slot, buffer, n);
	/* A sector of the disk, perhaps: the others are still there. */
	for (size_t i = 0; e == -EIO && i < n; i++)
		if (read_all(r->fd, (uint8_t *)buffer + i * RING_RECORD, RING_RECORD,
			     slot_offset(first_slot + i)) < 0)
			memset((uint8_t *)buffer + i * RING_RECORD, 0xff, RING_RECORD);
	return e < 0 && e != -EIO ? e : (long)n;
}

void ring_continue_after(struct ring *r, uint64_t sequence)
{
	if (sequence >= r->next)
		r->next = sequence + 1;
}
