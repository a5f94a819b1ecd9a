/* SPDX-License-Identifier: MIT */
/*
 * Reading kernel files below a root.
 */
#include "util/kernfs.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

#define READ_FIRST 4096                /* bytes; sysfs files are at most a page */
#define READ_LIMIT (UINT64_C(1) << 30) /* bytes; nothing the kernel prints comes near */

struct kernfs {
	int root_fd;
	bool real;
	char root[];
};

int kernfs_new(const char *root, struct kernfs **ret, struct fail *f)
{
	_cleanup_(kernfs_freep) struct kernfs *k = NULL;
	struct stat here, real;
	size_t size;

	if (!root)
		root = "/";
	size = strlen(root);
	while (size > 1 && root[size - 1] == '/')
		size--;
	k = malloc(sizeof(*k) + size + 1);
	if (!k)
		return fail_oom(f);
	memcpy(k->root, root, size);
	k->root[size] = '\0';
	k->root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (k->root_fd < 0) {
		int r = fail_errno(f, errno, "cannot use %s as root of the kernel's files", root);

		if (f)
			f->code = SCHEDLAB_ERROR_INVALID_ARGUMENT;
		return r;
	}
	k->real = fstat(k->root_fd, &here) == 0 && stat("/", &real) == 0 &&
		  here.st_dev == real.st_dev && here.st_ino == real.st_ino;
	*ret = TAKE_PTR(k);
	return 0;
}

struct kernfs *kernfs_free(struct kernfs *k)
{
	if (k)
		(void)fd_close(k->root_fd);
	free(k);
	return NULL;
}

bool kernfs_is_real(const struct kernfs *k)
{
	return k->real;
}

const char *kernfs_root(const struct kernfs *k)
{
	return k->root;
}

const char *kernfs_format(char *buffer, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	(void)vsnprintf(buffer, KERNFS_PATH_MAX, format, ap);
	va_end(ap);
	return buffer;
}

/* What the kernel itself makes; anything else at such a path is not the kernel's word. */
static bool is_kernel_fs(int fd)
{
	static const unsigned long magics[] = {
		SYSFS_MAGIC,         PROC_SUPER_MAGIC,   DEBUGFS_MAGIC,    TRACEFS_MAGIC,
		CGROUP2_SUPER_MAGIC, CGROUP_SUPER_MAGIC, SECURITYFS_MAGIC,
	};
	struct statfs st;

	if (fstatfs(fd, &st) < 0)
		return false;
	for (size_t i = 0; i < ELEMENTSOF(magics); i++)
		if ((unsigned long)st.f_type == magics[i])
			return true;
	return false;
}

/* -ENOSYS where the kernel (before 5.6) or a seccomp filter does not know openat2. */
static int open_in_root(const struct kernfs *k, const char *path, int flags)
{
	struct open_how how = {
		.flags = (uint64_t)flags,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	long fd = syscall(SYS_openat2, k->root_fd, path, &how, sizeof(how));

	return fd < 0 ? -errno : (int)fd;
}

static int kernfs_open(const struct kernfs *k, const char *path, int flags, struct fail *f)
{
	_cleanup_fd_ int fd = -ENOSYS;

	/* openat2 refuses what O_PATH has no use for. */
	flags |= O_CLOEXEC | (flags & O_PATH ? 0 : O_RDONLY | O_NOCTTY | O_NONBLOCK);
	if (!k->real)
		fd = open_in_root(k, path, flags);
	else
		flags |= O_NOFOLLOW;
	if (fd == -ENOSYS || fd == -EPERM) {
		fd = openat(k->root_fd, *path == '/' ? path + 1 : path, flags);
		if (fd < 0)
			fd = -errno;
	}
	if (fd < 0)
		return fail_errno(f, fd, "%s%s", k->real ? "" : k->root, path);
	if (k->real && !is_kernel_fs(fd))
		return fail_set(f, SCHEDLAB_ERROR_FAILED,
				"%s: not on a file system of the kernel, so not trusted", path);
	return TAKE_FD(fd);
}

static int read_up_to(int fd, size_t limit, char **ret, size_t *ret_size)
{
	_cleanup_free_ char *text = NULL;
	size_t used = 0, size = 0;

	for (;;) {
		ssize_t n;

		if (used + 1 >= size) {
			char *larger;

			size = size ? size * 2 : READ_FIRST;
			larger = realloc(text, size);
			if (!larger)
				return -ENOMEM;
			text = larger;
		}
		n = read(fd, text + used, MIN_OF(size - 1 - used, limit - used));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		used += (size_t)n;
		if (n == 0 || used == limit)
			break;
		if (used >= READ_LIMIT)
			return -EFBIG;
	}
	text[used] = '\0';
	*ret = TAKE_PTR(text);
	if (ret_size)
		*ret_size = used;
	return 0;
}

static int kernfs_read_limited(const struct kernfs *k, const char *path, size_t limit, char **ret,
			       size_t *ret_size, struct fail *f)
{
	_cleanup_fd_ int fd = kernfs_open(k, path, 0, f);
	int r;

	if (fd < 0)
		return fd;
	r = read_up_to(fd, limit, ret, ret_size);
	if (r < 0)
		return fail_errno(f, r, "%s%s", k->real ? "" : k->root, path);
	return 0;
}

int kernfs_read(const struct kernfs *k, const char *path, char **ret, size_t *ret_size,
		struct fail *f)
{
	return kernfs_read_limited(k, path, SIZE_MAX, ret, ret_size, f);
}

int kernfs_read_head(const struct kernfs *k, const char *path, size_t limit, char **ret,
		     struct fail *f)
{
	return kernfs_read_limited(k, path, limit, ret, NULL, f);
}

int kernfs_read_trimmed(const struct kernfs *k, const char *path, char **ret, struct fail *f)
{
	_cleanup_free_ char *text = NULL;
	size_t begin = 0, end;
	int r = kernfs_read(k, path, &text, &end, f);

	if (r < 0)
		return r;
	while (end > 0 && isspace((unsigned char)text[end - 1]))
		end--;
	while (begin < end && isspace((unsigned char)text[begin]))
		begin++;
	memmove(text, text + begin, end - begin);
	text[end - begin] = '\0';
	*ret = TAKE_PTR(text);
	return 0;
}

static int fail_number(const struct kernfs *k, const char *path, const char *text, struct fail *f)
{
	return fail_set(f, SCHEDLAB_ERROR_FAILED, "%s%s: '%.60s' is not a number that fits",
			k->real ? "" : k->root, path, text);
}

int kernfs_read_i64(const struct kernfs *k, const char *path, int64_t *ret, struct fail *f)
{
	_cleanup_free_ char *text = NULL;
	char *end;
	long long value;
	int r = kernfs_read_trimmed(k, path, &text, f);

	if (r < 0)
		return r;
	errno = 0;
	value = strtoll(text, &end, 0);
	if (errno != 0 || end == text || *end != '\0')
		return fail_number(k, path, text, f);
	*ret = value;
	return 0;
}

int kernfs_read_u64(const struct kernfs *k, const char *path, uint64_t *ret, struct fail *f)
{
	_cleanup_free_ char *text = NULL;
	char *end;
	unsigned long long value;
	int r = kernfs_read_trimmed(k, path, &text, f);

	if (r < 0)
		return r;
	errno = 0;
	value = strtoull(text, &end, 0);
	if (errno != 0 || end == text || *end != '\0' || *text == '-')
		return fail_number(k, path, text, f);
	*ret = value;
	return 0;
}

typedef int (*cpuset_parser)(const char *, struct cpuset **, struct fail *);

static int read_cpus(const struct kernfs *k, const char *path, cpuset_parser parse,
		     struct cpuset **ret, struct fail *f)
{
	_cleanup_free_ char *text = NULL;
	int r = kernfs_read(k, path, &text, NULL, f);

	if (r < 0)
		return r;
	r = parse(text, ret, f);
	if (r < 0)
		return fail_prefix(f, r, "%s%s: ", k->real ? "" : k->root, path);
	return 0;
}

int kernfs_read_list(const struct kernfs *k, const char *path, struct cpuset **ret, struct fail *f)
{
	return read_cpus(k, path, cpuset_parse_list, ret, f);
}

int kernfs_read_mask(const struct kernfs *k, const char *path, struct cpuset **ret, struct fail *f)
{
	return read_cpus(k, path, cpuset_parse_mask, ret, f);
}

bool kernfs_exists(const struct kernfs *k, const char *path)
{
	_cleanup_fd_ int fd = kernfs_open(k, path, O_PATH, NULL);

	return fd >= 0;
}

static void closedirp(DIR **dir)
{
	if (*dir)
		(void)closedir(*dir);
}

/* Calls @each for every name in a directory but "." and ".."; stops at a negative return. */
static int each_name(const struct kernfs *k, const char *path,
		     int (*each)(const char *name, void *userdata), void *userdata, struct fail *f)
{
	_cleanup_(closedirp) DIR *dir = NULL;
	_cleanup_fd_ int fd = kernfs_open(k, path, O_DIRECTORY, f);
	struct dirent *entry;

	if (fd < 0)
		return fd;
	dir = fdopendir(fd);
	if (!dir)
		return fail_errno(f, errno, "%s%s", k->real ? "" : k->root, path);
	(void)TAKE_FD(fd);
	while ((entry = readdir(dir))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (each(entry->d_name, userdata) < 0)
			return fail_oom(f);
	}
	return 0;
}

struct names {
	char **list;
	size_t n;
};

void kernfs_free_names(char **names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(names[i]);
	free(names);
}

static int append_name(const char *name, void *userdata)
{
	struct names *names = userdata;
	char **larger = reallocarray(names->list, names->n + 1, sizeof(*larger));

	if (!larger)
		return -ENOMEM;
	names->list = larger;
	larger[names->n] = strdup(name);
	if (!larger[names->n])
		return -ENOMEM;
	names->n++;
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int kernfs_read_names(const struct kernfs *k, const char *path, char ***ret, size_t *ret_n,
		      struct fail *f)
{
	struct names names = { 0 };
	int r = each_name(k, path, append_name, &names, f);

	if (r < 0) {
		kernfs_free_names(names.list, names.n);
		return r;
	}
	if (names.n > 0)
		qsort(names.list, names.n, sizeof(*names.list), compare_names);
	*ret = names.list;
	*ret_n = names.n;
	return 0;
}

struct numbers {
	const char *prefix;
	struct cpuset *set;
};

/* Adds N of "<prefix>N"; any other name is passed over. */
static int add_number(const char *name, void *userdata)
{
	const struct numbers *numbers = userdata;
	size_t length = strlen(numbers->prefix);
	unsigned long number;
	char *end;

	if (strncmp(name, numbers->prefix, length) != 0 || !isdigit((unsigned char)name[length]))
		return 0;
	number = strtoul(name + length, &end, 10);
	if (*end != '\0' || number > CPUSET_CPU_MAX)
		return 0;
	return cpuset_add(numbers->set, (unsigned int)number);
}

int kernfs_read_numbers(const struct kernfs *k, const char *path, const char *prefix,
			struct cpuset **ret, struct fail *f)
{
	_cleanup_(cpuset_freep) struct cpuset *s = cpuset_new();
	struct numbers numbers = { .prefix = prefix, .set = s };
	int r;

	if (!s)
		return fail_oom(f);
	r = each_name(k, path, add_number, &numbers, f);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(s);
	return 0;
}
