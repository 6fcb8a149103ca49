/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * LIA in the integer arithmetic of Linux's module, `variant = "linux"`: crates/control/src/lia/mod.rs has the formulas.
 *
 * Windows are whole packets and every number is that of the simulator's, but for one: what a mark leaves of the window
 * has 39 bits of fraction.
 */
#ifndef PATHWEAVE_LIA_LINUX_H
#define PATHWEAVE_LIA_LINUX_H

#include "whole_packets.h"

/* The scale of alpha is that of the numerator less twice that of the denominator. */
#define SCALE 12
#define NUMERATOR_SCALE 32
#define DENOMINATOR_SCALE 10

static __always_inline u64 alpha_of(const struct connection *connection)
{
	u64 quotient, largest = 0, best_cwnd = 0, best_srtt = 0, denominator = 0;
	const struct subflow *s;

	if (is_alone(connection))
		return 1;
	for_each_active(connection, s) {
		if (!has_rtt(s))
			continue;
		quotient = ((u64)cwnd(s) << NUMERATOR_SCALE) / ((u64)s->srtt * s->srtt);
		if (quotient >= largest) {
			largest = quotient;
			best_cwnd = cwnd(s);
			best_srtt = s->srtt;
		}
	}
	for_each_active(connection, s)
		if (has_rtt(s))
			denominator += ((u64)cwnd(s) << DENOMINATOR_SCALE) * best_srtt / s->srtt;
	return larger((best_cwnd << NUMERATOR_SCALE) / larger(denominator * denominator, 1), 1);
}

static __always_inline void work_out_alpha(struct connection *connection)
{
	connection->shared.alpha = alpha_of(connection);
}

/* Acknowledgements to count before the subflow gains a packet. */
static __always_inline u32 bound(const struct connection *connection, const struct subflow *r)
{
	if (is_alone(connection))
		return cwnd(r);
	return larger((1 << SCALE) / larger(connection->shared.alpha, 1), cwnd(r));
}

/* The first mark of a round leaves a share of the window, in whole packets. */
static __always_inline bool cut_by_mark(struct subflow *r)
{
	u64 left = cwnd(r) * settings.left_by_marks >> WHOLE_BITS;

	if (!cut_on_mark(&r->state.cuts, r, 0))
		return false;
	cut_to(r, left * PACKET);
	return true;
}

static __always_inline void linux_on_ack(struct connection *connection, struct subflow *r,
					 const struct acknowledgement *ack)
{
	if (r->state.recovering != ack->recovery) {
		r->state.recovering = ack->recovery;
		connection->shared.is_current = false;
	}
	if (ack->marks && settings.has_ecn_cut && cut_by_mark(r)) {
		connection->shared.is_current = false;
		return;
	}
	if (!lets_window_grow(ack) || ack->packets == 0)
		return;
	if (slow_start_by(r, ack->packets)) {
		work_out_alpha(connection);
		return;
	}
	if (!connection->shared.is_current) {
		work_out_alpha(connection);
		connection->shared.is_current = true;
	}
	if (count(&r->state.counter, r, bound(connection, r)))
		work_out_alpha(connection);
}

static __always_inline void linux_on_loss(struct connection *connection, struct subflow *r, enum loss loss)
{
	u64 window = r->window;
	u32 left;

	/* Half of the window, or of the one before this round's mark. */
	cut_on_loss(&r->state.cuts, r, loss, ONE / 2);
	left = larger(whole_ssthresh(r), 2);
	r->window = window;
	leave_after(loss, r, &r->state.counter, left);
	connection->shared.is_current = false;
}

#endif
