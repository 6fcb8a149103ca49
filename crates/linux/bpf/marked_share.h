/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * DCTCP's alpha (RFC 8257): the average share of marked packets. crates/control/src/dctcp.rs has the rulings.
 *
 * An update drops less than 2^-40, or 2^-28 of itself, so alpha stays within 2^-40 / g of what real numbers make it.
 */
#ifndef PATHWEAVE_MARKED_SHARE_H
#define PATHWEAVE_MARKED_SHARE_H

#include "numbers.h"

/* One, of an average share. */
#define FINE_ONE (1ULL << 40)

struct marked_share {
	u64 alpha;
	/* What was sent when the round began, and what has been acknowledged and marked since. */
	u64 round;
	u32 packets;
	u32 marks;
};

/* Moves an average towards a value by the weight `g`, a share. */
static __always_inline u64 averaged(u64 average, u64 value, u64 g)
{
	if (value > average)
		return average + mul_div(value - average, g, ONE);
	return average - mul_div(average - value, g, ONE);
}

static __always_inline void count_marks(struct marked_share *share, u32 packets, u32 marks)
{
	share->packets += packets;
	share->marks += marks;
}

static __always_inline void end_marked_round(struct marked_share *share, u64 g)
{
	/* A round in which nothing was acknowledged, only duplicates, has no share to average. */
	if (!share->packets)
		return;
	/* Marks that waited for a later acknowledgement may outnumber its packets. */
	share->alpha = averaged(share->alpha,
				mul_div(least(share->marks, share->packets), FINE_ONE, share->packets), g);
	share->packets = 0;
	share->marks = 0;
}

/* What a marked round costs: alpha / 2, as a share. */
static __always_inline u64 half_alpha(const struct marked_share *share)
{
	return share->alpha / (2 * (FINE_ONE / ONE));
}

#endif
