/* SPDX-License-Identifier: MIT */
/*
 * From what was asked for to the cells of a measurement.
 */
#include "measure/plan.h"

#include <inttypes.h>
#include <schedlab/units.h>
#include <string.h>

#include "bench/spec.h"
#include "util/parse.h"

static int check_range(const char *what, uint64_t value, uint64_t min, uint64_t max, struct fail *f)
{
	if (value >= min && value <= max)
		return 0;
	return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
			"%s: %" PRIu64 " is out of range; accepted is %" PRIu64 " to %" PRIu64,
			what, value, min, max);
}

static int check_duration(uint64_t ns, struct fail *f)
{
	if (ns >= MEASURE_DURATION_MIN_NS && ns <= MEASURE_DURATION_MAX_NS)
		return 0;
	return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
			"duration: %s is out of range; accepted is %s to %s", FORMAT_TIME(ns),
			FORMAT_TIME(MEASURE_DURATION_MIN_NS), FORMAT_TIME(MEASURE_DURATION_MAX_NS));
}

static int check_numbers(const struct plan_options *o, struct fail *f)
{
	int r = check_duration(o->duration_ns, f);

	if (r >= 0)
		r = check_range("rounds", o->rounds, 1, MEASURE_ROUNDS_MAX, f);
	if (r >= 0)
		r = check_range("seed", o->seed, 0, MEASURE_SEED_MAX, f);
	if (r >= 0)
		r = check_range("pairs-per-class", o->pairs_per_class, 1,
				MEASURE_PAIRS_PER_CLASS_MAX, f);
	if (r >= 0)
		r = check_range("number of benchmarks", o->n_benchmarks, 0, MEASURE_BENCHMARKS_MAX,
				f);
	if (r >= 0)
		r = check_range("number of classes", o->n_classes, 0, MEASURE_CLASSES_MAX, f);
	if (r >= 0)
		r = check_range("number of pairs", o->n_pairs, 0, MEASURE_PAIRS_MAX, f);
	if (r >= 0 && o->n_pairs > 0 && o->n_classes > 0)
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
				"name classes or pairs, not both: a pair has its class already");
	return r;
}

/* NUMA nodes in option values must be on this machine. */
static int check_nodes(const struct topology *t, const struct bench_spec *spec, struct fail *f)
{
	for (size_t i = 0; i < spec->bench->n_options; i++) {
		uint32_t node = spec->values[i] - BENCH_VALUE_NUMBER;
		_cleanup_(cpuset_freep) struct cpuset *nodes = NULL;
		_cleanup_free_ char *list = NULL;
		bool known = false;

		if (spec->values[i] < BENCH_VALUE_NUMBER)
			continue;
		nodes = cpuset_new();
		for (size_t j = 0; nodes && j < t->n_nodes; j++) {
			known |= t->nodes[j].id == node;
			(void)cpuset_add(nodes, t->nodes[j].id);
		}
		if (known)
			continue;
		list = cpuset_format_list(nodes);
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
				"%s:%s=%u: there is no such NUMA node; there %s: %s",
				spec->bench->name, spec->bench->options[i].name, node,
				t->n_nodes == 1 ? "is" : "are",
				list && *list ? list : "none that the kernel tells");
	}
	return 0;
}

static int take_specs(struct plan *plan, const struct topology *t, const struct plan_options *o,
		      struct fail *f)
{
	if (o->n_benchmarks == 0)
		for (size_t i = 0; i < bench_count(); i++)
			plan->specs[plan->n_specs++].bench = bench_get(i);
	for (size_t i = 0; i < o->n_benchmarks; i++) {
		struct bench_spec *spec = &plan->specs[plan->n_specs++];
		int r = bench_spec_parse(o->benchmarks[i], spec, f);

		if (r < 0)
			return r;
		r = check_nodes(t, spec, f);
		if (r < 0)
			return r;
		for (size_t j = 0; j < i; j++)
			if (bench_spec_hash(&plan->specs[j]) == bench_spec_hash(spec) &&
			    plan->specs[j].bench == spec->bench)
				return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
						"'%.100s' is asked for twice", o->benchmarks[i]);
	}
	return 0;
}

/* The CPUs asked for, all of which must be usable; isolated ones are, since they are named. */
static int take_cpus(struct plan *plan, const struct plan_options *o, struct cpuset *within,
		     const struct cpuset *usable, struct fail *f)
{
	_cleanup_free_ char *allowed = NULL;

	plan->cpus = cpuset_format_list(o->cpus);
	if (!plan->cpus)
		return fail_oom(f);
	if (cpuset_is_empty(o->cpus))
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT, "cpus: the list is empty");
	if (!cpuset_is_subset(o->cpus, usable)) {
		allowed = cpuset_format_list(usable);
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
				"not all of CPU %s can be measured; use some of %s", plan->cpus,
				allowed ? allowed : "the others");
	}
	cpuset_and(within, o->cpus);
	return cpuset_or(within, o->cpus) < 0 ? fail_oom(f) : 0;
}

/* The classes of the CPUs that may be used; isolated ones only where @o names them. */
static int make_classes(struct plan *plan, struct topology *t, const struct plan_options *o,
			struct fail *f)
{
	_cleanup_(cpuset_freep) struct cpuset *within = NULL, *usable = NULL;
	int r = 0;

	if (topology_usable(t, false, &within) < 0 || topology_usable(t, true, &usable) < 0)
		return fail_oom(f);
	if (o->cpus)
		r = take_cpus(plan, o, within, usable, f);
	for (size_t i = 0; !o->cpus && i < o->n_pairs && r >= 0; i++) {
		const struct cpu_pair *p = &o->pairs[i];

		if ((cpuset_has(usable, p->waker) && cpuset_add(within, p->waker) < 0) ||
		    (cpuset_has(usable, p->wakee) && cpuset_add(within, p->wakee) < 0))
			r = fail_oom(f);
	}
	if (r < 0)
		return r;
	return class_table_new(t, within, o->pairs_per_class, o->seed, &plan->classes, f);
}

static enum bench_place place_of(const struct pair_class *c)
{
	return c->scope == CLASS_SELF       ? BENCH_PLACE_SELF
	       : c->scope == CLASS_UNPINNED ? BENCH_PLACE_UNPINNED
					    : BENCH_PLACE_PAIR;
}

static int add_cell(struct plan *plan, size_t benchmark, const struct pair_class *c,
		    const struct cpu_pair *pair, struct fail *f)
{
	struct plan_cell *larger =
		reallocarray(plan->cells, plan->n_cells + 1, sizeof(*plan->cells));

	if (!larger)
		return fail_oom(f);
	plan->cells = larger;
	larger[plan->n_cells] = (struct plan_cell){ .benchmark = benchmark, .pair_class = c };
	if (pair) {
		larger[plan->n_cells].pinned = true;
		larger[plan->n_cells].pair = *pair;
	}
	plan->n_cells++;
	return 0;
}

static int add_omission(struct plan *plan, size_t benchmark, const struct pair_class *c,
			const char *why, struct fail *f)
{
	struct plan_omission *larger =
		reallocarray(plan->omissions, plan->n_omissions + 1, sizeof(*larger));
	struct plan_omission *o;

	if (!larger)
		return fail_oom(f);
	plan->omissions = larger;
	o = &larger[plan->n_omissions++];
	*o = (struct plan_omission){ .benchmark = bench_spec_format(&plan->specs[benchmark]),
				     .class_id = c->id,
				     .why = strdup(why) };
	return o->benchmark && o->why ? 0 : fail_oom(f);
}

/* 1 where @benchmark can run in @c. Where it cannot, that is an error only if both were named
 * (@asked); else it is left out, and that is told: 0. */
static int take_place(struct plan *plan, size_t benchmark, const struct pair_class *c, bool asked,
		      struct fail *f)
{
	const struct bench_spec *spec = &plan->specs[benchmark];
	struct fail why = { 0 };
	int r = spec->bench->check_place(spec, place_of(c), asked ? f : &why);

	if (r >= 0)
		return 1;
	return asked ? r : add_omission(plan, benchmark, c, why.message, f);
}

/* One class with one benchmark. */
static int add_class(struct plan *plan, size_t benchmark, const struct pair_class *c, bool asked,
		     struct fail *f)
{
	int r = take_place(plan, benchmark, c, asked, f);

	if (r <= 0)
		return r;
	if (c->scope == CLASS_UNPINNED)
		return add_cell(plan, benchmark, c, NULL, f);
	for (size_t i = 0; i < c->n_representatives; i++) {
		r = add_cell(plan, benchmark, c, &c->representatives[i], f);
		if (r < 0)
			return r;
	}
	return 0;
}

static int add_pair(struct plan *plan, size_t benchmark, const struct cpu_pair *pair, bool asked,
		    struct fail *f)
{
	const struct pair_class *c;
	int r = class_table_classify(plan->classes, *pair, &c, f);

	if (r < 0)
		return r;
	r = take_place(plan, benchmark, c, asked, f);
	return r <= 0 ? r : add_cell(plan, benchmark, c, pair, f);
}

/* A benchmark that was named, but can run in none of the classes. */
static int fail_nowhere(const struct plan *plan, size_t benchmark, struct fail *f)
{
	const struct bench_spec *spec = &plan->specs[benchmark];
	_cleanup_free_ char *cpus = cpuset_format_list(class_table_cpus(plan->classes));
	int r = -EINVAL;

	for (size_t i = 0; i < class_table_size(plan->classes); i++)
		r = spec->bench->check_place(spec, place_of(class_table_get(plan->classes, i)), f);
	return fail_prefix(f, r, "nothing can be measured on CPU %s: ", cpus ? cpus : "");
}

/* Of all benchmarks, those that can run in no class here are left out. */
static void drop_idle_specs(struct plan *plan)
{
	size_t kept = 0;

	for (size_t i = 0; i < plan->n_specs; i++) {
		bool used = false;

		for (size_t j = 0; j < plan->n_cells; j++)
			used |= plan->cells[j].benchmark == i;
		if (!used)
			continue;
		for (size_t j = 0; j < plan->n_cells; j++)
			if (plan->cells[j].benchmark == i)
				plan->cells[j].benchmark = kept;
		plan->specs[kept++] = plan->specs[i];
	}
	plan->n_specs = kept;
}

static int add_cells(struct plan *plan, size_t benchmark, const struct plan_options *o,
		     struct fail *f)
{
	size_t before = plan->n_cells;
	bool named = o->n_benchmarks > 0;
	int r = 0;

	for (size_t i = 0; i < o->n_pairs && r >= 0; i++)
		r = add_pair(plan, benchmark, &o->pairs[i], named, f);
	for (size_t i = 0; i < o->n_classes && r >= 0; i++) {
		const struct pair_class *c;

		r = class_table_find(plan->classes, o->classes[i], &c, f);
		if (r >= 0)
			r = add_class(plan, benchmark, c, named, f);
	}
	if (o->n_pairs > 0 || o->n_classes > 0)
		return r;
	for (size_t i = 0; i < class_table_size(plan->classes) && r >= 0; i++)
		r = add_class(plan, benchmark, class_table_get(plan->classes, i), false, f);
	if (r >= 0 && named && plan->n_cells == before)
		return fail_nowhere(plan, benchmark, f);
	return r;
}

/* Twice the same class or pair would weigh double. */
static int check_twins(const struct plan *plan, struct fail *f)
{
	for (size_t i = 0; i < plan->n_cells; i++) {
		const struct plan_cell *a = &plan->cells[i];

		for (size_t j = 0; j < i; j++) {
			const struct plan_cell *b = &plan->cells[j];

			if (a->benchmark != b->benchmark || a->pinned != b->pinned ||
			    (a->pinned &&
			     (a->pair.waker != b->pair.waker || a->pair.wakee != b->pair.wakee)))
				continue;
			if (a->pinned)
				return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
						"pair %u-%u is asked for twice", a->pair.waker,
						a->pair.wakee);
			return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
					"class '%s' is asked for twice", a->pair_class->id);
		}
	}
	return 0;
}

int plan_new(struct topology *t, const struct plan_options *options, struct plan **ret,
	     struct fail *f)
{
	_cleanup_(plan_freep) struct plan *plan = calloc(1, sizeof(*plan));
	int r;

	if (!plan)
		return fail_oom(f);
	plan->duration_ns = options->duration_ns;
	plan->warm_up_ns = options->warm_up_ns;
	plan->rounds = options->rounds;
	plan->seed = options->seed;
	r = check_numbers(options, f);
	if (r >= 0)
		r = take_specs(plan, t, options, f);
	if (r >= 0)
		r = make_classes(plan, t, options, f);
	for (size_t i = 0; i < plan->n_specs && r >= 0; i++)
		r = add_cells(plan, i, options, f);
	if (r >= 0)
		r = check_twins(plan, f);
	drop_idle_specs(plan);
	if (r < 0)
		return r;
	if (plan->n_cells == 0)
		return fail_set(
			f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
			"there is nothing to measure: none of the benchmarks can run in any "
			"class of these CPUs");
	if (plan->n_cells * plan->rounds > MEASURE_SAMPLES_MAX)
		return fail_set(f, SCHEDLAB_ERROR_LIMITS_EXCEEDED,
				"%zu pairs and benchmarks times %" PRIu64
				" rounds are more than %d samples",
				plan->n_cells, plan->rounds, MEASURE_SAMPLES_MAX);
	*ret = TAKE_PTR(plan);
	return 0;
}

struct plan *plan_free(struct plan *plan)
{
	if (!plan)
		return NULL;
	for (size_t i = 0; i < plan->n_omissions; i++) {
		free(plan->omissions[i].benchmark);
		free(plan->omissions[i].why);
	}
	free(plan->omissions);
	class_table_free(plan->classes);
	free(plan->cells);
	free(plan->cpus);
	free(plan);
	return NULL;
}

void plan_request(const struct plan *plan, const struct plan_cell *cell, uint64_t seed,
		  struct bench_request *ret)
{
	*ret = (struct bench_request){
		.spec = plan->specs[cell->benchmark],
		.n_cpus = cell->pinned ? 2 : 0,
		.cpus = { cell->pair.waker, cell->pair.wakee },
		.warm_up_ns = plan->warm_up_ns,
		.window_ns = plan->duration_ns,
		.seed = seed,
	};
}
