/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * WUTCP(omega), the weighted family of Singhal et al. (IEEE 2022): each subflow is a TCP of weight omega, whatever
 * the others do. crates/control/src/wutcp.rs has the formulas and rulings.
 *
 * omega depends on the number of active subflows alone, or on the subflow's number alone, and slow start's step and
 * cut on omega alone (EWTCP's are a TCP's): the loader works out a table of each. Growth for an acknowledgement is exact to 2^-40 packets and 2^-28 of itself, but
 * for omega's own rounding: it is a multiple of 2^-30, so 0.00001 is off by 0.004 %.
 */
#ifndef PATHWEAVE_WEIGHTED_H
#define PATHWEAVE_WEIGHTED_H

#include "once_per_round.h"

/* Numbers of subflows that have a weight: SUBFLOWS. */
#define WEIGHTS 16

struct parameters {
	u64 minimum_window;
	/* Whether a marked round costs what a loss costs. */
	u64 ecn;
	/* Whether a timeout does. */
	u64 timeout_is_a_loss;
	/* Whether the tables go by the subflow's number, from 0, in place of the number of subflows, from 1. */
	u64 by_subflow;
	/* In ONE. */
	u64 omega[WEIGHTS];
	/* What slow start adds for an acknowledged packet, in FINE, and the share that congestion costs there. */
	u64 step[WEIGHTS];
	u64 slow_start_cut[WEIGHTS];
};

struct state {
	struct once_per_round cuts;
};

struct shared {};

#include "connection.h"

_Static_assert(WEIGHTS == SUBFLOWS, "every number of subflows has its weight");

/* A TCP, whatever the number of subflows. */
#define EVERY [0 ... WEIGHTS - 1]
SETTINGS = {
	.minimum_window = 2,
	.omega = { EVERY = ONE },
	.step = { EVERY = FINE },
	.slow_start_cut = { EVERY = ONE / 2 },
};

static __always_inline bool responds_to_marks(void)
{
	return settings.ecn;
}

/* The place of a subflow's weight in the tables. */
static __always_inline u32 weight_of(const struct connection *connection, const struct subflow *r)
{
	if (settings.by_subflow)
		return least(r->number, WEIGHTS - 1) % WEIGHTS;
	return (larger(count_active(connection), 1) - 1) % WEIGHTS;
}

static __always_inline u64 cut_of(u32 weight, const struct subflow *r)
{
	return in_slow_start(r) ? settings.slow_start_cut[weight] : ONE / 2;
}

static __always_inline void on_ack(struct connection *connection, struct subflow *r,
				   const struct acknowledgement *ack)
{
	u32 packets, weight = weight_of(connection, r);

	if (ack->marks && settings.ecn) {
		/* Nor does it grow the window (RFC 3168, section 6.1.2). */
		cut_on_mark(&r->state.cuts, r, cut_of(weight, r));
		return;
	}
	if (!lets_window_grow(ack))
		return;
	packets = slow_start(r, ack->packets, settings.step[weight]);
	/* ONE and 2^34 make FINE in PACKETs. */
	grow_finely(r, mul_div(packets * settings.omega[weight], 1ULL << 34, r->window));
}

static __always_inline void on_loss(struct connection *connection, struct subflow *r, enum loss loss)
{
	if (settings.timeout_is_a_loss)
		loss = FAST_RETRANSMIT;
	cut_on_loss(&r->state.cuts, r, loss, cut_of(weight_of(connection, r), r));
}

static __always_inline void on_change(struct connection *connection, struct subflow *r, enum change change)
{
}

EXPORT_CONTROLLER(false)

#endif
