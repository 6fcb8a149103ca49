/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * How much a subflow of MPTCP takes before it can send it. MPTCP's scheduler gives a subflow data for as long as its
 * send buffer takes some, and what it has nobody else sends: when it slows down, the receiver waits for it, and the
 * other subflows, once the connection's buffer is full, with the receiver.
 */
#ifndef PATHWEAVE_UNSENT_H
#define PATHWEAVE_UNSENT_H

#include "kernel.h"

#define SOL_TCP 6
#define TCP_NOTSENT_LOWAT 25

/* A subflow takes no more data while it has two of MPTCP's pieces of 64 KB unsent. */
#define MOST_UNSENT (2U << 16)
/* What MPTCP sets for subflows: no limit. */
#define ANY_UNSENT (~0U)

static __always_inline void take_little_ahead(struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	u32 bytes = MOST_UNSENT;

	if (tp->is_mptcp && tp->notsent_lowat != MOST_UNSENT)
		bpf_setsockopt(sk, SOL_TCP, TCP_NOTSENT_LOWAT, &bytes, sizeof(bytes));
}

/* For a subflow that gets a control of the kernel's own. */
static __always_inline void take_any_amount(struct tcp_sock *tp)
{
	u32 bytes = ANY_UNSENT;

	if (tp->is_mptcp && tp->notsent_lowat == MOST_UNSENT)
		bpf_setsockopt(tp, SOL_TCP, TCP_NOTSENT_LOWAT, &bytes, sizeof(bytes));
}

#endif
