/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * How windows grow and shrink. A subflow keeps 16 bits beyond the units of its window, so that a large window, of its own
 * or of the others, does not lose what an acknowledgement adds: FINE is a packet, 2^40.
 *
 * connection.h includes this file once it has defined a subflow.
 */
#ifndef PATHWEAVE_GROWTH_H
#define PATHWEAVE_GROWTH_H

#define FRACTION_BITS 16
#define FINE (PACKET << FRACTION_BITS)

/* A window with its fraction, in FINE. */
static __always_inline u64 fine_window(const struct subflow *subflow)
{
	return (least(subflow->window, MOST - 1) << FRACTION_BITS) + subflow->fraction;
}

/* Adds to a window, in its units; it stays below the largest. */
static __always_inline void grow(struct subflow *subflow, u64 by)
{
	subflow->window = least(subflow->window + least(by, MOST), MOST);
}

/* Adds to a window, in FINE. */
static __always_inline void grow_finely(struct subflow *subflow, u64 by)
{
	subflow->fraction += least(by, ~0ULL >> 1);
	grow(subflow, subflow->fraction >> FRACTION_BITS);
	subflow->fraction %= 1 << FRACTION_BITS;
}

/* Takes from a window, in FINE, at most all of it. */
static __always_inline void shrink_finely(struct subflow *subflow, u64 by)
{
	u64 units = by >> FRACTION_BITS, rest = by % (1 << FRACTION_BITS);

	if (rest > subflow->fraction) {
		subflow->fraction += 1 << FRACTION_BITS;
		units++;
	}
	subflow->fraction -= rest;
	subflow->window -= least(units, subflow->window);
}

/* What one packet more for `each` (PACKET is one) acknowledged ones comes to, in FINE. */
static __always_inline u64 one_in(u32 packets, u64 each)
{
	return mul_div(packets * PACKET, FINE, each);
}

/* Congestion avoidance: one packet more for `each` (PACKET is one) acknowledged ones. */
static __always_inline void grow_by_one_in(struct subflow *subflow, u32 packets, u64 each)
{
	grow_finely(subflow, one_in(packets, each));
}

/*
 * Slow start: adds `step` (FINE is one, at most two) for each acknowledged packet until the window reaches ssthresh, and
 * returns how many packets are left for congestion avoidance. How many steps are left to ssthresh is asked of the window
 * without its fraction.
 */
static __always_inline u32 slow_start(struct subflow *subflow, u32 packets, u64 step)
{
	u64 left, steps;

	if (!in_slow_start(subflow))
		return packets;
	left = least(subflow->ssthresh - subflow->window, MOST - 1) << FRACTION_BITS;
	steps = least((left - 1) / step + 1, packets);
	grow_finely(subflow, step * steps);
	return packets - (u32)steps;
}

#endif
