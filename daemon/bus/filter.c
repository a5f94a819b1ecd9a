/* SPDX-License-Identifier: MIT */
/*
 * From a{sv} to a filter.
 */
#include "bus/filter.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <schedlab/limits.h>
#include <schedlab/units.h>
#include <string.h>

#include "bench/spec.h"
#include "bus/options.h"
#include "util/suggest.h"

#define KINDS_MAX 8

static int read_u64(sd_bus_message *call, const char *key, uint64_t min, uint64_t max,
		    uint64_t *ret, struct fail *f)
{
	uint64_t value;
	int r = sd_bus_message_read_basic(call, 't', &value);

	if (r < 0)
		return options_fail(r, f);
	if (value < min || value > max)
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
				"%s: %" PRIu64 " is out of range; accepted is %" PRIu64
				" to %" PRIu64,
				key, value, min, max);
	*ret = value;
	return 0;
}

/* Beyond what nanoseconds hold (in 2554) no clock is. */
static int read_time(sd_bus_message *call, const char *key, uint64_t *ret_ns, struct fail *f)
{
	uint64_t usec = 0;
	int r = read_u64(call, key, 0, UINT64_MAX, &usec, f);

	if (r >= 0)
		*ret_ns = MIN_OF(usec, UINT64_MAX / NSEC_PER_USEC) * NSEC_PER_USEC;
	return r;
}

static int read_since(sd_bus_message *call, void *userdata, struct fail *f)
{
	struct filter *filter = userdata;

	return read_time(call, "since-usec", &filter->query.since_ns, f);
}

/* 0 stands for "no bound", and nothing is before 0. */
static int read_until(sd_bus_message *call, void *userdata, struct fail *f)
{
	struct filter *filter = userdata;
	int r = read_time(call, "until-usec", &filter->query.until_ns, f);

	if (r >= 0 && filter->query.until_ns == 0)
		filter->query.until_ns = 1;
	return r;
}

static int add_kind(struct filter *filter, const char *name, struct fail *f)
{
	const char *names[RECORD_JOB + 1];
	_cleanup_free_ char *hint = NULL;
	size_t n = 0;

	for (enum record_kind kind = RECORD_SAMPLE; kind <= RECORD_JOB; kind++) {
		names[n++] = record_kind_name(kind);
		if (strcmp(record_kind_name(kind), name) == 0) {
			filter->query.kinds |= 1U << kind;
			return 0;
		}
	}
	hint = suggest_sentence(name, names, n);
	return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT, "kinds: '%.40s' is no kind%s", name,
			hint ? hint : "");
}

static int read_kinds(sd_bus_message *call, void *userdata, struct fail *f)
{
	_cleanup_free_ const char **names = NULL;
	size_t n = 0;
	int r = options_read_texts(call, KINDS_MAX, "kinds", &names, &n, f);

	for (size_t i = 0; i < n && r >= 0; i++)
		r = add_kind(userdata, names[i], f);
	if (r >= 0 && n == 0)
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT, "kinds: the list is empty");
	return r;
}

static int read_benchmark(sd_bus_message *call, void *userdata, struct fail *f)
{
	struct filter *filter = userdata;
	struct bench_spec spec;
	const char *text;
	int r = sd_bus_message_read_basic(call, 's', &text);

	if (r < 0)
		return options_fail(r, f);
	r = bench_spec_parse(text, &spec, f);
	if (r < 0)
		return fail_prefix(f, r, "benchmark: ");
	(void)snprintf(filter->benchmark, sizeof(filter->benchmark), "%s", spec.bench->name);
	filter->query.benchmark = filter->benchmark;
	if (strchr(text, ':'))
		filter->query.parameters = bench_spec_hash(&spec);
	return 0;
}

/* Also of a class that the machine has no longer. */
static int add_class(struct filter *filter, const char *id, struct fail *f)
{
	if (*id == '\0' || strlen(id) > RECORD_CLASS)
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
				"classes: '%.40s' is no class's id; it has 1 to %d characters", id,
				RECORD_CLASS);
	filter->classes[filter->query.n_classes] = strdup(id);
	return filter->classes[filter->query.n_classes++] ? 0 : fail_oom(f);
}

static int read_classes(sd_bus_message *call, void *userdata, struct fail *f)
{
	struct filter *filter = userdata;
	_cleanup_free_ const char **ids = NULL;
	size_t n = 0;
	int r = options_read_texts(call, MEASURE_CLASSES_MAX, "classes", &ids, &n, f);

	if (r >= 0 && n == 0)
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT, "classes: the list is empty");
	if (r >= 0 && !(filter->classes = calloc(n + 1, sizeof(*filter->classes))))
		return fail_oom(f);
	for (size_t i = 0; i < n && r >= 0; i++)
		r = add_class(filter, ids[i], f);
	filter->query.classes = (const char *const *)filter->classes;
	return r;
}

static int read_pairs(sd_bus_message *call, void *userdata, struct fail *f)
{
	struct filter *filter = userdata;
	struct query_pair pair;
	int r = sd_bus_message_enter_container(call, 'a', "(uu)");

	filter->pairs = calloc(MEASURE_PAIRS_MAX, sizeof(*filter->pairs));
	if (!filter->pairs)
		return fail_oom(f);
	filter->query.pairs = filter->pairs;
	while (r >= 0 && (r = sd_bus_message_read(call, "(uu)", &pair.waker, &pair.wakee)) > 0) {
		if (filter->query.n_pairs == MEASURE_PAIRS_MAX)
			return fail_set(f, SCHEDLAB_ERROR_LIMITS_EXCEEDED,
					"more than %d pairs are asked for", MEASURE_PAIRS_MAX);
		filter->pairs[filter->query.n_pairs++] = pair;
	}
	if (r >= 0)
		r = sd_bus_message_exit_container(call);
	if (r < 0)
		return options_fail(r, f);
	return filter->query.n_pairs > 0
		       ? 0
		       : fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT, "pairs: the list is empty");
}

static int read_arm(sd_bus_message *call, void *userdata, struct fail *f)
{
	struct filter *filter = userdata;
	uint32_t arm = 0;
	int r = sd_bus_message_read_basic(call, 'u', &arm);

	if (r < 0)
		return options_fail(r, f);
	if (arm > UINT16_MAX)
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
				"arm: %u is out of range; accepted is 0 to %d", arm, UINT16_MAX);
	filter->query.arm = (int32_t)arm;
	return 0;
}

static int read_job(sd_bus_message *call, void *userdata, struct fail *f)
{
	struct filter *filter = userdata;

	return read_u64(call, "job", 1, UINT64_MAX, &filter->query.job, f);
}

static int read_experiment(sd_bus_message *call, void *userdata, struct fail *f)
{
	struct filter *filter = userdata;

	return read_u64(call, "experiment", 1, UINT64_MAX, &filter->query.experiment, f);
}

static int read_hex(sd_bus_message *call, const char *key, uint64_t *ret, struct fail *f)
{
	const char *text;
	int r = sd_bus_message_read_basic(call, 's', &text);

	if (r < 0)
		return options_fail(r, f);
	if (strlen(text) != 16 || strspn(text, "0123456789abcdefABCDEF") != 16)
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
				"%s: '%.40s' is none; it has 16 hexadecimal digits", key, text);
	*ret = strtoull(text, NULL, 16);
	return 0;
}

static int read_fingerprint(sd_bus_message *call, void *userdata, struct fail *f)
{
	struct filter *filter = userdata;

	filter->by_id = true;
	return read_hex(call, "fingerprint", &filter->id, f);
}

static int read_kernel(sd_bus_message *call, void *userdata, struct fail *f)
{
	struct filter *filter = userdata;
	const char *text;
	int r = sd_bus_message_read_basic(call, 's', &text);

	if (r < 0)
		return options_fail(r, f);
	if (*text == '\0')
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
				"kernel: it is empty; accepted is a release (6.1.0-28-amd64) or a "
				"pattern (6.1.*)");
	filter->kernel = strdup(text);
	return filter->kernel ? 0 : fail_oom(f);
}

static int read_parameters(sd_bus_message *call, void *userdata, struct fail *f)
{
	struct filter *filter = userdata;
	uint64_t parameters = 0;
	int r = read_hex(call, "parameters", &parameters, f);

	if (r >= 0 && filter->query.parameters != 0 && filter->query.parameters != parameters)
		return fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
				"parameters: the benchmark's options are others");
	filter->query.parameters = parameters;
	return r;
}

static const struct options_option known[] = {
	{ "arm", "u", read_arm },
	{ "benchmark", "s", read_benchmark },
	{ "classes", "as", read_classes },
	{ "experiment", "t", read_experiment },
	{ "fingerprint", "s", read_fingerprint },
	{ "job", "t", read_job },
	{ "kernel", "s", read_kernel },
	{ "kinds", "as", read_kinds },
	{ "pairs", "a(uu)", read_pairs },
	{ "parameters", "s", read_parameters },
	{ "since-usec", "t", read_since },
	{ "until-usec", "t", read_until },
};
static const struct options_table table = { known, ELEMENTSOF(known) };

void filter_clear(struct filter *filter)
{
	for (size_t i = 0; i < filter->query.n_classes; i++)
		free(filter->classes[i]);
	free(filter->classes);
	free(filter->pairs);
	free(filter->kernel);
	free(filter->fingerprints);
	*filter = (struct filter){ 0 };
}

/* @ret must stay where it is: its query points into it. */
int filter_read(sd_bus_message *call, struct filter *ret, struct fail *f)
{
	int r;

	*ret = (struct filter){ .query = query_any() };
	r = options_read(call, &table, ret, f);
	if (r >= 0 && ret->query.until_ns != 0 && ret->query.since_ns >= ret->query.until_ns)
		r = fail_set(f, SCHEDLAB_ERROR_INVALID_ARGUMENT,
			     "since-usec is not before until-usec: nothing is in between");
	if (r < 0)
		filter_clear(ret);
	return r;
}

struct resolving {
	struct filter *filter;
	bool oom;
};

/* "6.1.0-28-amd64 #1 SMP ...": the release, or all of it. */
static bool is_kernel(const char *pattern, const char *kernel)
{
	char release[128];

	(void)snprintf(release, sizeof(release), "%.*s", (int)strcspn(kernel, " "), kernel);
	return fnmatch(pattern, release, 0) == 0 || fnmatch(pattern, kernel, 0) == 0;
}

static void add_fingerprint(uint64_t id, const json_t *fingerprint, void *userdata)
{
	struct resolving *resolving = userdata;
	struct filter *filter = resolving->filter;
	const char *kernel = json_string_value(
		json_object_get(json_object_get(fingerprint, "fields"), "kernel"));
	uint64_t *larger;

	if (!kernel || !is_kernel(filter->kernel, kernel) || (filter->by_id && filter->id != id))
		return;
	larger = reallocarray(filter->fingerprints, filter->query.n_fingerprints + 1,
			      sizeof(*larger));
	if (!larger) {
		resolving->oom = true;
		return;
	}
	filter->fingerprints = larger;
	larger[filter->query.n_fingerprints++] = id;
}

int filter_resolve(struct filter *filter, const struct recall *recall, struct fail *f)
{
	struct resolving resolving = { .filter = filter };

	filter->query.by_fingerprint = filter->by_id || filter->kernel;
	if (!filter->kernel) {
		filter->query.fingerprints = &filter->id;
		filter->query.n_fingerprints = 1;
		return 0;
	}
	filter->query.n_fingerprints = 0;
	recall_each_fingerprint(recall, add_fingerprint, &resolving);
	filter->query.fingerprints = filter->fingerprints;
	return resolving.oom ? fail_oom(f) : 0;
}
