/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * OLIA in the integer arithmetic of Linux's module, `variant = "linux"`: crates/control/src/olia/mod.rs has the formulas.
 *
 * Windows are whole packets and every number is that of the simulator's: products keep their lowest 64 bits, fractions
 * of a packet are 1024ths.
 */
#ifndef PATHWEAVE_OLIA_LINUX_H
#define PATHWEAVE_OLIA_LINUX_H

#include "whole_packets.h"

#define SCALE 10
/* The steps at which a packet is full. */
#define FULL ((1 << SCALE) - 1)

/* A path as the sets see it. */
struct member {
	u64 window;
	/* l / tau^2 or l^2 / tau, as a fraction: equal paths must compare equal. */
	u64 numerator;
	u64 denominator;
};

static __always_inline struct member member_of(const struct subflow *s)
{
	u64 l = between_losses(s, s->state.acked), tau = s->srtt;
	struct member member = {
		.window = s->in_recovery ? whole_ssthresh(s) : cwnd(s),
		.numerator = settings.l2_over_tau ? l * l : l,
		.denominator = settings.l2_over_tau ? tau : tau * tau,
	};

	return member;
}

/* (window / rate + sign / (n window)) in 1024ths, of a rate with twice that scale. */
static __always_inline s32 step(u64 window, u64 rate, s32 sign, u64 n)
{
	u64 linked = n * (window << SCALE) * (window << SCALE);
	u64 divisor = larger(n * window * rate, 1);

	/* What is added to the counter are the quotient's lowest 32 bits. */
	if (sign < 0 && linked < rate)
		return -(u32)(((rate - linked) << SCALE) / divisor);
	if (sign < 0)
		linked -= rate;
	else if (sign > 0)
		linked += rate;
	return (u32)((linked << SCALE) / divisor);
}

static __always_inline bool is_best(const struct member *member, u64 numerator, u64 denominator)
{
	return member->numerator * denominator == numerator * member->denominator;
}

/* |M|, by the largest window. */
ONCE u32 widest(const struct connection *connection, u64 largest)
{
	const struct subflow *s;
	u32 count = 0;

	if (!connection)
		return 0;
	for_each_active(connection, s)
		if (has_rtt(s) && member_of(s).window == largest)
			count++;
	return count;
}

/* |B \ M|, by the largest window and the best fraction. */
ONCE u32 best_not_widest(const struct connection *connection, u64 largest, u64 numerator, u64 denominator)
{
	const struct subflow *s;
	struct member member;
	u32 count = 0;

	if (!connection)
		return 0;
	for_each_active(connection, s) {
		if (!has_rtt(s))
			continue;
		member = member_of(s);
		if (member.window != largest && is_best(&member, numerator, denominator))
			count++;
	}
	return count;
}

/* What an acknowledgement adds to a subflow's steps. */
static __always_inline s32 step_of(const struct connection *connection, const struct subflow *r)
{
	u64 root = 1, largest = 0, numerator = 0, denominator = 1;
	const struct subflow *s;
	struct member member;
	u32 share, n = 1;
	s32 sign = 0;

	for_each_active(connection, s) {
		if (!has_rtt(s))
			continue;
		member = member_of(s);
		largest = larger(largest, member.window);
		if (member.numerator * denominator >= numerator * member.denominator) {
			numerator = member.numerator;
			denominator = member.denominator;
		}
		root += (member.window << SCALE) * r->srtt / s->srtt;
	}
	share = best_not_widest(connection, largest, numerator, denominator);
	member = member_of(r);
	if (share && member.window == largest) {
		sign = -1;
		n = widest(connection, largest) * count_active(connection);
	} else if (share && is_best(&member, numerator, denominator)) {
		sign = 1;
		n = share * count_active(connection);
	}
	return step(cwnd(r), root * root, sign, n);
}

static __always_inline void linux_on_ack(struct connection *connection, struct subflow *r,
					 const struct acknowledgement *ack)
{
	u64 window;

	if (ack->recovery || ack->packets == 0)
		return;
	r->state.acked = r->acked;
	if (!ack->window_limited || slow_start_by(r, ack->packets))
		return;
	if (is_alone(connection) || !has_rtt(r)) {
		count(&r->state.counter, r, cwnd(r));
		return;
	}
	window = cwnd(r) * PACKET;
	/* Without signed overflow. */
	r->state.steps = (u32)r->state.steps + (u32)step_of(connection, r);
	if (r->state.steps >= FULL) {
		r->state.steps = 0;
		r->window = least(window + PACKET, MOST);
	} else if (r->state.steps <= -FULL) {
		r->state.steps = 0;
		r->window = least(larger(window - PACKET, floor_of(r)), window);
	}
}

static __always_inline void linux_on_loss(struct subflow *r, enum loss loss)
{
	remember_loss(&r->state, r->state.acked);
	leave_after(loss, r, &r->state.counter, half(r));
}

#endif
