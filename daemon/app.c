/* SPDX-License-Identifier: MIT */
/*
 * Building and running the daemon.
 */
#include "app.h"

#include <errno.h>
#include <poll.h>
#include <schedlab/names.h>
#include <schedlab/units.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>
#include <systemd/sd-id128.h>

#include "bus/bus.h"
#include "config/config.h"
#include "measure/recall.h"
#include "util/affinity.h"
#include "util/log.h"
#include "util/program.h"
#include "version.h"

#define STOP_LIMIT_USEC (10 * USEC_PER_SEC) /* for jobs to end at SIGTERM */
#define WORKER_NAME     "schedlab-worker"

#define DESCRIPTORS_MIN    64
#define DESCRIPTORS_WANTED 4096

struct app {
	const struct app_options *options;
	sd_event *event;
	sd_event_source *stopping; /* set while jobs are ending before the exit */
	struct kernfs *kernfs;
	struct topology *topology;
	struct class_table *classes;
	struct fingerprint *fingerprint;
	uint64_t store_size; /* of the configuration; 0: not said */
	struct store *store;
	char *cpus_seen; /* by describe_cpus(), when the topology was explored */
	struct job_queue *queue;
	char *worker;
	struct measure_context measure;
	struct bus_context bus;
	struct fail failed; /* why the loop was ended */
};

static void forget_machine(struct app *a)
{
	a->fingerprint = fingerprint_free(a->fingerprint);
	a->classes = class_table_free(a->classes);
	a->topology = topology_free(a->topology);
	free(a->cpus_seen);
	a->cpus_seen = NULL;
}

static void app_clear(struct app *a)
{
	if (a->bus.bus)
		bus_detach(&a->bus);
	sd_event_source_disable_unref(a->stopping);
	job_queue_free(a->queue);
	store_free(a->store);
	sd_bus_flush_close_unref(a->bus.bus);
	forget_machine(a);
	kernfs_free(a->kernfs);
	free(a->worker);
	(void)fd_close(a->measure.lock_fd);
	sd_event_unref(a->event);
}

static int load_config(struct app *a, struct fail *f)
{
	static const char *const store_keys[] = { "store-size" };
	const struct config_spec specs[] = { measure_config_spec,
					     { "store", store_keys, ELEMENTSOF(store_keys) } };
	_cleanup_(config_freep) struct config *c = NULL;
	const char *path = a->options->config ? a->options->config : SCHEDLAB_CONF_FILE;
	int r = config_load(path, a->options->config != NULL, specs, ELEMENTSOF(specs), &c, f);

	if (r >= 0)
		r = measure_defaults_load(c, &a->measure.defaults, f);
	if (r >= 0)
		r = config_get_size(c, "store", "store-size", STORE_SIZE_MIN, STORE_SIZE_MAX,
				    &a->store_size, f);
	return r;
}

/* Below the home of whoever runs this; NULL where there is none. */
static char *users_state_dir(void)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	char *path = NULL;
	int r = -1;

	/* A relative path is to be ignored: XDG Base Directory Specification 0.8. */
	if (state && *state == '/')
		r = asprintf(&path, "%s/schedlab", state);
	else if (home && *home == '/')
		r = asprintf(&path, "%s/.local/state/schedlab", home);
	return r < 0 ? NULL : path;
}

/* Who serves for long says at the start what is wrong; who serves one call may not need the store. */
static int make_store(struct app *a, struct fail *f)
{
	const struct app_options *o = a->options;
	_cleanup_free_ char *users = users_state_dir();
	struct store_options s = { .size = a->store_size };
	int r;

	if (o->state_dir)
		s.directory = o->state_dir;
	else if (o->worker || o->root)
		s.why_not = "something stands in for the machine, and --state-dir names no place "
			    "for what that gives";
	else if (o->bus == APP_BUS_SYSTEM)
		s.directory = SCHEDLAB_STATE_DIR;
	else if (users)
		s.directory = users;
	else
		s.why_not = "neither XDG_STATE_HOME nor HOME says where";
	r = store_new(a->event, &s, &a->store, f);
	if (r >= 0 && o->bus != APP_BUS_SOCKET)
		(void)recall_open(a->store, NULL);
	return r;
}

/* Which CPUs there are and which this process may use, as a text to compare; NULL where it does not
 * matter or cannot be told. */
static char *describe_cpus(const struct app *a)
{
	_cleanup_(cpuset_freep) struct cpuset *allowed = NULL;
	_cleanup_free_ char *online = NULL, *list = NULL;
	char *text = NULL;

	if (a->options->topology || !kernfs_is_real(a->kernfs) ||
	    kernfs_read_trimmed(a->kernfs, KERNFS_CPU "/online", &online, NULL) < 0 ||
	    affinity_get(0, &allowed, NULL) < 0 || !(list = cpuset_format_list(allowed)))
		return NULL;
	return asprintf(&text, "%s, allowed %s", online, list) < 0 ? NULL : text;
}

static int explore(struct app *a, struct fail *f)
{
	int r;

	a->cpus_seen = describe_cpus(a);
	r = topology_load(a->kernfs, a->options->topology, &a->topology, f);
	if (r >= 0)
		r = fingerprint_read(a->kernfs, a->topology, &a->fingerprint, f);
	/* One fixed seed for what is listed: the same representatives at every start. */
	if (r >= 0)
		r = class_table_new(a->topology, NULL, a->measure.defaults.pairs_per_class, 0,
				    &a->classes, f);
	return r;
}

static void wire(struct app *a)
{
	const struct app_options *o = a->options;
	bool real = a->topology->source == TOPOLOGY_THIS && !o->worker;

	a->measure.event = a->event;
	a->measure.topology = a->topology;
	a->measure.fingerprint = a->fingerprint;
	a->measure.queue = a->queue;
	a->measure.store = a->store;
	a->measure.worker = o->worker ? o->worker : a->worker;
	a->measure.worker_stands_in = o->worker != NULL;
	a->measure.lock_file = !real ? NULL : o->lock_file ? o->lock_file : SCHEDLAB_LOCK_FILE;
	a->bus.kernfs = a->kernfs;
	a->bus.topology = a->topology;
	a->bus.fingerprint = a->fingerprint;
	a->bus.classes = a->classes;
	a->bus.queue = a->queue;
	a->bus.measure = &a->measure;
	a->bus.store = a->store;
}

/* CPUs that came or went are noticed when somebody asks, unless a measurement is under way. */
static void refresh(void *userdata)
{
	struct app *a = userdata, new = { .options = a->options,
					  .kernfs = a->kernfs,
					  .measure.defaults = a->measure.defaults };
	_cleanup_free_ char *cpus = describe_cpus(a);
	struct fail f = { 0 };

	if (!cpus || !a->cpus_seen || strcmp(cpus, a->cpus_seen) == 0 ||
	    !job_queue_is_idle(a->queue))
		return;
	if (explore(&new, &f) < 0) {
		log_warning("CPUs have changed, but they cannot be explored: %s", f.message);
		forget_machine(&new);
		return;
	}
	log_notice("CPUs have changed: online %s", cpus);
	bus_tell_classes(&a->bus, false);
	forget_machine(a);
	a->topology = new.topology;
	a->classes = new.classes;
	a->fingerprint = new.fingerprint;
	a->cpus_seen = new.cpus_seen;
	wire(a);
	bus_tell_classes(&a->bus, true);
}

/* The loop ends when no job runs any more, or when that takes too long. */
static int on_stopping(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct app *a = userdata;

	(void)source;
	(void)usec;
	return sd_event_exit(a->event, EXIT_SUCCESS);
}

static int on_after_event(sd_event_source *source, void *userdata)
{
	struct app *a = userdata;

	(void)source;
	return job_queue_is_idle(a->queue) ? sd_event_exit(a->event, EXIT_SUCCESS) : 0;
}

static int stop(struct app *a)
{
	int r;

	if (a->stopping)
		return 0;
	(void)sd_notify(0, "STOPPING=1");
	for (struct job *job = job_first(a->queue); job; job = job_next(job))
		job_cancel(job, "the daemon stops");
	if (job_queue_is_idle(a->queue))
		return sd_event_exit(a->event, EXIT_SUCCESS);
	r = sd_event_add_time_relative(a->event, &a->stopping, CLOCK_MONOTONIC, STOP_LIMIT_USEC, 0,
				       on_stopping, a);
	if (r >= 0)
		r = sd_event_add_post(a->event, NULL, on_after_event, a);
	return r < 0 ? sd_event_exit(a->event, r) : 0;
}

static int on_signal(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata)
{
	(void)source;
	log_info("stopping: signal %s", strsignal((int)info->ssi_signo));
	return stop(userdata);
}

/* On a socket pair: the client has gone, and nobody else can come. A bus does not go by itself. */
static int on_disconnected(sd_bus_message *signal, void *userdata, sd_bus_error *error)
{
	struct app *a = userdata;

	(void)signal;
	(void)error;
	if (a->options->bus != APP_BUS_SOCKET)
		(void)fail_set(&a->failed, SCHEDLAB_ERROR_FAILED,
			       "the bus has closed the connection; jobs and results are lost");
	return stop(a);
}

static int on_named(sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
	struct app *a = userdata;
	const sd_bus_error *e = sd_bus_message_get_error(reply);
	uint32_t how = 0;

	(void)error;
	if (e) {
		return sd_event_exit(a->event,
				     fail_set(&a->failed, SCHEDLAB_ERROR_FAILED,
					      "cannot have the name " SCHEDLAB_BUS_NAME ": %s",
					      e->message));
	}
	/* 1: primary owner. The request was for that or nothing. */
	if (sd_bus_message_read(reply, "u", &how) < 0 || how != 1) {
		return sd_event_exit(a->event,
				     fail_set(&a->failed, SCHEDLAB_ERROR_FAILED,
					      "another daemon has the name " SCHEDLAB_BUS_NAME
					      " already"));
	}
	(void)sd_notifyf(0, "READY=1\nSTATUS=%zu CPUs, %zu pair classes", a->topology->n_cpus,
			 class_table_size(a->classes));
	log_info("ready on the bus");
	return 0;
}

static int open_socket(struct app *a, sd_bus **ret)
{
	_cleanup_(sd_bus_unrefp) sd_bus *bus = NULL;
	sd_id128_t id;
	int r = sd_bus_new(&bus);

	if (r >= 0)
		r = sd_id128_randomize(&id);
	if (r >= 0)
		r = sd_bus_set_fd(bus, a->options->bus_fd, a->options->bus_fd);
	if (r >= 0)
		r = sd_bus_set_server(bus, 1, id);
	/* Acting methods ask who called: with no broker, by the socket's credentials. */
	if (r >= 0)
		r = sd_bus_negotiate_creds(bus, 1, SD_BUS_CREDS_PID | SD_BUS_CREDS_EUID);
	if (r >= 0)
		r = sd_bus_start(bus);
	if (r >= 0)
		*ret = TAKE_PTR(bus);
	return r;
}

static int open_bus(struct app *a, struct fail *f)
{
	int r;

	switch (a->options->bus) {
	case APP_BUS_SOCKET:
		r = open_socket(a, &a->bus.bus);
		break;
	case APP_BUS_USER:
		r = sd_bus_open_user(&a->bus.bus);
		break;
	default:
		r = sd_bus_open_system(&a->bus.bus);
	}
	if (r < 0)
		return fail_errno(f, r, "cannot connect to the %s",
				  a->options->bus == APP_BUS_SOCKET ? "client's socket"
				  : a->options->bus == APP_BUS_USER ? "user's bus"
								    : "system bus");
	r = sd_bus_match_signal(a->bus.bus, NULL, NULL, "/org/freedesktop/DBus/Local",
				"org.freedesktop.DBus.Local", "Disconnected", on_disconnected, a);
	if (r >= 0)
		r = sd_bus_attach_event(a->bus.bus, a->event, SD_EVENT_PRIORITY_NORMAL);
	if (r >= 0)
		r = bus_attach(&a->bus);
	/* The name last: who finds it finds everything. */
	if (r >= 0 && a->options->bus != APP_BUS_SOCKET)
		r = sd_bus_request_name_async(a->bus.bus, NULL, SCHEDLAB_BUS_NAME, 0, on_named, a);
	return r < 0 ? fail_errno(f, r, "cannot serve the bus") : 0;
}

/* SIGCHLD stays blocked: workers are watched by pidfd. SIGPIPE must not kill. */
static int watch_signals(struct app *a, struct fail *f)
{
	static const int stopping[] = { SIGTERM, SIGINT };
	sigset_t blocked;
	int r = 0;

	(void)sigemptyset(&blocked);
	(void)sigaddset(&blocked, SIGCHLD);
	(void)sigaddset(&blocked, SIGPIPE);
	(void)sigaddset(&blocked, SIGHUP);
	/* A limit of file sizes is a store that cannot be written, and no end. */
	(void)sigaddset(&blocked, SIGXFSZ);
	for (size_t i = 0; i < ELEMENTSOF(stopping); i++)
		(void)sigaddset(&blocked, stopping[i]);
	if (sigprocmask(SIG_BLOCK, &blocked, NULL) < 0)
		return fail_errno(f, errno, "cannot block signals");
	for (size_t i = 0; i < ELEMENTSOF(stopping) && r >= 0; i++)
		r = sd_event_add_signal(a->event, NULL, stopping[i], on_signal, a);
	if (r >= 0)
		r = sd_event_set_watchdog(a->event, 1);
	return r < 0 ? fail_errno(f, r, "cannot watch signals") : 0;
}

/* hwloc may take minutes over a large description, and nobody looks at the socket meanwhile. From the
 * loop on, the client's end is an event, and jobs end in order. */
static int die_with_client(const struct app *a, bool yes, struct fail *f)
{
	struct pollfd other = { .fd = a->options->bus_fd };

	if (a->options->bus != APP_BUS_SOCKET)
		return 0;
	if (prctl(PR_SET_PDEATHSIG, yes ? SIGKILL : 0) < 0)
		return fail_errno(f, errno, "cannot ask to end with the client");
	/* It may have gone before. */
	if (poll(&other, 1, 0) > 0 && other.revents & POLLHUP)
		return fail_set(f, SCHEDLAB_ERROR_FAILED, "the client has gone");
	return 0;
}

/* Without them what cannot be read would look as if it were not there: a machine without caches. */
static int check_descriptors(struct fail *f)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return fail_errno(f, errno, "cannot ask for the limit of open files");
	if (limit.rlim_max < DESCRIPTORS_MIN)
		return fail_set(f, SCHEDLAB_ERROR_FAILED,
				"only %ju files may be open at a time; %d are needed (ulimit -n)",
				(uintmax_t)limit.rlim_max, DESCRIPTORS_MIN);
	if (limit.rlim_cur >= DESCRIPTORS_WANTED)
		return 0;
	limit.rlim_cur = MIN_OF(limit.rlim_max, (rlim_t)DESCRIPTORS_WANTED);
	if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
		return fail_errno(f, errno, "cannot raise the limit of open files");
	return 0;
}

/* The other end must be there, and be what sd-bus can talk through. */
static int check_socket(const struct app *a, struct fail *f)
{
	struct stat st;

	if (a->options->bus != APP_BUS_SOCKET)
		return 0;
	if (fstat(a->options->bus_fd, &st) < 0 || !S_ISSOCK(st.st_mode))
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
				"--bus-fd: %d is no open socket", a->options->bus_fd);
	return 0;
}

static int build(struct app *a, struct fail *f)
{
	int r = check_descriptors(f);

	if (r >= 0)
		r = check_socket(a, f);
	if (r < 0)
		return r;
	r = sd_event_default(&a->event);

	if (r < 0)
		return fail_errno(f, r, "cannot make an event loop");
	r = die_with_client(a, true, f);
	if (r < 0)
		return r;
	r = watch_signals(a, f);
	if (r >= 0)
		r = load_config(a, f);
	if (r >= 0)
		r = kernfs_new(a->options->root, &a->kernfs, f);
	if (r >= 0)
		r = explore(a, f);
	if (r >= 0)
		r = program_find(WORKER_NAME, SCHEDLAB_LIBEXECDIR, &a->worker, f);
	if (r >= 0)
		r = die_with_client(a, false, f);
	if (r < 0)
		return r;
	r = job_queue_new(a->event, &a->queue);
	if (r < 0)
		return fail_errno(f, r, "cannot make the queue of jobs");
	r = make_store(a, f);
	if (r < 0)
		return r;
	wire(a);
	a->bus.refresh = refresh;
	a->bus.refresh_userdata = a;
	return open_bus(a, f);
}

int app_run(const struct app_options *options, struct fail *f)
{
	_cleanup_(app_clear) struct app a = { .options = options, .measure.lock_fd = -1 };
	int r;

	(void)umask(0022);
	r = build(&a, f);
	if (r < 0)
		return r;
	log_info("%s: %zu CPUs, %zu pair classes; hwloc took %ju ms", a.topology->source_name,
		 a.topology->n_cpus, class_table_size(a.classes),
		 (uintmax_t)(a.topology->hwloc_ns / NSEC_PER_MSEC));
	r = sd_event_loop(a.event);
	if (*a.failed.message) {
		*f = a.failed;
		return r < 0 ? r : -EIO;
	}
	if (r < 0)
		return fail_errno(f, r, "the event loop ended");
	return 0;
}
