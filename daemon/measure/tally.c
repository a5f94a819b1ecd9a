/* SPDX-License-Identifier: MIT */
/*
 * Collecting samples.
 */
#include "measure/tally.h"

#include <string.h>

int tally_init(struct tally *t, const struct plan *plan)
{
	*t = (struct tally){ .plan = plan };
	t->rows = calloc(plan->n_cells, sizeof(*t->rows));
	t->failures = calloc(TALLY_FAILURES_MAX, sizeof(*t->failures));
	if (!t->rows || !t->failures)
		return -ENOMEM;
	for (size_t i = 0; i < plan->n_cells; i++)
		t->rows[i].memory_node = -1;
	return 0;
}

void tally_clear(struct tally *t)
{
	for (size_t i = 0; t->rows && i < t->plan->n_cells; i++)
		for (size_t m = 0; m < BENCH_METRICS_MAX; m++)
			free(t->rows[i].values[m]);
	for (size_t i = 0; i < t->n_failures; i++)
		free(t->failures[i].why);
	free(t->rows);
	free(t->failures);
	*t = (struct tally){ 0 };
}

int tally_row_add(struct tally_row *row, size_t metric, double value)
{
	size_t n = row->n_values[metric];

	/* Room doubles at each power of two. */
	if ((n & (n - 1)) == 0) {
		double *larger = reallocarray(row->values[metric], n ? 2 * n : 1, sizeof(*larger));

		if (!larger)
			return -ENOMEM;
		row->values[metric] = larger;
	}
	row->values[metric][row->n_values[metric]++] = value;
	return 0;
}

int tally_add(struct tally *t, size_t cell, const struct bench_request *request,
	      const struct bench_result *result)
{
	const struct bench *b = request->spec.bench;
	struct tally_row *row = &t->rows[cell];
	uint32_t taints = taint_find(request, result);

	for (size_t i = 0; i < b->n_metrics; i++) {
		const struct bench_value *v = &result->metrics[i];

		if (!v->known)
			memcpy(row->why_not[i], v->why_not, sizeof(row->why_not[i]));
		else if (tally_row_add(row, i, v->value) < 0)
			return -ENOMEM;
	}
	for (size_t i = 0; i < TAINT_MAX; i++)
		row->n_taints[i] += taints >> i & 1;
	row->memory_node = result->memory_node;
	row->n_samples++;
	t->n_samples++;
	row->n_tainted += taints != 0;
	t->n_tainted += taints != 0;
	return 0;
}

void tally_add_failure(struct tally *t, size_t cell, uint64_t round, const char *why)
{
	t->rows[cell].n_failed++;
	t->n_failed++;
	if (t->n_failures == TALLY_FAILURES_MAX)
		return;
	t->failures[t->n_failures] =
		(struct tally_failure){ .cell = cell, .round = round, .why = strdup(why) };
	if (t->failures[t->n_failures].why)
		t->n_failures++;
}

bool tally_is_complete(const struct tally *t)
{
	for (size_t i = 0; i < t->plan->n_cells; i++)
		if (t->rows[i].n_samples == 0)
			return false;
	return true;
}
