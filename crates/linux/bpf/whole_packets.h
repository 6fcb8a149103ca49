/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A subflow as Linux's multipath modules keep it: whole packets, and Reno with a counter of acknowledgements.
 * crates/control/src/linux.rs has the rules. Products keep their lowest 64 bits, as there.
 *
 * To be included after connection.h; a counter is a member of `struct state`.
 */
#ifndef PATHWEAVE_WHOLE_PACKETS_H
#define PATHWEAVE_WHOLE_PACKETS_H

#include "connection.h"

/* The window in whole packets: at most 2^24. */
static __always_inline u32 cwnd(const struct subflow *subflow)
{
	return subflow->window / PACKET;
}

/* ssthresh in whole packets; the largest number before anything was lost. */
static __always_inline u32 whole_ssthresh(const struct subflow *subflow)
{
	return least(subflow->ssthresh / PACKET, ~0U);
}

static __always_inline bool is_alone(const struct connection *connection)
{
	return count_active(connection) <= 1;
}

/* In slow start adds `packets` up to ssthresh and returns true. */
static __always_inline bool slow_start_by(struct subflow *subflow, u32 packets)
{
	u64 now = cwnd(subflow), ssthresh = whole_ssthresh(subflow);

	if (now >= ssthresh)
		return false;
	subflow->window = least(least(now + packets, ssthresh) * PACKET, MOST);
	return true;
}

/* Counts an acknowledgement in congestion avoidance and returns whether the window has grown. */
static __always_inline bool count(u32 *counter, struct subflow *subflow, u32 bound)
{
	if (*counter < bound) {
		++*counter;
		return false;
	}
	*counter = 0;
	subflow->window = least((cwnd(subflow) + 1) * PACKET, MOST);
	return true;
}

/* Reno's ssthresh after a loss, in packets. */
static __always_inline u32 half(const struct subflow *subflow)
{
	return larger(cwnd(subflow) / 2, 2);
}

/* The response to a loss that leaves `ssthresh` packets. */
static __always_inline void leave_after(enum loss loss, struct subflow *subflow, u32 *counter, u32 ssthresh)
{
	*counter = 0;
	if (loss == FAST_RETRANSMIT) {
		cut_to(subflow, ssthresh * PACKET);
	} else {
		subflow->ssthresh = ssthresh * PACKET;
		subflow->window = PACKET;
	}
}

#endif
