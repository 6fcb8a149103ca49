/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Rates as one subflow sees them: v_s = w_s tau_r / tau_s is the window that gives subflow r the rate of s. It is exactly
 * w_s where RTTs are equal, and within 2^-28 of itself elsewhere.
 *
 * Subflows without an RTT are left out.
 */
#ifndef PATHWEAVE_SCALED_WINDOWS_H
#define PATHWEAVE_SCALED_WINDOWS_H

#include "connection.h"

/* With one of this, which no RTTs lead to, nothing grows; the sum of all fits 64 bits. */
#define ENORMOUS (1ULL << 59)

/* Of all subflows, PACKET is one. */
struct scaled_windows {
	u64 total;
	u64 largest;
};

/* Finds them, and returns how many subflows they are. One that is not among them is alone. */
ONCE u32 scale_windows(const struct connection *connection, const struct subflow *r, struct scaled_windows *all)
{
	u64 total = 0, largest = 0, scaled;
	const struct subflow *s;
	u32 subflows = 0;

	if (!connection || !r || !all)
		return 0;
	if (!is_active(r) || !has_rtt(r)) {
		all->total = r->window;
		all->largest = r->window;
		return 1;
	}
	for_each_active(connection, s) {
		if (!has_rtt(s))
			continue;
		scaled = least(mul_div(s->window, r->srtt, s->srtt), ENORMOUS);
		total += scaled;
		largest = larger(largest, scaled);
		subflows++;
	}
	all->total = total;
	all->largest = largest;
	return subflows;
}

#endif
