/* SPDX-License-Identifier: MIT */
/*
 * Tasks that park between phases.
 */
#include "bench/team.h"

#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "bench/futex.h"
#include "util/affinity.h"
#include "util/clock.h"
#include "util/kernfs.h"
#include "util/parse.h"

#define TEAM_PHASE_QUIT UINT32_MAX
#define LOOK_NS         (50 * NSEC_PER_MSEC) /* how often the controller looks for dead tasks */
#define STOP_LIMIT_NS   (20 * NSEC_PER_SEC)  /* how long a task may take to start or to stop */

static sigset_t child_ended; /* SIGCHLD */

void *team_alloc(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

void team_release(void *memory, size_t size)
{
	if (memory)
		(void)munmap(memory, size);
}

/* Nanoseconds that this thread has waited for a CPU since its start, or -1. */
static int64_t read_run_delay(void)
{
	_cleanup_(kernfs_freep) struct kernfs *k = NULL;
	_cleanup_free_ char *text = NULL;
	char *end, *last;
	long long delay;

	if (kernfs_new(NULL, &k, NULL) < 0 ||
	    kernfs_read(k, KERNFS_PROC "/thread-self/schedstat", &text, NULL, NULL) < 0)
		return -1;
	(void)strtoll(text, &end, 10);
	delay = strtoll(end, &last, 10);
	/* "0 0 0" for a thread that runs: the kernel does not count. */
	return last == end || strcmp(text, "0 0 0\n") == 0 ? -1 : delay;
}

static uint64_t timeval_ns(const struct timeval *tv)
{
	return (uint64_t)tv->tv_sec * NSEC_PER_SEC + (uint64_t)tv->tv_usec * NSEC_PER_USEC;
}

static void read_costs(struct bench_task *t)
{
	struct rusage usage = { 0 };

	(void)getrusage(RUSAGE_THREAD, &usage);
	t->voluntary = (uint64_t)usage.ru_nvcsw;
	t->involuntary = (uint64_t)usage.ru_nivcsw;
	t->user_ns = timeval_ns(&usage.ru_utime);
	t->system_ns = timeval_ns(&usage.ru_stime);
}

/* One more task has come to a point that the controller waits for. */
static void arrive(atomic_uint *counter)
{
	(void)atomic_fetch_add(counter, 1);
	(void)futex_wake(counter, 1);
}

void team_begin(struct team_task *task)
{
	struct bench_task *t = &task->counts;

	t->cpu_before = sched_getcpu();
	t->run_delay_ns = read_run_delay();
	/* The controller's clock runs from here on; its wakeup is outside what is measured. */
	arrive(&task->team->begun);
	read_costs(t);
	task->begin_ns = clock_monotonic_ns();
}

void team_end(struct team_task *task, uint64_t iterations)
{
	struct bench_task *t = &task->counts, now = { 0 };
	int64_t delay;

	task->end_ns = clock_monotonic_ns();
	read_costs(&now);
	delay = read_run_delay();
	t->cpu_after = sched_getcpu();
	t->iterations = iterations;
	t->voluntary = now.voluntary - t->voluntary;
	t->involuntary = now.involuntary - t->involuntary;
	t->user_ns = now.user_ns - t->user_ns;
	t->system_ns = now.system_ns - t->system_ns;
	t->run_delay_ns = delay < 0 || t->run_delay_ns < 0 ? -1 : delay - t->run_delay_ns;
}

/* Says that this task sleeps, and sleeps until the next phase. */
static uint32_t park(struct team *team, unsigned int *round)
{
	arrive(&team->parked);
	while (atomic_load(&team->round) == *round)
		(void)futex_wait(&team->round, *round, NULL);
	*round = atomic_load(&team->round);
	return team->phase;
}

static void task_main(struct team_task *task)
{
	struct team *team = task->team;
	unsigned int round = 0;
	uint32_t phase;

	/* A task that cannot start waits for the end like the others: what it tells is read first. */
	if (team->request->n_cpus > 0 &&
	    affinity_pin(team->request->cpus[task->index], &task->fail) < 0)
		atomic_store(&task->failed, true);
	while ((phase = park(team, &round)) != TEAM_PHASE_QUIT)
		team->loop(task, phase, team->userdata);
}

static void *thread_main(void *task)
{
	task_main(task);
	return NULL;
}

static int start_process(struct team_task *task, struct fail *f)
{
	pid_t controller = getpid(), pid = fork();

	if (pid < 0)
		return fail_errno(f, errno, "cannot start a process");
	if (pid > 0) {
		/* The memory is shared: the child must not write its own view of this. */
		task->pid = pid;
		return 0;
	}
	/* Nobody is left behind: not even if the controller died before this line. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != controller)
		_exit(1);
	task_main(task);
	_exit(0);
}

static int start_thread(struct team_task *task, struct fail *f)
{
	int r = pthread_create(&task->thread, NULL, thread_main, task);

	if (r != 0)
		return fail_errno(f, r, "cannot start a thread");
	task->pid = -1;
	return 0;
}

/* A task that is a process and has ended by itself: what befell it. Threads do not end alone. */
static int check_alive(struct team *team, struct fail *f)
{
	for (uint32_t i = 0; i < team->n_tasks; i++) {
		struct team_task *t = &team->tasks[i];
		int status;

		if (t->pid <= 0 || waitpid(t->pid, &status, WNOHANG) != t->pid)
			continue;
		t->pid = 0;
		if (WIFSIGNALED(status))
			return fail_set(f, SCHEDLAB_ERROR_FAILED,
					"task %u was killed by signal %d (%s)", i, WTERMSIG(status),
					strsignal(WTERMSIG(status)));
		return fail_set(f, SCHEDLAB_ERROR_FAILED, "task %u ended with status %d", i,
				WEXITSTATUS(status));
	}
	return 0;
}

/* Until all tasks have come to the point that @counter counts. */
static int wait_for_all(struct team *team, atomic_uint *counter, const char *doing, struct fail *f)
{
	const struct timespec look = clock_timespec(LOOK_NS);
	uint64_t start_ns = clock_monotonic_ns();
	unsigned int arrived;

	while ((arrived = atomic_load(counter)) < team->n_tasks) {
		int r;

		(void)futex_wait(counter, arrived, &look);
		r = check_alive(team, f);
		if (r < 0)
			return r;
		if (clock_monotonic_ns() - start_ns > STOP_LIMIT_NS)
			return fail_set(f, SCHEDLAB_ERROR_FAILED, "tasks did not %s within %s",
					doing, FORMAT_TIME(STOP_LIMIT_NS));
	}
	return 0;
}

/* The controller must not run where it would disturb; where there is no other CPU, it sleeps. */
static void keep_off(const struct bench_request *request)
{
	_cleanup_(cpuset_freep) struct cpuset *allowed = NULL;

	if (request->n_cpus == 0 || affinity_get(0, &allowed, NULL) < 0)
		return;
	for (uint32_t i = 0; i < request->n_cpus; i++)
		cpuset_remove(allowed, request->cpus[i]);
	if (!cpuset_is_empty(allowed))
		(void)affinity_set(allowed, NULL);
}

int team_start(const struct bench_request *request, uint32_t n_tasks, bool processes,
	       team_loop loop, void *userdata, struct team **ret, struct fail *f)
{
	_cleanup_(team_freep) struct team *team = team_alloc(sizeof(*team));
	int r;

	if (!team)
		return fail_oom(f);
	/* Before the first task is there: all tasks have it blocked, the controller waits for it. */
	(void)sigemptyset(&child_ended);
	(void)sigaddset(&child_ended, SIGCHLD);
	if (sigprocmask(SIG_BLOCK, &child_ended, NULL) < 0)
		return fail_errno(f, errno, "cannot block SIGCHLD");
	team->processes = processes;
	team->request = request;
	team->loop = loop;
	team->userdata = userdata;
	for (uint32_t i = 0; i < n_tasks; i++) {
		struct team_task *t = &team->tasks[i];

		t->team = team;
		t->index = i;
		r = processes ? start_process(t, f) : start_thread(t, f);
		if (r < 0)
			return r;
		team->n_tasks++;
	}
	r = wait_for_all(team, &team->parked, "start", f);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < n_tasks; i++) {
		if (!atomic_load(&team->tasks[i].failed))
			continue;
		if (f)
			*f = team->tasks[i].fail;
		return -EREMOTEIO;
	}
	keep_off(request);
	*ret = TAKE_PTR(team);
	return 0;
}

static void start_phase(struct team *team, uint32_t phase)
{
	team->phase = phase;
	atomic_store(&team->stop, false);
	atomic_store(&team->parked, 0);
	atomic_store(&team->begun, 0);
	atomic_fetch_add(&team->round, 1);
	(void)futex_wake(&team->round, INT_MAX);
}

int team_run(struct team *team, uint32_t phase, uint64_t duration_ns, struct fail *f)
{
	uint64_t end_ns;
	int r;

	start_phase(team, phase);
	r = wait_for_all(team, &team->begun, "begin", f);
	if (r < 0)
		return r;
	end_ns = clock_monotonic_ns() + duration_ns;
	for (uint64_t now = clock_monotonic_ns(); now < end_ns; now = clock_monotonic_ns()) {
		struct timespec left = clock_timespec(end_ns - now);

		/* Sleeps undisturbed, unless a task that is a process ends. */
		if (sigtimedwait(&child_ended, NULL, &left) == SIGCHLD) {
			r = check_alive(team, f);
			if (r < 0)
				return r;
		}
	}
	atomic_store(&team->stop, true);
	return wait_for_all(team, &team->parked, "stop", f);
}

struct team *team_free(struct team *team)
{
	bool come_back;

	if (!team)
		return NULL;
	/* Tasks that sleep in the middle of a loop can only be killed. */
	come_back = atomic_load(&team->parked) == team->n_tasks;
	if (come_back)
		start_phase(team, TEAM_PHASE_QUIT);
	for (uint32_t i = 0; i < team->n_tasks; i++) {
		struct team_task *t = &team->tasks[i];

		if (t->pid > 0) {
			if (!come_back)
				(void)kill(t->pid, SIGKILL);
			(void)waitpid(t->pid, NULL, 0);
		} else if (t->pid < 0 && come_back) {
			(void)pthread_join(t->thread, NULL);
		}
	}
	/* Threads that are still at it use the memory until the worker ends, which is now. */
	if (come_back || team->processes)
		team_release(team, sizeof(*team));
	return NULL;
}
