/* SPDX-License-Identifier: MIT */
/*
 * Samples as machines give them: noise, drift, modes, and blocks made of them.
 *
 * Everything is in the logarithm of a time, and an effect of 0.03 is "3 %". Arm B has the effect, arm A has
 * not.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/random.h"

enum noise_kind {
	NOISE_NORMAL,
	NOISE_T3,     /* Student's with 3 degrees of freedom, scaled to the sd */
	NOISE_CAUCHY, /* the sd is its scale */
	NOISE_MODES,  /* normal around ln 12,000 or ln 100,000 */
	NOISE_AR,     /* normal, each correlated with the one before by rho */
};

enum noise_order {
	NOISE_RANDOM, /* a fair coin for each block */
	NOISE_ABBA,   /* ABBA or BAAB, by a fair coin: d is the difference of the two means */
	NOISE_FIXED,  /* always A, then B: wrong */
};

struct noise {
	enum noise_kind kind;
	enum noise_order order;
	double sd;      /* of one sample, within its mode */
	double fast[2]; /* for modes: the chance of the fast one, by arm; 0: 0.9 */
	double rho;
	double drift;    /* that each sample has more than the one before, in sd */
	double position; /* that the second sample of a block has more, in sd */
	double effect;   /* of B over A */
	double rounded;  /* times near 6,000 are rounded to multiples of this; 0: not */
	bool tainted; /* slow samples are often tainted; their block is repeated whole, in a fresh order */
};

/* One experiment's samples. */
struct series {
	const struct noise *noise;
	struct random *random;
	uint64_t samples;
	double last; /* of the correlated part, in sd */
};

double random_uniform(struct random *r); /* within (0, 1) */
double random_normal(struct random *r);

void series_init(struct series *s, const struct noise *noise, struct random *random);

/* The next block's d. */
double series_block(struct series *s);
