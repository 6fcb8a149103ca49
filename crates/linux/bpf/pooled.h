/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * EUTCP(gamma), the resource-pooling family of Singhal et al. (IEEE 2022): all subflows together grow as one TCP, by
 * 1 / (tau_r sum_s(w_s / tau_s)) for an acknowledged packet, and congestion takes gamma / 2 off a window.
 * crates/control/src/eutcp.rs has the formulas and rulings.
 *
 * Growth for an acknowledgement is exact to 2^-40 packets and 2^-28 of itself. With one subflow the sum is its window
 * exactly.
 */
#ifndef PATHWEAVE_POOLED_H
#define PATHWEAVE_POOLED_H

#include "once_per_round.h"

/* Subflows that have a gamma of their own; the last is also that of subflows with larger numbers. */
#define GAMMAS 16

struct parameters {
	u64 minimum_window;
	/* Whether a marked round costs what a loss costs, and whether a timeout does. */
	u64 ecn;
	u64 timeout_is_a_loss;
	/* By the number of the subflow: gamma in FINE, gamma / 2 in ONE. */
	u64 step[GAMMAS];
	u64 cut[GAMMAS];
};

struct state {
	struct once_per_round cuts;
};

struct shared {};

#include "scaled_windows.h"

/* gamma = 1. */
#define EVERY [0 ... GAMMAS - 1]
SETTINGS = {
	.minimum_window = 2,
	.step = { EVERY = FINE },
	.cut = { EVERY = ONE / 2 },
};

static __always_inline bool responds_to_marks(void)
{
	return settings.ecn;
}

/* The place of a subflow's gamma in the tables. */
static __always_inline u32 gamma_of(const struct subflow *r)
{
	return least(r->number, GAMMAS - 1) % GAMMAS;
}

static __always_inline void on_ack(struct connection *connection, struct subflow *r,
				   const struct acknowledgement *ack)
{
	u32 packets, gamma = gamma_of(r);
	struct scaled_windows all = {};

	if (ack->marks && settings.ecn) {
		/* Nor does it grow the window (RFC 3168, section 6.1.2). */
		cut_on_mark(&r->state.cuts, r, settings.cut[gamma]);
		return;
	}
	if (!lets_window_grow(ack))
		return;
	packets = slow_start(r, ack->packets, settings.step[gamma]);
	if (!packets)
		return;
	scale_windows(connection, r, &all);
	grow_by_one_in(r, packets, all.total);
}

static __always_inline void on_loss(struct connection *connection, struct subflow *r, enum loss loss)
{
	if (settings.timeout_is_a_loss)
		loss = FAST_RETRANSMIT;
	cut_on_loss(&r->state.cuts, r, loss, settings.cut[gamma_of(r)]);
}

static __always_inline void on_change(struct connection *connection, struct subflow *r, enum change change)
{
}

EXPORT_CONTROLLER(false)

#endif
