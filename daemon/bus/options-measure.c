/* SPDX-License-Identifier: MIT */
/*
 * What Measure takes, from its arguments to plain C.
 */
#include "bus/options.h"

#include <errno.h>
#include <inttypes.h>
#include <schedlab/units.h>
#include <string.h>

static int read_duration(sd_bus_message *call, void *userdata, struct fail *f)
{
	struct measure_call *m = userdata;
	uint64_t usec;
	int r = sd_bus_message_read_basic(call, 't', &usec);

	if (r < 0)
		return options_fail(r, f);
	if (usec == 0 || usec > MEASURE_DURATION_MAX_NS / NSEC_PER_USEC)
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
				"duration-usec: %" PRIu64 " is out of range; accepted is %" PRIu64
				" to %" PRIu64,
				usec, MEASURE_DURATION_MIN_NS / NSEC_PER_USEC,
				MEASURE_DURATION_MAX_NS / NSEC_PER_USEC);
	m->plan.duration_ns = usec * NSEC_PER_USEC;
	return 0;
}

/* 0 stands for "not said" in plan_options, so it is refused here. */
static int read_count(sd_bus_message *call, const char *key, uint64_t max, uint64_t *ret,
		      struct fail *f)
{
	uint32_t value = 0;
	int r = sd_bus_message_read_basic(call, 'u', &value);

	if (r < 0)
		return options_fail(r, f);
	if (value == 0 || value > max)
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
				"%s: %u is out of range; accepted is 1 to %" PRIu64, key, value,
				max);
	*ret = value;
	return 0;
}

static int read_rounds(sd_bus_message *call, void *userdata, struct fail *f)
{
	struct measure_call *m = userdata;
	return read_count(call, "rounds", MEASURE_ROUNDS_MAX, &m->plan.rounds, f);
}

static int read_pairs_per_class(sd_bus_message *call, void *userdata, struct fail *f)
{
	struct measure_call *m = userdata;
	uint64_t value = 0;
	int r = read_count(call, "pairs-per-class", MEASURE_PAIRS_PER_CLASS_MAX, &value, f);

	if (r >= 0)
		m->plan.pairs_per_class = (size_t)value;
	return r;
}

static int read_seed(sd_bus_message *call, void *userdata, struct fail *f)
{
	struct measure_call *m = userdata;
	uint64_t seed;
	int r = sd_bus_message_read_basic(call, 't', &seed);

	if (r < 0)
		return options_fail(r, f);
	if (seed > MEASURE_SEED_MAX)
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
				"seed: %" PRIu64 " is out of range; accepted is 0 to %" PRIu64,
				seed, MEASURE_SEED_MAX);
	m->plan.seed = seed;
	return 0;
}

static int read_pairs(sd_bus_message *call, void *userdata, struct fail *f)
{
	struct measure_call *m = userdata;
	struct cpu_pair pair;
	int r = sd_bus_message_enter_container(call, 'a', "(uu)");

	while (r >= 0 && (r = sd_bus_message_read(call, "(uu)", &pair.waker, &pair.wakee)) > 0) {
		struct cpu_pair *larger;

		if (m->plan.n_pairs == MEASURE_PAIRS_MAX)
			return fail_set(f, SCHEDLAB_ERROR_LIMITS_EXCEEDED,
					"more than %d pairs are asked for", MEASURE_PAIRS_MAX);
		larger = reallocarray(m->pairs, m->plan.n_pairs + 1, sizeof(*larger));
		if (!larger)
			return fail_oom(f);
		m->pairs = larger;
		larger[m->plan.n_pairs++] = pair;
	}
	if (r >= 0)
		r = sd_bus_message_exit_container(call);
	if (r < 0)
		return options_fail(r, f);
	/* Without the option all would be measured: whoever gives it does not mean that. */
	if (m->plan.n_pairs == 0)
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT, "pairs: the list is empty");
	return 0;
}

static int read_cpus(sd_bus_message *call, void *userdata, struct fail *f)
{
	struct measure_call *m = userdata;
	const char *list;
	int r = sd_bus_message_read_basic(call, 's', &list);

	if (r < 0)
		return options_fail(r, f);
	r = cpuset_parse_list(list, &m->cpus, f);
	return r < 0 ? fail_prefix(f, r, "cpus: ") : 0;
}

static int read_detach(sd_bus_message *call, void *userdata, struct fail *f)
{
	struct measure_call *m = userdata;
	int detach;
	int r = sd_bus_message_read_basic(call, 'b', &detach);

	if (r < 0)
		return options_fail(r, f);
	m->detach = detach;
	return 0;
}

static const struct options_option known[] = {
	{ "cpus", "s", read_cpus },
	{ "detach", "b", read_detach },
	{ "duration-usec", "t", read_duration },
	{ "pairs", "a(uu)", read_pairs },
	{ "pairs-per-class", "u", read_pairs_per_class },
	{ "rounds", "u", read_rounds },
	{ "seed", "t", read_seed },
};

static const struct options_table table = { known, ELEMENTSOF(known) };

int options_read_measure(sd_bus_message *call, struct measure_call *ret, struct fail *f)
{
	_cleanup_(options_clear_measure) struct measure_call m = { .plan.seed = UINT64_MAX };
	int r;

	r = options_read_texts(call, MEASURE_BENCHMARKS_MAX, "benchmarks", &m.benchmarks,
			       &m.plan.n_benchmarks, f);
	if (r >= 0)
		r = options_read_texts(call, MEASURE_CLASSES_MAX, "classes", &m.classes,
				       &m.plan.n_classes, f);
	if (r >= 0)
		r = options_read(call, &table, &m, f);
	if (r < 0)
		return r;
	m.plan.benchmarks = m.benchmarks;
	m.plan.classes = m.classes;
	m.plan.pairs = m.pairs;
	m.plan.cpus = m.cpus;
	*ret = m;
	m = (struct measure_call){ 0 };
	return 0;
}

void options_clear_measure(struct measure_call *m)
{
	free(m->benchmarks);
	free(m->classes);
	free(m->pairs);
	cpuset_free(m->cpus);
	*m = (struct measure_call){ 0 };
}
