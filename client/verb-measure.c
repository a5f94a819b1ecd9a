/* SPDX-License-Identifier: MIT */
/*
 * measure: benchmarks over pair classes, to a table.
 */
#include <schedlab/limits.h>
#include <schedlab/names.h>
#include <string.h>

#include "choice.h"
#include "client.h"
#include "render/text.h"
#include "util/parse.h"
#include "wait.h"

/* What the options said. */
static struct {
	struct choice choice;
	const char *cpus;
	uint64_t duration_ns, rounds, pairs_per_class, seed;
	bool has_seed, detach, all_metrics;
} arg;

enum {
	OPTION_CLASS = 1,
	OPTION_PAIR,
	OPTION_CPUS,
	OPTION_DURATION,
	OPTION_ROUNDS,
	OPTION_PAIRS_PER_CLASS,
	OPTION_SEED,
	OPTION_DETACH,
	OPTION_ALL_METRICS
};

static const struct option options[] = {
	{ "class", required_argument, NULL, OPTION_CLASS },
	{ "pair", required_argument, NULL, OPTION_PAIR },
	{ "cpus", required_argument, NULL, OPTION_CPUS },
	{ "duration", required_argument, NULL, OPTION_DURATION },
	{ "rounds", required_argument, NULL, OPTION_ROUNDS },
	{ "pairs-per-class", required_argument, NULL, OPTION_PAIRS_PER_CLASS },
	{ "seed", required_argument, NULL, OPTION_SEED },
	{ "detach", no_argument, NULL, OPTION_DETACH },
	{ "all-metrics", no_argument, NULL, OPTION_ALL_METRICS },
	{ 0 },
};

static int set(int option, const char *argument, struct fail *f)
{
	switch (option) {
	case OPTION_CLASS:
		return choice_add_classes(&arg.choice, argument, f);
	case OPTION_PAIR:
		return choice_add_pair(&arg.choice, argument, f);
	case OPTION_CPUS:
		arg.cpus = argument;
		return 0;
	case OPTION_DURATION:
		return parse_time("--duration", argument, MEASURE_DURATION_MIN_NS,
				  MEASURE_DURATION_MAX_NS, &arg.duration_ns, f);
	case OPTION_ROUNDS:
		return parse_u64("--rounds", argument, 1, MEASURE_ROUNDS_MAX, &arg.rounds, f);
	case OPTION_PAIRS_PER_CLASS:
		return parse_u64("--pairs-per-class", argument, 1, MEASURE_PAIRS_PER_CLASS_MAX,
				 &arg.pairs_per_class, f);
	case OPTION_SEED:
		arg.has_seed = true;
		return parse_u64("--seed", argument, 0, MEASURE_SEED_MAX, &arg.seed, f);
	case OPTION_DETACH:
		arg.detach = true;
		return 0;
	default:
		arg.all_metrics = true;
		return 0;
	}
}

/* Only what was said: the daemon knows the defaults. */
static int append_options(sd_bus_message *call)
{
	int r = sd_bus_message_open_container(call, 'a', "{sv}");

	if (r >= 0 && arg.duration_ns > 0)
		r = sd_bus_message_append(call, "{sv}", "duration-usec", "t",
					  arg.duration_ns / NSEC_PER_USEC);
	if (r >= 0 && arg.rounds > 0)
		r = sd_bus_message_append(call, "{sv}", "rounds", "u", (uint32_t)arg.rounds);
	if (r >= 0 && arg.pairs_per_class > 0)
		r = sd_bus_message_append(call, "{sv}", "pairs-per-class", "u",
					  (uint32_t)arg.pairs_per_class);
	if (r >= 0 && arg.has_seed)
		r = sd_bus_message_append(call, "{sv}", "seed", "t", arg.seed);
	if (r >= 0 && arg.cpus)
		r = sd_bus_message_append(call, "{sv}", "cpus", "s", arg.cpus);
	if (r >= 0 && arg.detach)
		r = sd_bus_message_append(call, "{sv}", "detach", "b", 1);
	if (r >= 0 && arg.choice.n_pairs > 0)
		r = choice_append_pairs(&arg.choice, call);
	return r < 0 ? r : sd_bus_message_close_container(call);
}

/* Asks for the job; *@ret is its path. */
static int submit(struct client *c, int argc, char *argv[], char **ret, struct fail *f)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *call = NULL, *reply = NULL;
	int r = client_check_texts("benchmark", (const char *const *)argv, (size_t)argc, f);

	if (r >= 0)
		r = client_check_texts("class", arg.choice.classes, arg.choice.n_classes, f);
	if (r >= 0)
		r = client_check_texts("--cpus list", &arg.cpus, arg.cpus ? 1 : 0, f);
	if (r < 0)
		return r;
	r = sd_bus_message_new_method_call(c->bus, &call, SCHEDLAB_BUS_NAME, SCHEDLAB_PATH,
					   SCHEDLAB_INTERFACE_MANAGER, "Measure");
	if (r >= 0)
		r = choice_append_texts(call, (const char *const *)argv, (size_t)argc);
	if (r >= 0)
		r = choice_append_texts(call, arg.choice.classes, arg.choice.n_classes);
	if (r >= 0)
		r = append_options(call);
	if (r < 0)
		return fail_errno(f, r, "cannot ask the daemon");
	r = sd_bus_call(c->bus, call, 0, &error, &reply);
	if (r < 0)
		return client_fail(c, r, &error, f);
	return client_read_path(reply, ret, f);
}

/* The job as the daemon describes it, and how to come back to it. */
static int say_detached(struct client *c, const char *path, struct fail *f)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_(json_decrefp) json_t *job = NULL;
	int r = client_get_json(c, path, SCHEDLAB_INTERFACE_JOB, "Describe", &text, f);

	if (r < 0 || client_print_json(c, text))
		return r;
	job = text_load(text);
	if (json_integer_value(json_object_get(job, "ahead")) > 0)
		job_print_waiting(stdout, job);
	else
		printf("job %s measures", job_path_id(path));
	printf("; '%s jobs wait %s' shows its result\n", client_command(c), job_path_id(path));
	return 0;
}

static int run(struct client *c, int argc, char *argv[], struct fail *f)
{
	_cleanup_(job_wait_freep) struct job_wait *wait = NULL;
	_cleanup_free_ char *path = NULL;
	int r;

	if (arg.detach && c->where == CLIENT_BUS_STANDALONE)
		return fail_set(
			f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
			"--detach: a standalone daemon ends with this program, and its jobs "
			"with it");
	r = job_wait_new(c, &wait, f);
	if (r >= 0)
		r = submit(c, argc, argv, &path, f);
	if (r < 0)
		return r;
	if (arg.detach)
		return say_detached(c, path, f);
	return job_wait_and_print(wait, path, true, arg.all_metrics, f);
}

extern const struct verb verb_measure;
const struct verb verb_measure = {
	.name = "measure",
	.arguments = "[BENCHMARK[:OPTION=VALUE,...]]...",
	.summary = "Measure benchmarks over the pair classes of the machine",
	.help = "Without a name every benchmark runs; 'schedlabctl benchmarks' lists them. A row "
		"of the\n"
		"table: class, what its pairs share, pairs in it, the pair measured; of each "
		"metric\n"
		"how many samples, median, spread (1.4826 x MAD), least, most, unit.\n\n"
		"  --class C[,C...]      only these classes (see schedlabctl topology)\n"
		"  --pair A-B            this pair of CPUs, waker and wakee; may be repeated\n"
		"  --cpus LIST           only pairs among these CPUs; isolated ones can be named\n"
		"  --pairs-per-class N   how many pairs stand for a class\n"
		"  --duration T          length of a sample (200ms, 5s; a plain number is "
		"seconds)\n"
		"  --rounds N            samples of each pair\n"
		"  --seed N              for the order and the choice of pairs\n"
		"  --all-metrics         not only the main metrics\n"
		"  --detach              do not wait; the job goes on without this program\n",
	.options = options,
	.set = set,
	.run = run,
};
