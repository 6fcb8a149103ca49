/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What a controller remembers of a socket by itself. The walker over sockets reads it as well. */
#ifndef PATHWEAVE_PRIVATE_H
#define PATHWEAVE_PRIVATE_H

#include "pause.h"

/*
 * What a socket keeps by itself, in icsk_ca_priv. The walker over sockets also meets sockets that keep the program of
 * another version: where what it reads changes, and stands first here, LAYOUT of hooks.h has to be raised.
 */
struct private {
	/* sockets.bpf.c ends it when a socket is given another control. */
	struct pause pause;
	/* Of the program that this socket has: `about` of hooks.h. */
	u32 generation;
	bool has_row;
	/* Of its connection in the map; 0 before init(), when a handshake's events come already, and after release(). */
	u64 key;
	u32 place;
	/* The window that was last given to the kernel: if it has another now, the kernel has changed it. */
	u32 given;
	u32 delivered_ce;
	/* What the last acknowledgement left unacknowledged begins here. */
	u32 snd_una;
	/* Receiver: what DCTCP's (RFC 8257, section 3.2) remembers. */
	u32 prior_rcv_nxt;
	/* ssthresh before the last loss, for an undo. */
	u64 prior_ssthresh;
	u32 reno_count;
	bool asked_for_ssthresh;
	bool ce_state;
};

_Static_assert(sizeof(struct private) <= sizeof(((struct inet_connection_sock *)0)->icsk_ca_priv),
	       "fits into icsk_ca_priv");

#endif
