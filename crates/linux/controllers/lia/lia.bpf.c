/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * LIA (RFC 6356), the linked increases of MPTCP: a subflow gains one packet for max(B, w_r) acknowledged ones, with
 * B = (sum_s w_s / tau_s)^2 / max_s(w_s / tau_s^2). crates/control/src/lia has the formulas and rulings; README.md says
 * what the kernel makes of them. linux.h has the arithmetic of Linux's module.
 *
 * An acknowledgement's growth is exact to 2^-40 packets and 2^-19 of itself; a cut is within 2^-30 of the window.
 */
#define CONTROLLER lia
#include "once_per_round.h"

/* One, of the share of the window that a mark leaves. */
#define WHOLE_BITS 39

struct parameters {
	u64 minimum_window;
	/* Whether windows are whole packets, as in Linux's module. */
	u64 as_linux;
	/* Whether a marked round costs anything but a loss event. */
	u64 has_ecn_cut;
	/* What it leaves of the window: 2^39 is all. Rounded up, so that no whole packet is missed. */
	u64 left_by_marks;
};

struct state {
	struct once_per_round cuts;
	/* Of linux.h: acknowledgements since the window grew, and whether the last one came in recovery. */
	u32 counter;
	bool recovering;
};

struct shared {
	/* Of linux.h: 2^12 / B, and whether congestion avoidance can use it as it is. */
	u64 alpha;
	bool is_current;
};

#include "linked_increase.h"

SETTINGS = { .minimum_window = 2, .left_by_marks = 1ULL << WHOLE_BITS };

#include "linux.h"

static __always_inline bool responds_to_marks(void)
{
	return settings.has_ecn_cut;
}

/* The share of the window that a marked round costs. */
static __always_inline u64 cut(void)
{
	return ONE - (settings.left_by_marks >> (WHOLE_BITS - 30));
}

static __always_inline void on_ack(struct connection *connection, struct subflow *r,
				   const struct acknowledgement *ack)
{
	u32 packets;

	if (settings.as_linux) {
		linux_on_ack(connection, r, ack);
		return;
	}
	if (ack->marks && settings.has_ecn_cut && cut_on_mark(&r->state.cuts, r, cut()))
		return;
	if (!lets_window_grow(ack))
		return;
	packets = slow_start(r, ack->packets, FINE);
	if (packets)
		grow_by_one_in(r, packets, packets_per_increment(connection, r->window));
}

static __always_inline void on_loss(struct connection *connection, struct subflow *r, enum loss loss)
{
	if (settings.as_linux)
		linux_on_loss(connection, r, loss);
	else
		cut_on_loss(&r->state.cuts, r, loss, ONE / 2);
}

static __always_inline void on_change(struct connection *connection, struct subflow *r, enum change change)
{
	connection->shared.is_current = false;
}

EXPORT_CONTROLLER(false)
