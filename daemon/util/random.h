/* SPDX-License-Identifier: MIT */
/*
 * A small seeded generator: every random choice of a run can be made again from its seed.
 *
 * SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014): any
 * seed is a good one. Not for secrets.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct random {
	uint64_t state;
};

static inline uint64_t random_next(struct random *r)
{
	uint64_t z = (r->state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* Uniform in 0..@n-1, for @n > 0: the high half of a product, biased by less than @n / 2^64. */
static inline uint64_t random_below(struct random *r, uint64_t n)
{
	return (uint64_t)(((unsigned __int128)random_next(r) * n) >> 64);
}

/* Puts 0..@n-1 into @order in random order (Fisher-Yates). */
static inline void random_order(struct random *r, size_t *order, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t j = (size_t)random_below(r, i + 1);

		order[i] = order[j];
		order[j] = i;
	}
}

/* A seed from the kernel, for runs whose user gave none. At most 2^53, so that JSON keeps it. */
uint64_t random_seed(void);
