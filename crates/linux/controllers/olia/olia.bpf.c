/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * OLIA (Khalili et al., CoNEXT 2012), the opportunistic linked increases of MPTCP. For an acknowledged packet a
 * subflow gains w_r / R + delta_r / w_r with R = (sum_s w_s tau_r / tau_s)^2; delta_r moves windows from M, the paths with
 * the largest ones, to B, those that carry most between losses. crates/control/src/olia has the formulas and
 * rulings; README.md says what the kernel makes of them. linux.h has the arithmetic of Linux's module.
 *
 * Both terms are exact to 2^-40 packets and 2^-26 of themselves. Paths are compared exactly.
 */
#define CONTROLLER olia
#include "numbers.h"

struct parameters {
	u64 minimum_window;
	/* Best is the largest l^2 / tau, instead of the largest l / tau^2. */
	u64 l2_over_tau;
	/* Whether windows are whole packets, as in Linux's module. */
	u64 as_linux;
};

struct state {
	/* Sequence numbers: what had been acknowledged at the last two losses. */
	u64 last_loss;
	u64 last_but_one;
	/* Of linux.h: what had been acknowledged when the last acknowledgement outside recovery came. */
	u64 acked;
	/* Growth with one active subflow, in acknowledgements. */
	u32 counter;
	/* Growth with several, in 1024ths of a packet. */
	s32 steps;
};

struct shared {};

#include "scaled_windows.h"

SETTINGS = { .minimum_window = 2 };

/*
 * l: the larger of the packets acknowledged between the last two losses and those since the last, of a subflow with so
 * much acknowledged. The kernel counts bytes.
 */
static __always_inline u64 between_losses(const struct subflow *s, u64 acked)
{
	const struct state *state = &s->state;
	u64 since = acked - least(state->last_loss, acked);

	return larger(since, state->last_loss - state->last_but_one) / larger(s->segment, 1);
}

/* A loss with nothing acknowledged since the last is the same as that. */
static __always_inline void remember_loss(struct state *state, u64 acked)
{
	if (acked <= state->last_loss)
		return;
	state->last_but_one = state->last_loss;
	state->last_loss = acked;
}

#include "linux.h"

static __always_inline bool responds_to_marks(void)
{
	return false;
}

/* By what a path is best, l / tau^2 or l^2 / tau, as a fraction: equal paths must compare equal. */
struct merit {
	u64 numerator;
	u64 denominator;
};

static __always_inline struct merit merit_of(const struct subflow *s)
{
	/* Its square fits 64 bits. */
	u64 l = least(between_losses(s, s->acked), ~0U), tau = s->srtt;
	struct merit merit = {
		.numerator = settings.l2_over_tau ? l * l : l,
		.denominator = settings.l2_over_tau ? tau : tau * tau,
	};

	return merit;
}

/* Whether a subflow's merit is the fraction. */
static __always_inline bool has_merit(const struct subflow *s, u64 numerator, u64 denominator)
{
	struct merit merit = merit_of(s);

	return !compare_products(merit.numerator, denominator, numerator, merit.denominator);
}

/* |M|, by the largest window, in FINE: what is taken from it is less than the units of windows where they are large. */
ONCE u32 largest_windows(const struct connection *connection, u64 largest)
{
	const struct subflow *s;
	u32 count = 0;

	if (!connection)
		return 0;
	for_each_active(connection, s)
		if (has_rtt(s) && fine_window(s) == largest)
			count++;
	return count;
}

/* |B \ M|, by the largest window and the best fraction. */
ONCE u32 best_without_largest_window(const struct connection *connection, u64 largest, u64 numerator,
				     u64 denominator)
{
	const struct subflow *s;
	u32 count = 0;

	if (!connection)
		return 0;
	for_each_active(connection, s)
		if (has_rtt(s) && fine_window(s) != largest && has_merit(s, numerator, denominator))
			count++;
	return count;
}

/* What delta moves: one packet in this many packets of the window, towards the subflow or away from it; 0 is none. */
struct delta {
	u64 of_window;
	/* u64 leaves no gap at the end, which the verifier would not let pass. */
	u64 is_negative;
};

/* delta_r with this many subflows: 1 / (m |B \ M|) for the best without the largest window, -1 / (m |M|) for M. */
static __always_inline struct delta delta_of(const struct connection *connection, const struct subflow *r,
					     u64 subflows)
{
	u64 largest = 0, numerator = 0, denominator = 1;
	struct delta delta = {};
	const struct subflow *s;
	struct merit merit;
	u32 best;

	for_each_active(connection, s) {
		if (!has_rtt(s))
			continue;
		largest = larger(largest, fine_window(s));
		merit = merit_of(s);
		if (compare_products(merit.numerator, denominator, numerator, merit.denominator) >= 0) {
			numerator = merit.numerator;
			denominator = merit.denominator;
		}
	}
	best = best_without_largest_window(connection, largest, numerator, denominator);
	if (!best)
		return delta;
	if (fine_window(r) == largest) {
		delta.is_negative = true;
		delta.of_window = subflows * largest_windows(connection, largest);
	} else if (has_merit(r, numerator, denominator)) {
		delta.of_window = subflows * best;
	}
	return delta;
}

/* Congestion avoidance with several subflows, whose windows at r's RTT sum to `total`. */
static __always_inline void move(const struct connection *connection, struct subflow *r, u64 total, u32 subflows,
				 u32 packets)
{
	struct delta delta = delta_of(connection, r, subflows);
	u64 up = one_in(packets, mul_div(total, total, r->window)), down = 0;
	/* After a timeout the window may be below its floor: that does not raise it. */
	u64 lowest = least(r->window, floor_of(r));

	if (delta.of_window && delta.is_negative)
		down = one_in(packets, delta.of_window * r->window);
	else if (delta.of_window)
		up += one_in(packets, delta.of_window * r->window);
	if (up >= down)
		grow_finely(r, up - down);
	else
		shrink_finely(r, down - up);
	r->window = larger(r->window, lowest);
	/* To shrink is no reason for slow start. */
	r->ssthresh = least(r->ssthresh, r->window);
}

static __always_inline void on_ack(struct connection *connection, struct subflow *r,
				   const struct acknowledgement *ack)
{
	struct scaled_windows rates = {};
	u32 packets, subflows;

	if (settings.as_linux) {
		linux_on_ack(connection, r, ack);
		return;
	}
	if (!lets_window_grow(ack))
		return;
	packets = slow_start(r, ack->packets, FINE);
	if (!packets)
		return;
	subflows = scale_windows(connection, r, &rates);
	if (subflows > 1)
		move(connection, r, rates.total, subflows, packets);
	else
		grow_by_one_in(r, packets, r->window);
}

static __always_inline void on_loss(struct connection *connection, struct subflow *r, enum loss loss)
{
	if (settings.as_linux) {
		linux_on_loss(r, loss);
		return;
	}
	remember_loss(&r->state, r->acked);
	respond_from(r, loss, r->window);
}

static __always_inline void on_change(struct connection *connection, struct subflow *r, enum change change)
{
	if (change != OPENED)
		return;
	r->state.acked = r->acked;
	r->state.last_loss = r->acked;
	r->state.last_but_one = r->acked;
}

EXPORT_CONTROLLER(false)
