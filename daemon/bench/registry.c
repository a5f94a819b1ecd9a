/* SPDX-License-Identifier: MIT */
/*
 * All benchmarks: one line each.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "util/suggest.h"

extern const struct bench bench_cacheline, bench_switch;

static const struct bench *const benches[] = {
	&bench_switch,
	&bench_cacheline,
};

size_t bench_count(void)
{
	return ELEMENTSOF(benches);
}

const struct bench *bench_get(size_t i)
{
	return benches[i];
}

int bench_find(const char *name, const struct bench **ret, struct fail *f)
{
	const char *names[ELEMENTSOF(benches)];
	_cleanup_free_ char *hint = NULL;

	for (size_t i = 0; i < ELEMENTSOF(benches); i++) {
		if (strcmp(benches[i]->name, name) == 0) {
			*ret = benches[i];
			return 0;
		}
		names[i] = benches[i]->name;
	}
	hint = suggest_sentence(name, names, ELEMENTSOF(names));
	return fail_set(f, SCHEDLAB_ERROR_NO_SUCH_BENCHMARK, "no benchmark '%.60s'%s", name,
			hint ? hint : "");
}

enum bench_place bench_request_place(const struct bench_request *request)
{
	if (request->n_cpus == 0)
		return BENCH_PLACE_UNPINNED;
	return request->cpus[0] == request->cpus[1] ? BENCH_PLACE_SELF : BENCH_PLACE_PAIR;
}

static size_t metric_index(const struct bench *b, const char *name)
{
	for (size_t i = 0; i < b->n_metrics; i++)
		if (strcmp(b->metrics[i].name, name) == 0)
			return i;
	abort();
}

int bench_check_counts(const struct bench_result *result, struct fail *f)
{
	uint64_t a = result->tasks[0].iterations, b = result->tasks[1].iterations;

	if (result->n_tasks != 2)
		return fail_set(f, SCHEDLAB_ERROR_FAILED, "reported %u tasks, not 2",
				result->n_tasks);
	if (MAX_OF(a, b) - MIN_OF(a, b) > 1 || result->round_trips != a)
		return fail_set(f, SCHEDLAB_ERROR_FAILED,
				"reported %ju round trips, of which its tasks counted %ju and %ju",
				(uintmax_t)result->round_trips, (uintmax_t)a, (uintmax_t)b);
	return 0;
}

int bench_check_metric(const struct bench *b, const struct bench_result *result, const char *name,
		       double expected, struct fail *f)
{
	const struct bench_value *v = &result->metrics[metric_index(b, name)];

	if (!v->known || fabs(v->value - expected) <= expected / 1000)
		return 0;
	return fail_set(f, SCHEDLAB_ERROR_FAILED, "reported %s = %g, but its counts say %g", name,
			v->value, expected);
}

void bench_set_metric(const struct bench *b, struct bench_result *result, const char *name,
		      double value)
{
	struct bench_value *slot = &result->metrics[metric_index(b, name)];

	slot->known = true;
	slot->value = value;
}

void bench_set_why_not(const struct bench *b, struct bench_result *result, const char *name,
		       const char *why_not)
{
	struct bench_value *slot = &result->metrics[metric_index(b, name)];

	slot->known = false;
	(void)snprintf(slot->why_not, sizeof(slot->why_not), "%s", why_not);
}
