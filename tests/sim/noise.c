/* SPDX-License-Identifier: MIT */
/*
 * Random numbers of several shapes, and blocks.
 */
#include "noise.h"

#include <math.h>

#define NEAR 6000.0 /* where times to be rounded are */

double random_uniform(struct random *r)
{
	return ((double)(random_next(r) >> 11) + 0.5) * 0x1p-53;
}

/* Box and Muller 1958; one of the pair is enough. */
double random_normal(struct random *r)
{
	double size = sqrt(-2 * log(random_uniform(r)));

	return size * cos(2 * M_PI * random_uniform(r));
}

/* Student's t with 3 degrees of freedom has the variance 3. */
static double random_t3(struct random *r)
{
	double normal = random_normal(r), squares = 0;

	for (int i = 0; i < 3; i++)
		squares += pow(random_normal(r), 2);
	return normal / sqrt(squares);
}

void series_init(struct series *s, const struct noise *noise, struct random *random)
{
	*s = (struct series){ .noise = noise, .random = random, .last = random_normal(random) };
}

/* Noise alone, in sd; *@mode is what to add to it. */
static double shape(struct series *s, int arm, double *mode)
{
	const struct noise *n = s->noise;
	double fast = n->fast[arm] > 0 ? n->fast[arm] : 0.9;

	*mode = 0;
	switch (n->kind) {
	case NOISE_T3:
		return random_t3(s->random);
	case NOISE_CAUCHY:
		return tan(M_PI * (random_uniform(s->random) - 0.5));
	case NOISE_MODES:
		*mode = log(random_uniform(s->random) < fast ? 12000 : 100000);
		return random_normal(s->random);
	case NOISE_AR:
		s->last = n->rho * s->last + sqrt(1 - n->rho * n->rho) * random_normal(s->random);
		return s->last;
	default:
		return random_normal(s->random);
	}
}

/* One sample of @arm at @place in its block; *@tainted is set where it is. */
static double sample(struct series *s, int arm, int place, bool *tainted)
{
	const struct noise *n = s->noise;
	double mode, noise = shape(s, arm, &mode), value;

	if (n->tainted && random_uniform(s->random) < (noise > 0.5 ? 0.5 : 0.05))
		*tainted = true;
	value = mode + n->sd * (noise + n->drift * (double)s->samples + n->position * place);
	s->samples++;
	if (arm)
		value += n->effect;
	if (n->rounded > 0)
		value = log(n->rounded * fmax(1, rint(NEAR * exp(value) / n->rounded)));
	return value;
}

double series_block(struct series *s)
{
	const struct noise *n = s->noise;
	int places = n->order == NOISE_ABBA ? 4 : 2;
	double d;
	bool tainted;

	do {
		int first = n->order != NOISE_FIXED && random_next(s->random) >> 63;

		d = 0;
		tainted = false;
		for (int place = 0; place < places; place++) {
			int arm = place == 0 || place == 3 ? first : !first;
			double value = sample(s, arm, place, &tainted);

			d += (arm ? value : -value) * 2 / places;
		}
	} while (tainted);
	return d;
}
