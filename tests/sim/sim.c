/* SPDX-License-Identifier: MIT */
/*
 * The driver of all simulations.
 */
#include "sim.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/macro.h"

#define RUNS_SHORT 1000
#define RUNS_LONG  8000

/* Shared with the processes that simulate. */
struct board {
	size_t next; /* cell that nobody has taken yet */
	struct sim_tally tallies[];
};

static struct {
	bool is_long;
	const char *table, *cell;
} arg;

static struct {
	bool holds;
	char notes[2000], row[1000];
} judged;

void sim_check(bool holds, const char *format, ...)
{
	size_t length = strlen(judged.notes);
	char note[200];
	va_list args;

	if (holds)
		return;
	judged.holds = false;
	va_start(args, format);
	(void)vsnprintf(note, sizeof(note), format, args);
	va_end(args);
	(void)snprintf(judged.notes + length, sizeof(judged.notes) - length,
		       "# does not hold: %s\n", note);
}

void sim_row(const char *format, ...)
{
	size_t length = strlen(judged.row);
	va_list args;

	va_start(args, format);
	(void)vsnprintf(judged.row + length, sizeof(judged.row) - length, format, args);
	va_end(args);
}

double sim_mean(const struct sim_tally *t, int value)
{
	return t->sum[value] / (double)t->runs;
}

double sim_error(const struct sim_tally *t, int value)
{
	double n = (double)t->runs, mean = sim_mean(t, value);

	return sqrt(fmax(0, t->squares[value] / n - mean * mean) / n);
}

/* The chance of exactly @k of @n at @p each. */
static double binomial(double n, double k, double p)
{
	int sign;

	return exp(lgamma_r(n + 1, &sign) - lgamma_r(k + 1, &sign) - lgamma_r(n - k + 1, &sign) +
		   k * log(p) + (n - k) * log1p(-p));
}

double sim_tail(uint64_t k, uint64_t n, double p)
{
	double chance = 0;

	for (; k <= n; k++)
		chance += binomial((double)n, (double)k, p);
	return chance;
}

bool sim_at_most(const struct sim_tally *t, int value, double p)
{
	return sim_tail((uint64_t)(t->sum[value] + 0.5), t->runs, p) >= SIM_LEVEL;
}

static int claims, claims_failed;

void sim_claim(bool holds, const char *format, ...)
{
	va_list args;

	claims++;
	claims_failed += !holds;
	printf("%sok %d - ", holds ? "" : "not ", claims);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	puts("");
}

int sim_claims_end(void)
{
	printf("1..%d\n", claims);
	return claims_failed > 0;
}

bool sim_at_least(const struct sim_tally *t, int value, double p)
{
	double chance = 0;

	for (uint64_t k = 0; k <= (uint64_t)(t->sum[value] + 0.5); k++)
		chance += binomial((double)t->runs, (double)k, p);
	return chance >= SIM_LEVEL;
}

double sim_distance(const struct sim_tally *t, int value, double expected, double rounding)
{
	double both = sim_error(t, value) * sqrt(1 + (double)t->runs / RUNS_LONG);
	double away = sim_mean(t, value) - expected;

	return away / (SIM_ERRORS * both + rounding + 1e-9);
}

/* FNV-1a (Fowler, Noll, Vo): a seed for each name. */
static uint64_t seed_of(const char *name)
{
	uint64_t seed = UINT64_C(0xcbf29ce484222325);

	for (; *name; name++)
		seed = (seed ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
	return seed;
}

static void simulate(const struct sim_cell *cell, struct sim_tally *t)
{
	unsigned int wanted = arg.is_long ? cell->long_runs : cell->short_runs;
	struct random seeds = { seed_of(cell->name) };

	if (!wanted)
		wanted = arg.is_long ? RUNS_LONG : RUNS_SHORT;
	for (t->runs = 0; t->runs < wanted; t->runs++) {
		struct random random = { random_next(&seeds) };
		double values[SIM_VALUES] = { 0 };

		cell->run(cell->setting, &random, values);
		for (int i = 0; i < SIM_VALUES; i++) {
			t->sum[i] += values[i];
			t->squares[i] += values[i] * values[i];
		}
	}
}

static bool is_wanted(const struct sim_cell *cell)
{
	return !arg.cell || strstr(cell->name, arg.cell);
}

/* One process a CPU; each takes the next cell until there is none. */
static int simulate_all(const struct sim_program *program, struct board *board)
{
	int status = 0, child;

	for (int cpu = 0; cpu < get_nprocs(); cpu++) {
		pid_t pid = fork();

		if (pid < 0)
			return -errno;
		if (pid > 0)
			continue;
		for (;;) {
			size_t i = __atomic_fetch_add(&board->next, 1, __ATOMIC_RELAXED);

			if (i >= program->n_cells)
				_exit(0);
			if (is_wanted(&program->cells[i]))
				simulate(&program->cells[i], &board->tallies[i]);
		}
	}
	while (wait(&child) > 0)
		if (child != 0)
			status = -EIO;
	return status;
}

static bool judge_all(const struct sim_program *program, const struct board *board, FILE *table)
{
	int n = 0;
	bool all = true;

	if (table)
		(void)fprintf(table, "\n%s\n\n%s\n|", program->title, program->head);
	for (const char *p = strchr(program->head, '|') + 1; table && (p = strchr(p, '|')); p++)
		(void)fputs("---|", table);
	for (size_t i = 0; i < program->n_cells; i++) {
		const struct sim_cell *cell = &program->cells[i];

		if (!is_wanted(cell))
			continue;
		judged.holds = true;
		judged.notes[0] = judged.row[0] = '\0';
		cell->judge(cell, &board->tallies[i]);
		all &= judged.holds;
		printf("%s%sok %d - %s |%s\n", judged.notes, judged.holds ? "" : "not ", ++n,
		       cell->name, judged.row);
		if (table)
			(void)fprintf(table, "\n| %s |%s", cell->name, judged.row);
	}
	if (table)
		(void)fputs("\n", table);
	printf("1..%d\n", n);
	return all;
}

static bool parse(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--long") == 0)
			arg.is_long = true;
		else if (strcmp(argv[i], "--table") == 0 && i + 1 < argc)
			arg.table = argv[++i];
		else if (strcmp(argv[i], "--cell") == 0 && i + 1 < argc)
			arg.cell = argv[++i];
		else
			return false;
	}
	return true;
}

int sim_main(int argc, char **argv, const struct sim_program *program)
{
	size_t size = sizeof(struct board) + program->n_cells * sizeof(struct sim_tally);
	_cleanup_(fclosep) FILE *table = NULL;
	struct board *board;
	bool all;

	if (!parse(argc, argv)) {
		(void)fprintf(stderr, "%s [--long] [--table FILE] [--cell PART-OF-A-NAME]\n",
			      argv[0]);
		return 2;
	}
	board = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (board == MAP_FAILED || (arg.table && !(table = fopen(arg.table, "ae")))) {
		perror(arg.table ? arg.table : argv[0]);
		return 1;
	}
	if (simulate_all(program, board) < 0) {
		printf("not ok - a process that simulates failed\n1..1\n");
		return 1;
	}
	all = judge_all(program, board, table);
	(void)munmap(board, size);
	return all ? 0 : 1;
}
