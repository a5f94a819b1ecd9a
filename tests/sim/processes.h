/* SPDX-License-Identifier: MIT */
/*
 * All parts of the primary process and the t process side by side on the same blocks.
 */
#pragma once

#include "noise.h"
#include "stats/betting.h"
#include "stats/t-bet.h"

#define BUDGET 200 /* blocks of a run */

enum process {
	PROCESS_SIGN,
	PROCESS_HUBER,
	PROCESS_RANK,
	PROCESS_PRIMARY,
	PROCESS_T,
	PROCESS_MAX,
};

struct processes {
	struct betting betting;
	struct t_bet t;
	struct rank_node nodes[BUDGET];
};

static inline void processes_init(struct processes *p)
{
	betting_init(&p->betting, p->nodes, BUDGET);
	p->t = (struct t_bet){ 0 };
}

static inline void processes_add(struct processes *p, double d)
{
	(void)betting_add(&p->betting, d);
	(void)t_bet_add(&p->t, d);
}

static inline double processes_log_e(const struct processes *p, enum process which)
{
	if (which == PROCESS_T)
		return t_bet_log_e(&p->t);
	return betting_log_e(&p->betting, (enum betting_part)which, BETTING_BOTH);
}
