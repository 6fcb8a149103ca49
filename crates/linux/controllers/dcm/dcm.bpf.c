/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * DCM (AMP paper, section 2): LIA's increase with DCTCP's cut on every subflow. crates/control/src/{dcm,dctcp}.rs and
 * lia/mod.rs have the formulas and rulings; README.md says what the kernel makes of them.
 *
 * B is within 2^-19 of itself: each of 16 terms of its sum loses less than one unit, where the sum is at least a packet.
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

#include "connection.h"

SETTINGS = { .minimum_window = 2, .g = ONE / 16, .alpha = ONE };

static __always_inline bool responds_to_marks(void)
{
	return true;
}

/*
 * How many packets must be acknowledged for a subflow to gain one: LIA's max(B, w_r), in PACKETs. With b the subflow of
 * the largest w / tau^2, B = (sum_s(w_s tau_b / tau_s))^2 / w_b, where no term is above sqrt(w_s w_b).
 * Subflows without an RTT are left out.
 */
ONCE u64 packets_per_increment(const struct connection *connection, u64 own_window)
{
	const struct subflow *s;
	u64 window = 0, total = 0;
	u32 srtt = 0;

	if (!connection || established(connection) <= 1)
		return own_window;
	for_each_subflow(connection, s) {
		if (!has_rtt(s))
			continue;
		/* w_s / tau_s^2 > w_b / tau_b^2 */
		if (!srtt || mul_div(s->window, srtt, s->srtt) > mul_div(window, s->srtt, srtt)) {
			window = s->window;
			srtt = s->srtt;
		}
	}
	if (!srtt)
		return own_window;
	for_each_subflow(connection, s)
		if (has_rtt(s))
			total += mul_div(s->window, srtt, s->srtt);
	return larger(mul_div(total, total, window), own_window);
}

static __always_inline void on_ack(struct connection *connection, struct subflow *r,
				   const struct acknowledgement *ack)
{
	struct marked_share *share = &r->state.share;
	u32 packets;

	count_marks(share, ack->packets, ack->marks);
	if (round_ends(r, &share->round))
		end_marked_round(share, settings.g);
	if (ack->marks && cut_on_mark(&r->state.cuts, r, half_alpha(share)))
		return;
	if (!lets_window_grow(ack))
		return;
	packets = slow_start(r, ack->packets, PACKET);
	if (packets)
		grow_by_one_in(r, packets, packets_per_increment(connection, r->window));
}

static __always_inline void on_loss(struct connection *connection, struct subflow *r, enum loss loss)
{
	cut_on_loss(&r->state.cuts, r, loss, ONE / 2);
}

static __always_inline void on_opened(struct connection *connection, struct subflow *r)
{
	r->state.share.alpha = settings.alpha * (FINE_ONE / ONE);
}

static __always_inline void on_closed(struct connection *connection, struct subflow *r)
{
}

EXPORT_CONTROLLER(true)
