/* SPDX-License-Identifier: MIT */
/*
 * /.control: a test writes commands into it, a line each, and reads what was written to this kernel.
 *
 *   fault PATTERN open|read|write ERRNO [TIMES]   fails with that error (EIO, EROFS, ...)
 *   block PATTERN MILLISECONDS [TIMES]            a write takes that long
 *   unstick PATTERN [TIMES]                       a write succeeds and changes nothing
 *   clear                                         no fault any more
 *   vanish PATH, appear PATH                      a file or directory goes and comes
 *   set PATH VALUE                                somebody else writes
 *   foreign PATH MILLISECONDS VALUE...            somebody else writes these in turn, again and again
 *   foreign stop
 *   offline CPU, online CPU
 *   wake CPU TIMES MICROSECONDS                   it wakes so often, after sleeping so long
 *   lockdown none|integrity
 *   text PATH WORD...                             the text of a file that is not made here (/proc/...)
 *
 * PATTERN is for fnmatch(3), over whole paths. A command that is none is EINVAL. Each line that is read
 * is one write that changed this kernel: "NUMBER UID PID PATH VALUE", in their order.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "kernel.h"

struct audit {
	FILE *out;
	char *text;
	size_t size;
	uint64_t number;
};

struct foreign {
	pthread_t thread;
	bool running, stop;
	struct node *node;
	unsigned int every_ms, n_values;
	char *values[8];
};

static const struct {
	const char *name;
	int value;
} errors[] = {
	{ "EIO", EIO },       { "EROFS", EROFS },   { "ENOSPC", ENOSPC }, { "EPERM", EPERM },
	{ "EACCES", EACCES }, { "EINVAL", EINVAL }, { "ENOENT", ENOENT }, { "EBUSY", EBUSY },
	{ "ENODEV", ENODEV }, { "ENOMEM", ENOMEM }, { "EMFILE", EMFILE }, { "EINTR", EINTR },
	{ "ERANGE", ERANGE }, { "EAGAIN", EAGAIN },
};

void control_note(struct kernel *k, const struct node *n, uid_t uid, pid_t pid, const char *data,
		  size_t size)
{
	char path[512];

	tree_path(n, path, sizeof(path));
	fprintf(k->audit->out, "%ju %u %d %s ", (uintmax_t)++k->audit->number, uid, (int)pid, path);
	/* Four bytes are a binary number there. */
	if (n->ops == &dma_latency_ops && size == sizeof(int32_t)) {
		int32_t us;

		memcpy(&us, data, sizeof(us));
		fprintf(k->audit->out, "%d\n", us);
		(void)fflush(k->audit->out);
		return;
	}
	for (; *data; data++)
		if (*data != '\n')
			fputc(*data >= ' ' && *data < 0x7f ? *data : '?', k->audit->out);
	fputc('\n', k->audit->out);
	(void)fflush(k->audit->out);
}

static void read_control(struct kernel *k, const struct node *n, FILE *out)
{
	(void)n;
	if (k->audit->size > 0)
		(void)fwrite(k->audit->text, 1, k->audit->size, out);
}

static int error_of(const char *name)
{
	for (size_t i = 0; name && i < sizeof(errors) / sizeof(errors[0]); i++)
		if (strcmp(errors[i].name, name) == 0)
			return -errors[i].value;
	return 0;
}

/* A whole number above 0, or 0 for any other text. */
static int number(const char *word)
{
	char *end;
	long value = strtol(word, &end, 10);

	return *end == '\0' && value > 0 && value <= 1000000 ? (int)value : 0;
}

/* How often, from the last word, which may be missing: without end. */
static int times(char *const words[], size_t n, size_t at)
{
	return n > at ? number(words[at]) : -1;
}

struct match {
	const char *pattern;
	bool found;
};
static struct match match;

static void look_at(struct kernel *k, struct node *n)
{
	char path[512];

	(void)k;
	tree_path(n, path, sizeof(path));
	match.found |= fnmatch(match.pattern, path, 0) == 0;
}

/* A pattern that fits nothing is a mistake of the test's. */
static bool fits_any(struct kernel *k, const char *pattern)
{
	match = (struct match){ .pattern = pattern };
	tree_each(k->root, look_at, k);
	return match.found;
}

static int do_fault(struct kernel *k, char *const words[], size_t n)
{
	static const char *const ops[] = { "open", "read", "write" };
	int error = n == 4 || n == 5 ? error_of(words[3]) : 0;

	if (error && !fits_any(k, words[1]))
		return -ENOENT;

	for (int op = 0; op < 3 && error; op++)
		if (strcmp(words[2], ops[op]) == 0)
			return fault_add(k, (enum fault_op)op, words[1], error, times(words, n, 4));
	return -EINVAL;
}

static int do_block(struct kernel *k, char *const words[], size_t n)
{
	return n < 3 || n > 4 || number(words[2]) <= 0 || !fits_any(k, words[1])
		       ? -EINVAL
		       : fault_add(k, FAULT_BLOCK, words[1], number(words[2]), times(words, n, 3));
}

static int do_unstick(struct kernel *k, char *const words[], size_t n)
{
	return n < 2 || n > 3 || !fits_any(k, words[1])
		       ? -EINVAL
		       : fault_add(k, FAULT_UNSTICK, words[1], 1, times(words, n, 2));
}

static int do_clear(struct kernel *k, char *const words[], size_t n)
{
	(void)words;
	if (n != 1)
		return -EINVAL;
	fault_clear(k);
	return 0;
}

/* Hidden ones must be found too: the way to it is visible, the last step need not be. */
static struct node *find_any(struct kernel *k, const char *path)
{
	char parent[512];
	const char *slash = strrchr(path, '/');
	struct node *n;

	if (!slash)
		return NULL;
	(void)snprintf(parent, sizeof(parent), "%.*s", (int)(slash - path), path);
	n = tree_find(k->root, parent);
	for (size_t i = 0; n && i < n->n_children; i++)
		if (strcmp(n->children[i]->name, slash + 1) == 0)
			return n->children[i];
	return NULL;
}

static int do_vanish(struct kernel *k, char *const words[], size_t n)
{
	struct node *node = n == 2 ? find_any(k, words[1]) : NULL;

	if (!node)
		return n == 2 ? -ENOENT : -EINVAL;
	node->vanished = strcmp(words[0], "vanish") == 0;
	if (node->vanished)
		tree_renew(node);
	return 0;
}

static int do_set(struct kernel *k, char *const words[], size_t n)
{
	struct node *node = n == 3 ? tree_find(k->root, words[1]) : NULL;
	int r;

	if (!node)
		return n == 3 ? -ENOENT : -EINVAL;
	k->caller = 0;
	r = kernel_write(k, node, words[2], strlen(words[2]));
	return r < 0 ? r : 0;
}

static void *run_foreign(void *userdata)
{
	struct kernel *k = userdata;
	struct foreign *f = k->foreign;

	for (unsigned int i = 0;; i = (i + 1) % f->n_values) {
		struct timespec pause = { f->every_ms / 1000, f->every_ms % 1000 * 1000000L };

		(void)pthread_mutex_lock(&k->lock);
		if (f->stop) {
			(void)pthread_mutex_unlock(&k->lock);
			return NULL;
		}
		k->caller = 0;
		(void)kernel_write(k, f->node, f->values[i], strlen(f->values[i]));
		(void)pthread_mutex_unlock(&k->lock);
		(void)nanosleep(&pause, NULL);
	}
}

static void stop_foreign(struct kernel *k)
{
	struct foreign *f = k->foreign;

	if (!f->running)
		return;
	f->stop = true;
	(void)pthread_mutex_unlock(&k->lock);
	(void)pthread_join(f->thread, NULL);
	(void)pthread_mutex_lock(&k->lock);
	for (unsigned int i = 0; i < f->n_values; i++)
		free(f->values[i]);
	memset(f, 0, sizeof(*f));
}

static int do_foreign(struct kernel *k, char *const words[], size_t n)
{
	struct foreign *f = k->foreign;
	struct node *node;

	if (n == 2 && strcmp(words[1], "stop") == 0) {
		stop_foreign(k);
		return 0;
	}
	if (n < 4 || n > 11 || number(words[2]) <= 0)
		return -EINVAL;
	node = tree_find(k->root, words[1]);
	if (!node)
		return -ENOENT;
	stop_foreign(k);
	f->node = node;
	f->every_ms = (unsigned int)number(words[2]);
	for (size_t i = 3; i < n; i++)
		f->values[f->n_values++] = strdup(words[i]);
	f->running = pthread_create(&f->thread, NULL, run_foreign, k) == 0;
	return f->running ? 0 : -EAGAIN;
}

/* A CPU's number, and nothing else. */
static bool is_cpu(const char *word, uint32_t *ret)
{
	uint64_t value;

	if (*word < '0' || *word > '9' || parse_unsigned(word, 10, KERNEL_CPUS_MAX, &value) < 0)
		return false;
	*ret = (uint32_t)value;
	return true;
}

static int do_hotplug(struct kernel *k, char *const words[], size_t n)
{
	uint32_t cpu;

	return n == 2 && is_cpu(words[1], &cpu)
		       ? hotplug_set(k, cpu, strcmp(words[0], "online") == 0)
		       : -EINVAL;
}

static int do_wake(struct kernel *k, char *const words[], size_t n)
{
	uint32_t cpu;
	int times = n == 4 ? number(words[2]) : 0, us = n == 4 ? number(words[3]) : 0;

	return times > 0 && us > 0 && is_cpu(words[1], &cpu)
		       ? idle_wake(k, cpu, (uint64_t)times, (uint64_t)us)
		       : -EINVAL;
}

/* A file that nothing here makes: its text, until it is given another. */
static int do_text(struct kernel *k, char *const words[], size_t n)
{
	struct node *node = n >= 3 ? tree_find(k->root, words[1]) : NULL;
	char *text = NULL;
	size_t size;
	FILE *out;

	if (n < 3 || *words[1] != '/' || (node && (node->ops || S_ISDIR(node->mode))))
		return -EINVAL;
	if (!node)
		node = tree_add(k->root, words[1], S_IFREG | 0444, NULL, NO_CPU, 0);
	out = open_memstream(&text, &size);
	for (size_t i = 2; out && i < n; i++)
		fprintf(out, "%s%s", words[i], i + 1 < n ? " " : "\n");
	if (!out || fclose(out) != 0)
		return -ENOMEM;
	free(node->text);
	node->text = text;
	return 0;
}

static int do_lockdown(struct kernel *k, char *const words[], size_t n)
{
	if (n != 2 || (strcmp(words[1], "none") != 0 && strcmp(words[1], "integrity") != 0))
		return -EINVAL;
	k->lockdown = strcmp(words[1], "integrity") == 0;
	return 0;
}

static const struct {
	const char *name;
	int (*run)(struct kernel *k, char *const words[], size_t n);
} commands[] = {
	{ "fault", do_fault },       { "block", do_block },     { "unstick", do_unstick },
	{ "clear", do_clear },       { "vanish", do_vanish },   { "appear", do_vanish },
	{ "set", do_set },           { "foreign", do_foreign }, { "offline", do_hotplug },
	{ "online", do_hotplug },    { "text", do_text },       { "wake", do_wake },
	{ "lockdown", do_lockdown },
};

static int run_line(struct kernel *k, char *line)
{
	char *words[16], *word, *rest = line;
	size_t n = 0;

	while (n < 16 && (word = strsep(&rest, " ")))
		if (*word)
			words[n++] = word;
	for (size_t i = 0; n > 0 && i < sizeof(commands) / sizeof(commands[0]); i++)
		if (strcmp(words[0], commands[i].name) == 0)
			return commands[i].run(k, words, n);
	return n == 0 ? 0 : -EINVAL;
}

static int write_control(struct kernel *k, const struct node *n, const char *data, size_t size)
{
	char *copy = strdup(data), *rest = copy, *line;
	int r = copy ? 0 : -ENOMEM;

	(void)n;
	while (r == 0 && (line = strsep(&rest, "\n")))
		r = run_line(k, line);
	free(copy);
	return r < 0 ? r : (int)size;
}

static void read_lockdown(struct kernel *k, const struct node *n, FILE *out)
{
	(void)n;
	fputs(k->lockdown ? "none [integrity] confidentiality\n"
			  : "[none] integrity confidentiality\n",
	      out);
}

static const struct file_ops control_ops = { read_control, write_control };
static const struct file_ops lockdown_ops = { read_lockdown, NULL };

int control_add(struct kernel *k)
{
	k->audit = calloc(1, sizeof(*k->audit));
	k->foreign = calloc(1, sizeof(*k->foreign));
	if (!k->audit || !k->foreign)
		return -ENOMEM;
	k->audit->out = open_memstream(&k->audit->text, &k->audit->size);
	if (!k->audit->out)
		return -ENOMEM;
	tree_add(k->root, "/.control", S_IFREG | 0666, &control_ops, NO_CPU, 0);
	tree_add(k->root, "/sys/kernel/security/lockdown", S_IFREG | 0444, &lockdown_ops, NO_CPU,
		 0);
	return 0;
}
