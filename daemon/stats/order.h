/* SPDX-License-Identifier: MIT */
/*
 * Which class of CPU pairs is dearer than which: for each pair of classes an e-process on signs. Pure: no
 * input, no output, no allocation.
 *
 * A super-block measures every class once, in random order, and gives one value a class: a cost or its
 * logarithm, only the order counts. For two classes that do not differ the random order makes either
 * value as likely to be the larger, whatever the noise, given all super-blocks before; so bets on the
 * sign of their difference win nothing on average (sign test by betting: Ramdas, Ruf, Larsson, Koolen
 * 2020). Equal values say nothing and move nothing.
 *
 * Each pair of classes has one process for either direction. It bets that the share p of super-blocks in
 * which that class is dearer is above 1/2, mixed over p by the upper half of the arcsine law (Krichevsky,
 * Trofimov 1981): the one-sided sign process of stats/betting.h. It stays an e-process wherever p <= 1/2 in every super-block, so a
 * direction claimed in error is counted, not only a difference. The two share one hypothesis:
 * the evidence of a pair is half the larger one.
 *
 * The pairs of classes are many, and all count: e-BH (Wang, Ramdas 2022) over K hypotheses rejects those
 * with e >= K / (alpha k), for the largest k for which there are k such. Of the relations claimed, at most
 * a share alpha is false on average; where no two classes differ, one is claimed with a chance of at most
 * alpha. That holds whenever one stops, by any rule that looks at super-blocks so far.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ORDER_CLASSES_MAX 64
#define ORDER_PAIRS_MAX   (ORDER_CLASSES_MAX * (ORDER_CLASSES_MAX - 1) / 2)

/* 24 KiB; its parts are for order.c. */
struct order {
	size_t n_classes;
	uint64_t blocks;                     /* super-blocks so far */
	bool few[ORDER_CLASSES_MAX];         /* the class has fewer than three pairs of CPUs */
	uint32_t dearer[ORDER_PAIRS_MAX][2]; /* super-blocks in which the first, the second was */
	uint32_t ties[ORDER_PAIRS_MAX];
};

enum order_relation {
	ORDER_NOT_DISTINGUISHABLE, /* so far */
	ORDER_FIRST_DEARER,
	ORDER_SECOND_DEARER,
};

enum order_verdict {
	ORDER_NOTHING_EXPECTED, /* the two were expected to be equally near */
	ORDER_UNDECIDED,        /* not distinguishable, so far */
	ORDER_AGREES,           /* the farther one is dearer */
	ORDER_INVERTED,         /* the nearer one is dearer */
};

/* Two classes @i and @j, as asked. */
struct order_pair {
	uint64_t first_dearer, second_dearer; /* super-blocks in which it was */
	uint64_t ties;                        /* one that lacks a class is in none of the three */
	double ln_e;                          /* half the larger of the two processes */
	enum order_relation leaning;          /* where it points, whether enough or not */
	bool of_pairs; /* one of them has few pairs of CPUs: speak of pairs, not classes */
};

struct order_summary {
	size_t nothing_expected, undecided, agree, inverted; /* pairs of classes */
	size_t nearer, dearer_than; /* classes: the inversion with most evidence, if there is one */
	bool of_pairs;              /* of that inversion */
};

/*
 * Begins with no super-block. few[i] says that class i has fewer than three pairs of CPUs, so that what is
 * found is of those pairs; it changes no number and comes back with each answer. NULL: none has. -EINVAL
 * where @n_classes is 0 or above ORDER_CLASSES_MAX.
 */
int order_init(struct order *o, size_t n_classes, const bool *few);

/*
 * A super-block: @n_classes values. NaN: the class was not measured in it (for a reason that does not
 * depend on its value). -ERANGE, and nothing is counted, for an infinity: give a cost that can be 0 as it
 * is, not its logarithm. O(classes^2).
 */
int order_add(struct order *o, const double *values);

/* Pairs of classes: what they add to K. */
size_t order_hypotheses(const struct order *o);

/* What is known of classes @i and @j, which must be two of those there are. */
void order_pair(const struct order *o, size_t i, size_t j, struct order_pair *ret);

/*
 * ln of the e-value that a relation needs, by e-BH over the pairs of classes and @others hypotheses of
 * the same plan, taken as not rejected (an e-BH over all of them rejects the same or more, and its bar
 * serves as well). Where none has enough it is what one alone would need, ln(K / alpha); INFINITY for
 * one class. @alpha in 0..1.
 */
double order_bar(const struct order *o, double alpha, size_t others);

/* Whether @i and @j differ, at a bar. */
enum order_relation order_relation(const struct order *o, size_t i, size_t j, double bar);

/*
 * Against what is expected: the class with the lower @rank (a distance, a level) should be cheaper. All
 * pairs of classes to *@ret.
 */
enum order_verdict order_verdict(const struct order *o, const double *rank, size_t i, size_t j,
				 double bar);
void order_summarize(const struct order *o, const double *rank, double bar,
		     struct order_summary *ret);

/*
 * "Not distinguishable" with what could have been seen: the fewest of @n super-blocks (without ties) that,
 * had the same class been dearer in them, would have met @bar (>= 0); 0 where even all @n are too few.
 * With k of them needed, sorted differences d_1 <= ... <= d_n would all have had to be larger by
 * -d_(n-k+1) for the second class to be found dearer.
 */
uint64_t order_needed(uint64_t n, double bar);
