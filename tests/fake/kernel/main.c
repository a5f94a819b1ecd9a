/* SPDX-License-Identifier: MIT */
/*
 * main of fake-kernel: options, and FUSE's operations over the tree.
 *
 *     fake-kernel [--owner UID] [--kernel 6.1|6.12] [--old-path] [--no-idle | --haltpoll] [--lockdown]
 *                 TREE MOUNT
 *
 * Stays in the foreground until SIGTERM, and unmounts itself then. It is there when MOUNT/.control is.
 */
#define FUSE_USE_VERSION 314

#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "kernel.h"

#define DEBUGFS     "/sys/kernel/debug"
#define WRITE_MAX   4096 /* sysfs takes a page at a time */
#define THREADS_MAX 64

static struct kernel kernel = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* One open file. */
struct handle {
	struct node *node;
	uint32_t life; /* the node's, when it was opened */
	char *text;    /* as it was when reading began */
	size_t size;
	size_t written; /* FUSE counts these into the position, the kernel's files do not */
	int latency;    /* of /dev/cpu_dma_latency; else -1 */
	struct handle *next, **link;
};

/* All that are open: those that are when the mount goes are never released. */
static struct handle *handles;

static struct handle *handle_of(const struct fuse_file_info *info)
{
	return (struct handle *)(uintptr_t)info->fh;
}

static bool is_below(const char *path, const char *directory)
{
	size_t length = strlen(directory);

	return strncmp(path, directory, length) == 0 &&
	       (path[length] == '/' || path[length] == '\0');
}

static int op_getattr(const char *path, struct stat *st, struct fuse_file_info *info)
{
	struct node *n;

	(void)info;
	(void)pthread_mutex_lock(&kernel.lock);
	n = tree_find(kernel.root, path);
	if (n) {
		memset(st, 0, sizeof(*st));
		st->st_mode = n->mode;
		st->st_nlink = S_ISDIR(n->mode) ? 2 : 1;
		st->st_uid = kernel.owner;
		/* As sysfs says of every file; other places say nothing. */
		if (S_ISREG(n->mode) && is_below(path, "/sys/devices"))
			st->st_size = 4096;
	}
	(void)pthread_mutex_unlock(&kernel.lock);
	return n ? 0 : -ENOENT;
}

static int op_readdir(const char *path, void *buffer, fuse_fill_dir_t fill, off_t offset,
		      struct fuse_file_info *info, enum fuse_readdir_flags flags)
{
	struct node *n;

	(void)offset;
	(void)info;
	(void)flags;
	(void)pthread_mutex_lock(&kernel.lock);
	n = tree_find(kernel.root, path);
	(void)fill(buffer, ".", NULL, 0, 0);
	(void)fill(buffer, "..", NULL, 0, 0);
	for (size_t i = 0; n && i < n->n_children; i++)
		if (!n->children[i]->hidden && !n->children[i]->vanished)
			(void)fill(buffer, n->children[i]->name, NULL, 0, 0);
	(void)pthread_mutex_unlock(&kernel.lock);
	return n ? 0 : -ENOENT;
}

/* Lockdown knows modes only: a file of debugfs that could be written cannot even be read. */
static int may_open(struct node *n, const char *path, int flags)
{
	bool writes = (flags & O_ACCMODE) != O_RDONLY;
	int r = fault_take(&kernel, FAULT_OPEN, n, writes);

	if (r < 0)
		return r;
	/* What cannot be written cannot be opened for it, by root neither. */
	if (writes && !(n->ops && n->ops->write))
		return -EACCES;
	return kernel.lockdown && is_below(path, DEBUGFS) && n->mode & 0222 ? -EPERM : 0;
}

static int open_node(const char *path, struct fuse_file_info *info)
{
	struct node *n = tree_find(kernel.root, path);
	struct handle *h;
	int r = n ? may_open(n, path, info->flags) : -ENOENT;

	if (r < 0)
		return r;
	h = calloc(1, sizeof(*h));
	if (!h)
		return -ENOMEM;
	h->node = n;
	h->life = n->life;
	h->latency = -1;
	if (n->ops == &dma_latency_ops) {
		h->latency = latency_open(&kernel);
		if (h->latency < 0) {
			r = h->latency;
			free(h);
			return r;
		}
	}
	h->next = handles;
	h->link = &handles;
	if (h->next)
		h->next->link = &h->next;
	handles = h;
	info->fh = (uintptr_t)h;
	info->direct_io = 1;
	/* Numbers of debugfs know no positions; its other files know them for readers. */
	info->nonseekable = is_below(path, DEBUGFS) && n->ops && n->ops->write &&
			    strcmp(n->name, "features") != 0;
	return 0;
}

static int op_open(const char *path, struct fuse_file_info *info)
{
	int r;

	(void)pthread_mutex_lock(&kernel.lock);
	r = open_node(path, info);
	(void)pthread_mutex_unlock(&kernel.lock);
	return r;
}

/* The error of a file that is not there any more, or not as it was: what was made anew is another. */
static int why_gone(const struct handle *h)
{
	bool gone = h->life != h->node->life;
	char path[512];

	for (const struct node *n = h->node; n; n = n->parent)
		gone |= n->hidden || n->vanished;
	if (!gone)
		return 0;
	tree_path(h->node, path, sizeof(path));
	return is_below(path, DEBUGFS) ? -EIO : -ENODEV;
}

/* The whole text, made when a reader is at its beginning, as seq_file has it. */
static int make_text(struct handle *h)
{
	FILE *out;

	free(h->text);
	h->text = NULL;
	out = open_memstream(&h->text, &h->size);
	if (!out)
		return -ENOMEM;
	if (h->node->is_cpu_set)
		hotplug_filter(&kernel, h->node, out);
	else if (h->node->ops && h->node->ops->read)
		h->node->ops->read(&kernel, h->node, out);
	else if (h->node->text)
		fputs(h->node->text, out);
	return fclose(out) == 0 ? 0 : -ENOMEM;
}

static int op_read(const char *path, char *buffer, size_t size, off_t offset,
		   struct fuse_file_info *info)
{
	struct handle *h = handle_of(info);
	int r;

	(void)path;
	(void)pthread_mutex_lock(&kernel.lock);
	r = fault_take(&kernel, FAULT_READ, h->node, true);
	if (r == 0)
		r = why_gone(h);
	if (offset < (off_t)h->written)
		h->written = 0; /* it has gone to another place meanwhile */
	offset -= (off_t)h->written;
	if (r == 0 && (offset == 0 || !h->text))
		r = make_text(h);
	if (r == 0 && h->text && (size_t)offset < h->size) {
		size_t left = h->size - (size_t)offset;

		r = (int)(left < size ? left : size);
		memcpy(buffer, h->text + offset, (size_t)r);
	}
	(void)pthread_mutex_unlock(&kernel.lock);
	return r;
}

int kernel_write(struct kernel *k, struct node *n, const char *data, size_t size)
{
	if (!n->ops || !n->ops->write)
		return -EACCES;
	return n->ops->write(k, n, data, size);
}

static int write_node(struct handle *h, const char *data, size_t size)
{
	const struct fuse_context *context = fuse_get_context();
	int r = fault_take(&kernel, FAULT_WRITE, h->node, true);

	if (r == 0)
		r = why_gone(h);
	if (r < 0)
		return r;
	kernel.caller = context->uid;
	if (fault_take(&kernel, FAULT_UNSTICK, h->node, true))
		return (int)size;
	r = h->latency >= 0 ? latency_request(&kernel, h->latency, data, size)
			    : kernel_write(&kernel, h->node, data, size);
	if (r >= 0 && strcmp(h->node->name, ".control") != 0)
		control_note(&kernel, h->node, context->uid, context->pid, data, size);
	if (r > 0)
		h->written += (size_t)r;
	return r;
}

static int op_write(const char *path, const char *buffer, size_t size, off_t offset,
		    struct fuse_file_info *info)
{
	struct handle *h = handle_of(info);
	char data[WRITE_MAX + 1];
	int r, block_ms;

	(void)path;
	(void)offset;
	if (size > WRITE_MAX)
		size = WRITE_MAX;
	memcpy(data, buffer, size);
	data[size] = '\0';
	(void)pthread_mutex_lock(&kernel.lock);
	block_ms = fault_take(&kernel, FAULT_BLOCK, h->node, true);
	(void)pthread_mutex_unlock(&kernel.lock);
	if (block_ms > 0) {
		struct timespec pause = { block_ms / 1000, block_ms % 1000 * 1000000L };

		(void)nanosleep(&pause, NULL);
	}
	(void)pthread_mutex_lock(&kernel.lock);
	r = write_node(h, data, size);
	(void)pthread_mutex_unlock(&kernel.lock);
	return r;
}

/* O_TRUNC means nothing to these files. */
static int op_truncate(const char *path, off_t size, struct fuse_file_info *info)
{
	(void)path;
	(void)size;
	(void)info;
	return 0;
}

/* Nothing here can be made or removed. */
static int op_create(const char *path, mode_t mode, struct fuse_file_info *info)
{
	(void)path;
	(void)mode;
	(void)info;
	return -EACCES;
}

static int op_mkdir(const char *path, mode_t mode)
{
	(void)path;
	(void)mode;
	return -EPERM;
}

static int op_unlink(const char *path)
{
	(void)path;
	return -EPERM;
}

static int op_rename(const char *from, const char *to, unsigned int flags)
{
	(void)from;
	(void)to;
	(void)flags;
	return -EPERM;
}

static int op_release(const char *path, struct fuse_file_info *info)
{
	struct handle *h = handle_of(info);

	(void)path;
	(void)pthread_mutex_lock(&kernel.lock);
	if (h->latency >= 0)
		latency_close(&kernel, h->latency);
	*h->link = h->next;
	if (h->next)
		h->next->link = h->link;
	(void)pthread_mutex_unlock(&kernel.lock);
	free(h->text);
	free(h);
	return 0;
}

static const struct fuse_operations operations = {
	.getattr = op_getattr,
	.readdir = op_readdir,
	.open = op_open,
	.read = op_read,
	.write = op_write,
	.truncate = op_truncate,
	.release = op_release,
	.create = op_create,
	.mkdir = op_mkdir,
	.unlink = op_unlink,
	.rmdir = op_unlink,
	.rename = op_rename,
};

static int usage(void)
{
	fprintf(stderr, "usage: fake-kernel [--owner UID] [--kernel 6.1|6.12] [--old-path] "
			"[--no-idle | --haltpoll] [--lockdown] TREE MOUNT\n");
	return 2;
}

static int parse(int argc, char *argv[])
{
	static const struct option options[] = {
		{ "owner", required_argument, NULL, 'o' },
		{ "kernel", required_argument, NULL, 'k' },
		{ "old-path", no_argument, NULL, 'p' },
		{ "no-idle", no_argument, NULL, 'n' },
		{ "haltpoll", no_argument, NULL, 'h' },
		{ "lockdown", no_argument, NULL, 'l' },
		{ 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		switch (option) {
		case 'o':
			kernel.owner = (uid_t)strtoul(optarg, NULL, 10);
			break;
		case 'k':
			if (strcmp(optarg, "6.1") != 0 && strcmp(optarg, "6.12") != 0)
				return -EINVAL;
			kernel.is_6_12 = strcmp(optarg, "6.12") == 0;
			break;
		case 'p':
			kernel.old_path = true;
			break;
		case 'n':
			kernel.no_idle = true;
			break;
		case 'h':
			kernel.haltpoll = true;
			break;
		case 'l':
			kernel.lockdown = true;
			break;
		default:
			return -EINVAL;
		}
	}
	return argc - optind == 2 ? 0 : -EINVAL;
}

/* Until a signal ends it. */
static int serve(const char *mount)
{
	char name[] = "fake-kernel", dash_o[] = "-o";
	char mount_options[] = "allow_other,default_permissions,attr_timeout=0,entry_timeout=0,"
			       "negative_timeout=0,fsname=fake-kernel";
	char *words[] = { name, dash_o, mount_options, NULL };
	struct fuse_args arguments = FUSE_ARGS_INIT(3, words);
	struct fuse_loop_config *config = fuse_loop_cfg_create();
	struct fuse *fuse = fuse_new(&arguments, &operations, sizeof(operations), NULL);
	int r = 1;

	fuse_loop_cfg_set_max_threads(config, THREADS_MAX);
	if (fuse && fuse_mount(fuse, mount) == 0) {
		if (fuse_set_signal_handlers(fuse_get_session(fuse)) == 0)
			r = fuse_loop_mt(fuse, config);
		fuse_unmount(fuse);
	}
	if (fuse)
		fuse_destroy(fuse);
	fuse_loop_cfg_destroy(config);
	fuse_opt_free_args(&arguments);
	/* A signal is how it is meant to end. */
	return r < 0 || r == 1 ? 1 : 0;
}

int main(int argc, char *argv[])
{

	if (parse(argc, argv) < 0)
		return usage();
	kernel.root = tree_load(argv[optind]);
	if (!kernel.root || hotplug_add(&kernel) < 0) {
		fprintf(stderr, "fake-kernel: %s holds no tree of a machine\n", argv[optind]);
		return 1;
	}
	/* Latency before idle: a CPU that goes to sleep asks for its limit. */
	if (features_add(&kernel) < 0 || knobs_add(&kernel) < 0 || latency_add(&kernel) < 0 ||
	    idle_add(&kernel) < 0 || control_add(&kernel) < 0)
		return 1;
	return serve(argv[optind + 1]);
}
