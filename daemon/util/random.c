/* SPDX-License-Identifier: MIT */
/*
 * A fresh seed.
 */
#include "util/random.h"

#include <sys/random.h>

#include "util/clock.h"

#define SEED_BITS 53 /* a double, so every JSON reader, holds whole numbers up to here */

uint64_t random_seed(void)
{
	uint64_t seed;

	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed))
		seed = clock_realtime_ns();
	return seed >> (64 - SEED_BITS);
}
