/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * DCTCP (RFC 8257) on every subflow by itself. crates/control/src/dctcp.rs has the formulas and rulings; README.md
 * says what the kernel makes of them.
 *
 * A cut is within 2^-30 of the window of what alpha asks for (marked_share.h has alpha's error).
 */
#define CONTROLLER dctcp
#include "marked_share.h"
#include "once_per_round.h"

struct parameters {
	u64 minimum_window;
	/* The weight of the latest round, and alpha when a subflow opens: shares. */
	u64 g;
	u64 alpha;
};

struct state {
	struct marked_share share;
	struct once_per_round cuts;
};

struct shared {};

#include "connection.h"

SETTINGS = { .minimum_window = 2, .g = ONE / 16, .alpha = ONE };

static __always_inline bool responds_to_marks(void)
{
	return true;
}

static __always_inline void on_ack(struct connection *connection, struct subflow *r,
				   const struct acknowledgement *ack)
{
	struct marked_share *share = &r->state.share;
	u32 packets;

	count_marks(share, ack->packets, ack->marks);
	if (round_ends(r, &share->round))
		end_marked_round(share, settings.g);
	/* The code in which marked acknowledgements grow windows lets them do so before it cuts. */
	if (may_grow_by(r, ack)) {
		packets = slow_start(r, ack->packets, FINE);
		if (packets)
			grow_by_one_in(r, packets, r->window);
	}
	if (ack->marks)
		cut_on_mark(&r->state.cuts, r, half_alpha(share));
}

static __always_inline void on_loss(struct connection *connection, struct subflow *r, enum loss loss)
{
	cut_on_loss(&r->state.cuts, r, loss, ONE / 2);
}

static __always_inline void on_change(struct connection *connection, struct subflow *r, enum change change)
{
	if (change == OPENED)
		r->state.share.alpha = settings.alpha * (FINE_ONE / ONE);
}

EXPORT_CONTROLLER(true)
