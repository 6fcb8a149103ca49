/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Balia in the integer arithmetic of Linux's module, `variant = "linux"`: crates/control/src/balia/mod.rs has the formulas.
 *
 * Windows are whole packets and every number is that of the simulator's: products keep their lowest 64 bits, X / x_r is
 * a whole number.
 */
#ifndef PATHWEAVE_BALIA_LINUX_H
#define PATHWEAVE_BALIA_LINUX_H

#include "whole_packets.h"

/* Bytes in a segment, and what makes rates bytes per second. */
#define MSS 1448ULL
#define EIGHTHS_PER_SECOND 8000000ULL
/* The largest rate that is not scaled down, by steps of 5 bits. A rate has at most 58 bits: seven are enough. */
#define LARGEST_RATE (1ULL << 25)
#define RATE_STEP 5
#define MOST_RATE_STEPS 7
#define SCALE 10

/* At least 1, of a subflow that has an RTT. */
static __always_inline u64 rate_of(const struct subflow *s)
{
	return larger(MSS * EIGHTHS_PER_SECOND * cwnd(s) / s->srtt, 1);
}

static __always_inline struct response response_of(const struct connection *connection, const struct subflow *r)
{
	struct response response = { .acks = cwnd(r), .cost = cwnd(r) / 2 };
	u64 own, largest, square, acks, total = 0;
	const struct subflow *s;
	u32 shift = 0;

	if (is_alone(connection) || !has_rtt(r))
		return response;
	own = rate_of(r);
	largest = own;
	for_each_active(connection, s)
		if (has_rtt(s))
			largest = larger(largest, rate_of(s));
	response.cost = response.cost * least(largest / own << SCALE, (3 << SCALE) / 2) >> SCALE;
	for (u32 steps = 0; steps < MOST_RATE_STEPS; steps++)
		if (largest >> shift > LARGEST_RATE)
			shift += RATE_STEP;
	for_each_active(connection, s)
		if (has_rtt(s))
			total += rate_of(s) >> shift;
	own >>= shift;
	largest >>= shift;
	square = 10 * total * total;
	acks = square / (own + largest) * cwnd(r) / (4 * own + largest);
	if (acks)
		response.acks = acks;
	return response;
}

static __always_inline void work_out_response(const struct connection *connection, struct subflow *r)
{
	r->state.response = response_of(connection, r);
}

static __always_inline void linux_on_ack(struct connection *connection, struct subflow *r,
					 const struct acknowledgement *ack)
{
	if (!r->state.is_current && !ack->recovery) {
		work_out_response(connection, r);
		r->state.is_current = true;
	}
	if (!lets_window_grow(ack) || ack->packets == 0)
		return;
	if (slow_start_by(r, ack->packets) ||
	    count(&r->state.counter, r, is_alone(connection) ? cwnd(r) : r->state.response.acks))
		work_out_response(connection, r);
}

static __always_inline void linux_on_loss(struct connection *connection, struct subflow *r, enum loss loss)
{
	u32 left = half(r), window = cwnd(r);

	if (!is_alone(connection)) {
		if (!r->state.is_current)
			work_out_response(connection, r);
		left = larger(window - least(r->state.response.cost, window), 1);
	}
	leave_after(loss, r, &r->state.counter, left);
	r->state.is_current = false;
}

#endif
