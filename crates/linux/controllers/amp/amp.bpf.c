/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * AMP (IFIP Networking 2019, algorithm 1): all subflows grow together, marks cut by a constant share, and one subflow
 * sends alone while all are stuck at the minimum window. crates/control/src/{amp,suppression}.rs have the formulas and
 * rulings; README.md says what the kernel makes of them.
 *
 * Growth is exact to 2^-40 packets and 2^-28 of itself; a cut is within 2^-30 of the window.
 *
 * The first subflow releases the others, so it writes their windows, each with one store. What a subflow that is cut
 * or timed out at that moment writes may be lost, or overwrite it: the window is the minimum or less in either case.
 */
#define CONTROLLER amp
#define SUPPRESSES
#include "once_per_round.h"

struct parameters {
	u64 minimum_window;
	/* 1 / beta, a share. */
	u64 cut;
	u64 suppression;
	/* Rounds until subflows are suppressed, and released. */
	u64 gamma;
	u64 tau;
};

struct state {
	struct once_per_round cuts;
	/* What had been sent at the last timeout. */
	u64 timeout;
	bool has_timed_out;
};

struct shared {
	/* The first subflow's round: what was sent when it began, and whether a mark has come since. */
	u64 round;
	/* Rounds in a row that have counted towards suppression, or while it is on towards release. */
	u32 rounds;
	bool marked;
	bool is_on;
};

#include "connection.h"

SETTINGS = { .minimum_window = 2, .cut = ONE / 4, .suppression = 1, .gamma = 2, .tau = 8 };

static __always_inline bool responds_to_marks(void)
{
	return true;
}

/* The subflow that is never suppressed. */
static __always_inline bool is_first(const struct subflow *r)
{
	return r->number == 0;
}

static __always_inline bool is_recovering(const struct subflow *r)
{
	return r->in_recovery || (r->state.has_timed_out && !round_is_over(r, r->state.timeout));
}

/* Whether all windows are at the minimum though nothing is being recovered. */
static __always_inline bool is_stuck(const struct connection *connection)
{
	const struct subflow *s;
	bool has_first = false;

	for_each_active(connection, s) {
		if (s->window < floor_of(s) || s->window >= floor_of(s) + PACKET || is_recovering(s))
			return false;
		has_first |= is_first(s);
	}
	return has_first && count_active(connection) >= 2;
}

/* Whether the first subflow's round was free of congestion. */
static __always_inline bool is_clear(const struct connection *connection, const struct subflow *first)
{
	return !connection->shared.marked && first->window >= floor_of(first) + PACKET &&
	       !is_recovering(first);
}

/* A window of one packet after timeouts stays: slow start is to begin there. */
static __always_inline void release(struct subflow *s)
{
	s->suppressed = false;
	if (!is_active(s))
		return;
	s->window = floor_of(s);
	s->ssthresh = floor_of(s);
}

/* Suppresses all subflows but the first, or releases them. */
static __always_inline void suppress(struct connection *connection, bool on)
{
	struct subflow *s;

	connection->shared.is_on = on;
	connection->shared.rounds = 0;
	for_each_open(connection, s) {
		if (is_first(s))
			continue;
		if (on)
			s->suppressed = true;
		else
			release(s);
	}
}

static __always_inline void end_round(struct connection *connection, const struct subflow *first)
{
	struct shared *shared = &connection->shared;
	bool counts = shared->is_on ? is_clear(connection, first) : is_stuck(connection);

	shared->rounds = counts ? shared->rounds + 1 : 0;
	if (shared->rounds >= (shared->is_on ? settings.tau : settings.gamma))
		suppress(connection, !shared->is_on);
	shared->marked = false;
}

/* w_total, of the active subflows that are not suppressed. */
static __always_inline u64 total_window(const struct connection *connection)
{
	const struct subflow *s;
	u64 total = 0;

	for_each_active(connection, s)
		if (!s->suppressed)
			total += s->window;
	return total;
}

static __always_inline void respond(struct connection *connection, struct subflow *r,
				    const struct acknowledgement *ack)
{
	u32 packets;

	if (ack->marks && cut_on_mark(&r->state.cuts, r, settings.cut))
		return;
	if (!lets_window_grow(ack) || !is_active(r) || r->suppressed)
		return;
	packets = slow_start(r, ack->packets, FINE);
	if (packets)
		grow_by_one_in(r, packets, total_window(connection));
}

static __always_inline void on_ack(struct connection *connection, struct subflow *r,
				   const struct acknowledgement *ack)
{
	/* It opened while the others were suppressed, or released. */
	if (!is_first(r) && r->suppressed != connection->shared.is_on) {
		if (connection->shared.is_on)
			r->suppressed = true;
		else
			release(r);
	}
	respond(connection, r, ack);
	if (!settings.suppression || !is_first(r))
		return;
	connection->shared.marked |= ack->marks > 0;
	/* A duplicate acknowledgement ends no round: when nothing is in flight it would end one. */
	if (ack->packets && round_ends(r, &connection->shared.round))
		end_round(connection, r);
}

static __always_inline void on_loss(struct connection *connection, struct subflow *r, enum loss loss)
{
	cut_on_loss(&r->state.cuts, r, loss, ONE / 2);
	/* The row itself tells of a fast recovery. */
	if (loss == TIMEOUT) {
		r->state.has_timed_out = true;
		r->state.timeout = r->sent;
	}
}

static __always_inline void on_change(struct connection *connection, struct subflow *r, enum change change)
{
	struct shared *shared = &connection->shared;

	if (!is_first(r)) {
		if (change == OPENED)
			r->suppressed = shared->is_on;
		return;
	}
	/* The connection would depend on a path that carries nothing. */
	if ((change == CLOSED || change == FAILED) && shared->is_on)
		suppress(connection, false);
	/* Its rounds begin again. */
	shared->rounds = 0;
	shared->round = 0;
	shared->marked = false;
}

EXPORT_CONTROLLER(true)
