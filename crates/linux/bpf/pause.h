/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * How a suppressed subflow falls silent. No control can stop a subflow: what MPTCP's scheduler has dealt it nobody else
 * sends. But the scheduler passes over a subflow that has no pacing rate (mptcp_subflow_get_send() in
 * net/mptcp/protocol.c), so without one a subflow sends what it has, a packet a round, and then nothing.
 *
 * A subflow that sends nothing hears nothing, and would never learn that it has been released. So TCP asks the peer
 * for an acknowledgement every second meanwhile, as it does for SO_KEEPALIVE; in_ack_event() sees the answer.
 */
#ifndef PATHWEAVE_PAUSE_H
#define PATHWEAVE_PAUSE_H

#include "unsent.h"

#define SOL_SOCKET 1
#define SO_KEEPALIVE 9
#define TCP_KEEPIDLE 4
#define TCP_KEEPINTVL 5

/* What a pause changes of a socket, to be put back. */
struct pause {
	u32 keepalive;
	u32 idle;
	u32 interval;
	u32 is_on;
};

static __always_inline u32 option_of(void *sk, int level, int option)
{
	u32 value = 0;

	bpf_getsockopt(sk, level, option, &value, sizeof(value));
	return value;
}

static __always_inline void set_option(void *sk, int level, int option, u32 value)
{
	bpf_setsockopt(sk, level, option, &value, sizeof(value));
}

static __always_inline void pause(struct sock *sk, struct pause *pause)
{
	sk->sk_pacing_rate = 0;
	if (pause->is_on)
		return;
	pause->keepalive = option_of(sk, SOL_SOCKET, SO_KEEPALIVE);
	pause->idle = option_of(sk, SOL_TCP, TCP_KEEPIDLE);
	pause->interval = option_of(sk, SOL_TCP, TCP_KEEPINTVL);
	pause->is_on = true;
	set_option(sk, SOL_TCP, TCP_KEEPIDLE, 1);
	set_option(sk, SOL_TCP, TCP_KEEPINTVL, 1);
	set_option(sk, SOL_SOCKET, SO_KEEPALIVE, 1);
}

/* The socket's options are again what they were. */
static __always_inline void put_back(void *sk, const struct pause *pause)
{
	set_option(sk, SOL_SOCKET, SO_KEEPALIVE, pause->keepalive);
	set_option(sk, SOL_TCP, TCP_KEEPIDLE, pause->idle);
	set_option(sk, SOL_TCP, TCP_KEEPINTVL, pause->interval);
}

/* Its caller gives the socket a pacing rate. */
static __always_inline void resume(struct sock *sk, struct pause *pause)
{
	if (!pause->is_on)
		return;
	pause->is_on = false;
	put_back(sk, pause);
}

#endif
