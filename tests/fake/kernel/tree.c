/* SPDX-License-Identifier: MIT */
/*
 * Files and directories in memory, loaded from a machine's tree.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel.h"

#define FILE_MAX (1 << 20)

static struct node *new_node(struct node *parent, const char *name, mode_t mode)
{
	struct node *n = calloc(1, sizeof(*n));
	struct node **larger;
	size_t at = 0;

	if (!n || !(n->name = strdup(name)))
		abort();
	n->mode = mode;
	n->cpu = NO_CPU;
	n->parent = parent;
	if (!parent)
		return n;
	larger = reallocarray(parent->children, parent->n_children + 1, sizeof(struct node *));
	if (!larger)
		abort();
	parent->children = larger;
	while (at < parent->n_children && strcmp(larger[at]->name, name) < 0)
		at++;
	memmove(&larger[at + 1], &larger[at], (parent->n_children - at) * sizeof(struct node *));
	larger[at] = n;
	parent->n_children++;
	return n;
}

static char *read_text(int directory, const char *name)
{
	static char buffer[FILE_MAX]; /* one thread loads */
	int fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, buffer, FILE_MAX - 1);
	char *text;

	if (fd >= 0)
		close(fd);
	text = n < 0 ? NULL : strndup(buffer, (size_t)n);
	if (!text)
		abort();
	return text;
}

/* Takes @fd over. */
static void load(struct node *into, int fd)
{
	DIR *dir = fdopendir(fd);
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		struct stat st;

		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
		    fstatat(dirfd(dir), e->d_name, &st, 0) < 0)
			continue;
		if (S_ISDIR(st.st_mode))
			load(new_node(into, e->d_name, S_IFDIR | 0755),
			     openat(dirfd(dir), e->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
		else if (S_ISREG(st.st_mode))
			new_node(into, e->d_name, S_IFREG | 0444)->text =
				read_text(dirfd(dir), e->d_name);
	}
	if (dir)
		closedir(dir);
}

struct node *tree_load(const char *directory)
{
	struct node *root = new_node(NULL, "", S_IFDIR | 0755);
	int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return NULL;
	load(root, fd);
	return root;
}

static struct node *child(const struct node *n, const char *name, size_t length)
{
	size_t low = 0, high = n->n_children;

	while (low < high) {
		size_t middle = (low + high) / 2;
		struct node *c = n->children[middle];
		int order = strncmp(c->name, name, length);

		if (order == 0)
			order = c->name[length] != '\0';
		if (order == 0)
			return c;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

struct node *tree_find(struct node *root, const char *path)
{
	struct node *n = root;

	while (n && *(path += strspn(path, "/")) != '\0') {
		size_t length = strcspn(path, "/");

		n = child(n, path, length);
		if (n && (n->hidden || n->vanished))
			return NULL;
		path += length;
	}
	return n;
}

struct node *tree_add(struct node *root, const char *path, mode_t mode, const struct file_ops *ops,
		      uint32_t cpu, uint32_t index)
{
	struct node *n = root;

	while (*(path += strspn(path, "/")) != '\0') {
		size_t length = strcspn(path, "/");
		struct node *next = child(n, path, length);
		char name[256];

		if (!next) {
			(void)snprintf(name, sizeof(name), "%.*s", (int)length, path);
			next = new_node(n, name, S_IFDIR | 0755);
		}
		n = next;
		path += length;
	}
	n->mode = mode;
	n->ops = ops;
	n->cpu = cpu;
	n->index = index;
	return n;
}

void tree_path(const struct node *n, char *buffer, size_t size)
{
	size_t length;

	if (!n->parent) {
		*buffer = '\0';
		return;
	}
	tree_path(n->parent, buffer, size);
	length = strlen(buffer);
	(void)snprintf(buffer + length, size - length, "/%s", n->name);
}

void tree_renew(struct node *from)
{
	from->life++;
	for (size_t i = 0; i < from->n_children; i++)
		tree_renew(from->children[i]);
}

void tree_each(struct node *from, void (*visit)(struct kernel *k, struct node *n), struct kernel *k)
{
	visit(k, from);
	for (size_t i = 0; i < from->n_children; i++)
		tree_each(from->children[i], visit, k);
}
