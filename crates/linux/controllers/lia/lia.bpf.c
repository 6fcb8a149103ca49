/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * LIA (RFC 6356), the linked increases of MPTCP, in the integer arithmetic of Linux's module: with
 * B = (sum_s w_s / tau_s)^2 / max_s(w_s / tau_s^2) a subflow gains a packet for max(B, w_r) acknowledgements.
 * crates/control/src/lia has the arithmetic and the rulings; README.md says what the kernel makes of them.
 *
 * Windows are whole packets and every number is that of the simulator's `variant = "linux"`, but for one: what a
 * mark leaves of the window has 39 bits of fraction.
 */
#define CONTROLLER lia
#include "once_per_round.h"

/* One, of the share of the window that a mark leaves. */
#define WHOLE_BITS 39

struct parameters {
	u64 minimum_window;
	/* Whether a marked round costs anything but a loss event. */
	u64 has_ecn_cut;
	/* What it leaves of the window: 2^39 is all. Rounded up, so that no whole packet is missed. */
	u64 left_by_marks;
};

struct state {
	struct once_per_round cuts;
	/* Acknowledgements since the window grew. */
	u32 counter;
	bool recovering;
};

struct shared {
	/* 2^12 / B. */
	u64 alpha;
	/* Whether congestion avoidance can use alpha as it is. */
	bool is_current;
};

#include "whole_packets.h"

SETTINGS = { .minimum_window = 2, .left_by_marks = 1ULL << WHOLE_BITS };

/* The scale of alpha is that of the numerator less twice that of the denominator. */
#define SCALE 12
#define NUMERATOR_SCALE 32
#define DENOMINATOR_SCALE 10

static __always_inline bool responds_to_marks(void)
{
	return settings.has_ecn_cut;
}

static __always_inline u64 alpha_of(const struct connection *connection)
{
	u64 quotient, largest = 0, best_cwnd = 0, best_srtt = 0, denominator = 0;
	const struct subflow *s;

	if (is_alone(connection))
		return 1;
	for_each_subflow(connection, s) {
		if (!has_rtt(s))
			continue;
		quotient = ((u64)cwnd(s) << NUMERATOR_SCALE) / ((u64)s->srtt * s->srtt);
		if (quotient >= largest) {
			largest = quotient;
			best_cwnd = cwnd(s);
			best_srtt = s->srtt;
		}
	}
	for_each_subflow(connection, s)
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

static __always_inline void on_ack(struct connection *connection, struct subflow *r,
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

static __always_inline void on_loss(struct connection *connection, struct subflow *r, enum loss loss)
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

static __always_inline void on_opened(struct connection *connection, struct subflow *r)
{
	connection->shared.is_current = false;
}

static __always_inline void on_closed(struct connection *connection, struct subflow *r)
{
}

EXPORT_CONTROLLER(false)
