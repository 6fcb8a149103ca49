/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * FCC, the sender's half of FMPTCP (IEEE Transactions on Communications 72(1), 2024, section V-A): each window moves by
 * its share of a fair rate less its share of marks. crates/control/src/{fcc,marked_rounds}.rs have the formulas and
 * rulings; README.md says what the kernel makes of them.
 *
 * What an acknowledged packet changes of w_r, (alpha_r - beta_r) tau_r^2 wbar / (T^2 w_r), is computed as
 *
 *	(push - pull) (tau_r / T) (wbar / w_r), push = alpha_total T / S, pull = beta_r tau_r / T
 *
 * with S = sum_s(w_s (T / tau_s)^2): no quotient is small that is multiplied again, and what exceeds 64 bits is more
 * than the largest window. Push and pull are in 2^-38. Push is exact to 2^-17 of itself with windows of 10^6 packets
 * together; beta_r stays within 2^-40 / eta of what real numbers make it.
 */
#define CONTROLLER fcc
#include "marked_share.h"
#include "once_per_round.h"

struct parameters {
	u64 minimum_window;
	/* In 2^-34 / s; 0 is 1 / base RTT. */
	u64 alpha_total;
	/* A share. */
	u64 eta;
	/* Packets, from 1 to 64. */
	u64 w_min;
};

struct state {
	struct once_per_round cuts;
	/* Of FINE_ONE. */
	u64 beta;
	/* What was sent when the round began, and what has been acknowledged and marked since. */
	u64 round;
	u32 packets;
	u32 marks;
	/* One bit for each of the last 64 acknowledged packets, the latest lowest: whether marked. */
	u64 latest;
	/* Marks that were echoed before the packets that they count for. */
	u32 early;
};

struct shared {};

#include "connection.h"

SETTINGS = { .minimum_window = 2, .eta = ONE / 16, .w_min = 10 };

/* One, of alpha_total T, and one of push and pull. */
#define COARSE (1ULL << 34)
#define STEP (16 * COARSE)
/* Eighths of a microsecond in a second. */
#define SECOND 8000000ULL

/* What the windows' changes take from all subflows that are active and have an RTT. */
struct totals {
	/* Of the windows, and S. */
	u64 windows;
	u64 weighted;
	u32 subflows;
	/* T, in eighths of a microsecond. */
	u32 shortest;
	/* In microseconds; u64 leaves no gap at the end, which the verifier would not let pass. */
	u64 base_rtt;
};

static __always_inline bool responds_to_marks(void)
{
	return true;
}

/* The lowest `count` bits. */
static __always_inline u64 ones(u32 count)
{
	return count >= 64 ? ~0ULL : (1ULL << count) - 1;
}

static __always_inline u32 count_ones(u64 bits)
{
	bits -= bits >> 1 & 0x5555555555555555ULL;
	bits = (bits & 0x3333333333333333ULL) + (bits >> 2 & 0x3333333333333333ULL);
	bits = (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0fULL;
	return bits * 0x0101010101010101ULL >> 56;
}

/*
 * Counts an acknowledgement; if it ends a round, brings beta up to date with the marked share of the last
 * max(w_min, round) packets, of which those that were never sent count as unmarked.
 */
static __always_inline void count(struct subflow *r, const struct acknowledgement *ack)
{
	struct state *state = &r->state;
	u32 marks = least(state->early + ack->marks, ack->packets);
	u64 share;

	state->early = state->early + ack->marks - marks;
	state->packets += ack->packets;
	state->marks += marks;
	state->latest = (ack->packets >= 64 ? 0 : state->latest << ack->packets) | ones(marks);
	/* A duplicate acknowledgement ends no round: when nothing is in flight it would end one. */
	if (!ack->packets || !round_ends(r, &state->round))
		return;
	if (state->packets >= settings.w_min)
		share = mul_div(state->marks, FINE_ONE, state->packets);
	else
		share = mul_div(count_ones(state->latest & ones(settings.w_min)), FINE_ONE, settings.w_min);
	state->beta = averaged(state->beta, share, settings.eta);
	state->packets = 0;
	state->marks = 0;
}

/* Returns of how many subflows. */
ONCE u32 sum_up(const struct connection *connection, struct totals *totals)
{
	const struct subflow *s;
	u64 windows = 0, weighted = 0;
	u32 shortest = ~0U, base_rtt = ~0U, subflows = 0;

	if (!connection || !totals)
		return 0;
	for_each_active(connection, s) {
		if (!has_rtt(s))
			continue;
		subflows++;
		windows += s->window;
		shortest = least(shortest, s->srtt);
		base_rtt = least(base_rtt, s->min_rtt);
	}
	for_each_active(connection, s)
		if (has_rtt(s))
			weighted += mul_div(mul_div(s->window, shortest, s->srtt), shortest, s->srtt);
	totals->subflows = subflows;
	totals->windows = windows;
	totals->weighted = weighted;
	totals->shortest = shortest;
	totals->base_rtt = base_rtt;
	return subflows;
}

static __always_inline u64 push_of(const struct totals *totals)
{
	u64 push;

	if (settings.alpha_total)
		push = mul_div(settings.alpha_total, totals->shortest, SECOND);
	else
		push = mul_div(COARSE, totals->shortest, 8 * larger(totals->base_rtt, 1));
	return mul_div(push, STEP / COARSE * PACKET, totals->weighted);
}

static __always_inline u64 pull_on(const struct totals *totals, const struct subflow *r)
{
	return mul_div(r->state.beta, r->srtt, totals->shortest) / (FINE_ONE / STEP);
}

/* What `packets` change of the window, for this much of push or pull: in FINE. */
static __always_inline u64 change_by(const struct totals *totals, const struct subflow *r, u64 force,
				     u32 packets)
{
	u64 mean = totals->windows / totals->subflows;
	u64 change = mul_div(mul_div(force, mean, r->window), r->srtt, totals->shortest);

	return mul_div(change, packets * (FINE / STEP), 1);
}

static __always_inline void on_ack(struct connection *connection, struct subflow *r,
				   const struct acknowledgement *ack)
{
	bool was_in_slow_start;
	u32 packets = ack->packets;
	struct totals totals = {};
	u64 push, pull;

	count(r, ack);
	if (r->state.beta >= FINE_ONE && cut_on_mark(&r->state.cuts, r, ONE / 2))
		return;
	if (r->in_recovery)
		return;
	was_in_slow_start = in_slow_start(r);
	if (lets_window_grow(ack))
		packets = slow_start(r, packets, FINE);
	if (!has_rtt(r) || !sum_up(connection, &totals))
		return;
	push = push_of(&totals);
	pull = pull_on(&totals, r);
	if (was_in_slow_start && pull > push)
		r->ssthresh = larger(r->window / 2, floor_of(r));
	if (in_slow_start(r))
		return;
	if (pull > push)
		shrink_finely(r, change_by(&totals, r, pull - push, packets));
	else if (lets_window_grow(ack))
		grow_finely(r, change_by(&totals, r, push - pull, packets));
	else
		return;
	r->window = larger(r->window, floor_of(r));
}

static __always_inline void on_loss(struct connection *connection, struct subflow *r, enum loss loss)
{
	cut_on_loss(&r->state.cuts, r, loss, ONE / 2);
}

static __always_inline void on_change(struct connection *connection, struct subflow *r, enum change change)
{
}

EXPORT_CONTROLLER(true)
