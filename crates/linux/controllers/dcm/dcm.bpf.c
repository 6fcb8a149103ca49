/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * DCM (AMP paper, section 2): LIA's increase with DCTCP's cut on every subflow. crates/control/src/{dcm,dctcp}.rs and
 * lia/mod.rs have the formulas and rulings; README.md says what the kernel makes of them.
 */
#define CONTROLLER dcm
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

#include "linked_increase.h"

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
			grow_by_one_in(r, packets, packets_per_increment(connection, r->window));
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
