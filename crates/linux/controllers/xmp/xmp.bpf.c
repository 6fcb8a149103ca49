/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * XMP (Cao et al., CoNEXT 2013): BOS on every subflow, coupled by TraSh. crates/control/src/{bos,xmp}.rs have
 * the formulas and rulings; README.md says what the kernel makes of them.
 */
#define CONTROLLER xmp
#include "numbers.h"

struct parameters {
	u64 minimum_window;
	/* A marked round costs 1 / beta of the window. */
	u64 beta;
	/* Windows and cuts in whole packets, as the published kernel code has them. */
	u64 integers;
};

struct state {
	/* What was sent when the round began. */
	u64 round;
	/* Fractions of a packet that rounds have added. */
	u64 adder;
	/* The rate of the last round, in PACKETs << 20 for each eighth of a microsecond; 0 before its end. */
	u64 rate;
	/* REDUCED until this has been acknowledged; what a loss would halve. */
	u64 cwr_seq;
	u64 window_before;
	bool reduced;
};

struct shared {};

#include "connection.h"

SETTINGS = { .minimum_window = 2, .beta = 4 };

static __always_inline bool responds_to_marks(void)
{
	return true;
}

static __always_inline u64 whole(u64 window)
{
	return settings.integers ? window & ~(PACKET - 1) : window;
}

static __always_inline u64 rate_of(const struct subflow *r)
{
	return has_rtt(r) ? mul_div(r->window, 1 << 20, r->srtt) : 0;
}

/* TraSh: w_r / (y T), as (rate_r / y) (tau_r / T), which is exactly 1 on one path. */
static __always_inline u64 delta(const struct connection *connection, const struct subflow *r)
{
	const struct subflow *s;
	u64 total = 0;
	u32 shortest = ~0U;

	for_each_active(connection, s) {
		if (!has_rtt(s))
			continue;
		total += s->state.rate ? s->state.rate : rate_of(s);
		shortest = least(shortest, s->srtt);
	}
	if (total == 0)
		return PACKET;
	/* A small share of the rates of a long path keeps its bits. */
	return mul_div(mul_div(PACKET << 20, rate_of(r), total), r->srtt, shortest) >> 20;
}

static __always_inline void reduce(struct subflow *r)
{
	r->state.reduced = true;
	r->state.cwr_seq = r->sent;
	r->state.window_before = r->window;
	if (!in_slow_start(r))
		r->window -= least(larger(whole(r->window / settings.beta), PACKET), r->window);
	r->window = larger(r->window, floor_of(r));
	r->ssthresh = larger(r->window - PACKET, PACKET);
	r->cuts++;
}

static __always_inline void on_ack(struct connection *connection, struct subflow *r,
				   const struct acknowledgement *ack)
{
	if (ack->marks && !r->state.reduced)
		reduce(r);
	if (round_ends(r, &r->state.round)) {
		r->state.rate = rate_of(r);
		if (!r->state.reduced && !in_slow_start(r) && lets_window_grow(ack)) {
			r->state.adder += delta(connection, r);
			grow(r, r->state.adder & ~(PACKET - 1));
			r->state.adder &= PACKET - 1;
		}
	}
	if (!r->state.reduced) {
		if (lets_window_grow(ack))
			slow_start(r, ack->packets, FINE);
	} else if (r->acked >= r->state.cwr_seq) {
		r->state.reduced = false;
	}
}

static __always_inline void on_loss(struct connection *connection, struct subflow *r, enum loss loss)
{
	u64 window = r->state.reduced ? larger(r->window, r->state.window_before) : r->window;

	respond_from(r, loss, window);
	r->window = whole(r->window);
	r->ssthresh = whole(r->ssthresh);
	/* In state REDUCED there would be no slow start after a timeout. */
	r->state.reduced = loss == FAST_RETRANSMIT;
	r->state.cwr_seq = r->sent;
	r->state.window_before = r->window;
	/* No round may end soon: until then its siblings would count what the path no longer carries. */
	r->state.rate = rate_of(r);
}

static __always_inline void on_change(struct connection *connection, struct subflow *r, enum change change)
{
}

EXPORT_CONTROLLER(true)
