/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * LIA's increase (RFC 6356) in real numbers, which DCM has too: one packet for max(B, w_r) acknowledged ones.
 * crates/control/src/lia/mod.rs has the formulas and rulings.
 *
 * B is within 2^-19 of itself: each of 16 terms of its sum loses less than one unit, where the sum is at least a packet.
 */
#ifndef PATHWEAVE_LINKED_INCREASE_H
#define PATHWEAVE_LINKED_INCREASE_H

#include "connection.h"

/*
 * How many packets must be acknowledged for a subflow of this window to gain one: max(B, w_r), in PACKETs. With b the
 * subflow of the largest w / tau^2, B = (sum_s(w_s tau_b / tau_s))^2 / w_b, where no term is above sqrt(w_s w_b).
 * Subflows without an RTT are left out.
 */
ONCE u64 packets_per_increment(const struct connection *connection, u64 own_window)
{
	const struct subflow *s;
	u64 window = 0, total = 0;
	u32 srtt = 0;

	if (!connection || count_active(connection) <= 1)
		return own_window;
	for_each_active(connection, s) {
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
	for_each_active(connection, s)
		if (has_rtt(s))
			total += mul_div(s->window, srtt, s->srtt);
	return larger(mul_div(total, total, window), own_window);
}

#endif
