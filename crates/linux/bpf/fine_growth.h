/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Growth by less than the units of a window: its subflow keeps 16 bits more, so that a small weight or a large
 * window of the others does not lose what an acknowledgement adds. FINE is a packet then, 2^40.
 *
 * To be included after connection.h; the bits, `fraction`, are a member of `struct state`.
 */
#ifndef PATHWEAVE_FINE_GROWTH_H
#define PATHWEAVE_FINE_GROWTH_H

#include "connection.h"

#define FRACTION_BITS 16
#define FINE (PACKET << FRACTION_BITS)

static __always_inline void grow_finely(struct subflow *subflow, u64 *fraction, u64 by)
{
	*fraction += by;
	grow(subflow, *fraction >> FRACTION_BITS);
	*fraction %= 1 << FRACTION_BITS;
}

/*
 * slow_start() with a step in FINE, at most two packets. How many steps are left to ssthresh is asked of the
 * window without its fraction.
 */
static __always_inline u32 slow_start_finely(struct subflow *subflow, u64 *fraction, u32 packets, u64 step)
{
	u64 left, steps;

	if (!in_slow_start(subflow))
		return packets;
	left = least(subflow->ssthresh - subflow->window, MOST - 1) << FRACTION_BITS;
	steps = least((left - 1) / step + 1, packets);
	grow_finely(subflow, fraction, step * steps);
	return packets - (u32)steps;
}

#endif
