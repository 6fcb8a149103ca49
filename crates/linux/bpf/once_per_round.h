/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * One cut a round: marks are ignored until what was in flight at the last cut has been acknowledged, and a loss in
 * a round that a mark has cut deepens that cut to half of the window before it.
 *
 * This is what a subflow's state has of it; connection.h has the rules.
 */
#ifndef PATHWEAVE_ONCE_PER_ROUND_H
#define PATHWEAVE_ONCE_PER_ROUND_H

#include "numbers.h"

struct once_per_round {
	u64 end;
	u64 window_before;
	bool has_cut;
};

#endif
