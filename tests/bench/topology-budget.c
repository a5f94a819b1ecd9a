/* SPDX-License-Identifier: MIT */
/*
 * The budget of topology and classes for 4096 CPUs, as TAP: our part is held against hwloc's own load
 * of the same tree in the same process.
 *
 *     topology-budget TREE     a tree of the machine "huge" (tests/tools/mktree.py)
 */
#include <malloc.h>
#include <stdio.h>
#include <string.h>

#include "stats/robust.h"
#include "topology/class.h"
#include "util/clock.h"

#define RUNS         7
#define TIME_SHARE   (10.0 / 260) /* 10 ms where hwloc alone takes 260 ms */
#define MEMORY_LIMIT (8 * MIB)

static double resident_bytes(void)
{
	unsigned long pages = 0;
	FILE *statm = fopen("/proc/self/statm", "re");

	if (!statm || fscanf(statm, "%*u %lu", &pages) != 1)
		exit(1);
	(void)fclose(statm);
	return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

/* One load: our share of hwloc's time, and our milliseconds. */
static int load(const struct kernfs *k, const char *tree, double *ret_share, double *ret_ms,
		double *ret_hwloc_ms, struct topology **ret_topology,
		struct class_table **ret_table)
{
	struct fail f = { 0 };
	uint64_t start = clock_monotonic_ns(), ours;

	if (topology_load(k, tree, ret_topology, &f) < 0 ||
	    class_table_new(*ret_topology, NULL, CLASS_PAIRS_DEFAULT, 0, ret_table, &f) < 0) {
		(void)fprintf(stderr, "%s\n", f.message);
		return -1;
	}
	ours = clock_monotonic_ns() - start - (*ret_topology)->hwloc_ns;
	*ret_share = (double)ours / (double)(*ret_topology)->hwloc_ns;
	*ret_ms = (double)ours / NSEC_PER_MSEC;
	*ret_hwloc_ms = (double)(*ret_topology)->hwloc_ns / NSEC_PER_MSEC;
	return 0;
}

int main(int argc, char *argv[])
{
	double share[RUNS], ms[RUNS], hwloc_ms[RUNS], heap, resident;
	struct topology *t = NULL;
	struct class_table *table = NULL;
	struct kernfs *k = NULL;
	int good;

	if (argc != 2 || kernfs_new(NULL, &k, NULL) < 0)
		return 2;
	/* Once for the libraries' own memory, which stays. */
	if (load(k, argv[1], &share[0], &ms[0], &hwloc_ms[0], &t, &table) < 0)
		return 1;
	class_table_free(table);
	topology_free(t);
	(void)malloc_trim(0);
	resident = resident_bytes();
	heap = (double)mallinfo2().uordblks + (double)mallinfo2().hblkhd;
	for (int i = 0; i < RUNS; i++) {
		if (load(k, argv[1], &share[i], &ms[i], &hwloc_ms[i], &t, &table) < 0)
			return 1;
		if (i + 1 < RUNS) {
			class_table_free(table);
			topology_free(t);
		}
	}
	resident = resident_bytes() - resident;
	heap = (double)mallinfo2().uordblks + (double)mallinfo2().hblkhd - heap;
	robust_sort(share, RUNS);
	robust_sort(ms, RUNS);
	robust_sort(hwloc_ms, RUNS);
	printf("# %zu CPUs: hwloc %.1f ms, ours %.2f ms (medians of %d), share %.4f of at most "
	       "%.4f; "
	       "%.2f MiB of heap, %.2f MiB resident\n",
	       t->n_cpus, robust_median(hwloc_ms, RUNS), robust_median(ms, RUNS), RUNS,
	       robust_median(share, RUNS), TIME_SHARE, heap / MIB, resident / MIB);
	good = robust_median(share, RUNS) <= TIME_SHARE;
	printf("%s 1 - topology of 4096 CPUs within its time beside hwloc's\n",
	       good ? "ok" : "not ok");
	if (heap > MEMORY_LIMIT || resident > MEMORY_LIMIT)
		good = 0;
	printf("%s 2 - topology of 4096 CPUs within 8 MiB\n1..2\n",
	       heap <= MEMORY_LIMIT && resident <= MEMORY_LIMIT ? "ok" : "not ok");
	class_table_free(table);
	topology_free(t);
	kernfs_free(k);
	return good ? 0 : 1;
}
