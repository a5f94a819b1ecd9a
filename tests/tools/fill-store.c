/* SPDX-License-Identifier: MIT */
/*
 * fill-store DIRECTORY RECORDS [BYTES]: a store as a daemon would have filled it in months, in a second: a
 * sample a minute until now, in jobs of 100, of two benchmarks' parameters, four classes, two kernels; every
 * 50th tainted, every 97th failed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/json.h"
#include "bench/spec.h"
#include "measure/tally.h"
#include "store/internal.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/random.h"

static const char *const specs[] = { "switch:mode=pipe", "switch:mode=futex" };
static const struct {
	const char *id;
	uint32_t waker, wakee;
	double ns;
} classes[] = { { "self", 0, 0, 4000 },
		{ "core", 0, 1, 5000 },
		{ "l3", 0, 2, 9000 },
		{ "unpinned", RECORD_NO_CPU, RECORD_NO_CPU, 7000 } };
static const char *const kernels[] = { "6.1.0-28-amd64 #1 SMP PREEMPT_DYNAMIC",
				       "6.12.9-amd64 #1 SMP PREEMPT_DYNAMIC" };

static uint64_t describe(struct store *s, const struct bench_spec *spec)
{
	json_t *root = tally_spec_to_json(spec), *metrics = json_array();

	for (size_t i = 0; i < spec->bench->n_metrics; i++) {
		const struct bench_metric *m = &spec->bench->metrics[i];

		json_array_append_new(metrics,
				      json_pack("{s:s, s:s, s:s, s:b}", "name", m->name, "unit",
						m->unit, "better", bench_better_name(m->better),
						"headline", m->headline));
	}
	json_object_set_new(root, "metrics", metrics);
	return store_put_json(s, SIDE_TEXT, root);
}

static void put_kernel(struct store *s, uint64_t id, const char *kernel)
{
	char hex[17];

	(void)snprintf(hex, sizeof(hex), "%016" PRIx64, id);
	(void)store_put_json(s, SIDE_FINGERPRINT,
			     json_pack("{s:s, s:{s:s}}", "id", hex, "fields", "kernel", kernel));
}

static void fill_metrics(struct record *r, const struct bench *b, double ns)
{
	for (size_t i = 0; i < b->n_metrics; i++) {
		double value = strcmp(b->metrics[i].name, "round-trip") == 0 ? ns
			       : strcmp(b->metrics[i].name, "switches") == 0 ? 2e9 / ns
									     : ns / 8;

		r->metrics[i] = (struct record_metric){ record_unit(b->metrics[i].unit), value };
	}
}

static int append(struct store *s, uint64_t i, uint64_t n, const struct bench_spec *parsed,
		  const uint64_t *keys, struct random *random)
{
	size_t which = i % ELEMENTSOF(specs), c = i / 2 % ELEMENTSOF(classes);
	double noise = 0.95 + (double)random_below(random, 1000) / 10000;
	uint8_t body[RING_BODY_SIZE];
	struct record r = {
		.kind = RECORD_SAMPLE,
		.benchmark_version = (uint16_t)parsed[which].bench->version,
		.round = (uint32_t)(i % 100 / 8),
		.boot_tag = i < n / 2 ? 1 : 2,
		.realtime_ns = clock_realtime_ns() - (n - i) * 60 * NSEC_PER_SEC,
		.boottime_ns = i * 60 * NSEC_PER_SEC,
		.job = i / 100 + 1,
		.parameters = bench_spec_hash(&parsed[which]),
		.fingerprint = i < n / 2 ? 1 : 2,
		.waker = classes[c].waker,
		.wakee = classes[c].wakee,
		.window_ns = 200 * NSEC_PER_MSEC,
		.taints = i % 50 == 49,
		.row = (uint32_t)(i % 8),
		.spec_key = keys[which],
	};

	(void)strcpy(r.benchmark, parsed[which].bench->name);
	(void)strcpy(r.class_id, classes[c].id);
	if (i % 97 == 96) {
		r.flags = RECORD_FAILED;
		r.text_key =
			store_put_json(s, SIDE_TEXT, json_string("the worker ended with status 1"));
	} else {
		/* The newer kernel is dearer by a fifth. */
		fill_metrics(&r, parsed[which].bench,
			     classes[c].ns * noise * (i < n / 2 ? 1 : 1.2));
	}
	record_encode(&r, body);
	return ring_append(s->ring, body, NULL, NULL);
}

int main(int argc, char *argv[])
{
	struct store_options options = { .directory = argc > 2 ? argv[1] : NULL };
	uint64_t n = argc > 2 ? strtoull(argv[2], NULL, 10) : 0, keys[ELEMENTSOF(specs)];
	struct bench_spec parsed[ELEMENTSOF(specs)];
	struct random random = { 5 };
	struct store *s = NULL;
	struct fail f = { 0 };
	int r;

	log_set_level(LOG_ERR);
	if (argc > 3)
		options.size = strtoull(argv[3], NULL, 10);
	r = argc < 3 ? -EINVAL : store_new(NULL, &options, &s, &f);
	if (r >= 0)
		r = store_open(s, &f);
	for (size_t i = 0; i < ELEMENTSOF(specs) && r >= 0; i++) {
		r = bench_spec_parse(specs[i], &parsed[i], &f);
		keys[i] = r < 0 ? 0 : describe(s, &parsed[i]);
		if (r >= 0)
			put_kernel(s, i + 1, kernels[i]);
	}
	for (uint64_t i = 0; i < n && r >= 0; i++)
		r = append(s, i, n, parsed, keys, &random);
	if (r < 0)
		(void)fprintf(stderr, "fill-store DIRECTORY RECORDS [BYTES]: %s\n", f.message);
	store_free(s);
	return r < 0;
}
