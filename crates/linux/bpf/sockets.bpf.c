/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Walks the TCP sockets of a network namespace for those that use a congestion control. */
#include "pause.h"
#include "private.h"
#include "unsent.h"

char pathweave_license[] SEC("license") = "Dual BSD/GPL";

#define TCP_CONGESTION 13
#define NAME 16
#define TCP_LISTEN 10

struct bpf_iter_meta {
	struct seq_file *seq;
} __attribute__((preserve_access_index));

struct bpf_iter__tcp {
	struct bpf_iter_meta *meta;
	struct sock_common *sk_common;
} __attribute__((preserve_access_index));

/*
 * The control that is looked for, and the one to give its sockets instead; empty for none. With `chosen` only listeners
 * whose programs chose the control get it.
 */
const volatile struct {
	char name[NAME];
	char instead[NAME];
	u8 chosen;
} settings SEC(".rodata.settings") = {};

struct inet_connection_sock___chosen {
	u8 icsk_ca_setsockopt : 1;
} __attribute__((preserve_access_index));

/* One socket, as the loader reads it: crates/linux/src/kernel/sockets.rs. */
struct found {
	u32 local[4];
	u32 remote[4];
	u16 local_port;
	u16 remote_port;
	u8 family;
	u8 state;
	u8 is_mptcp;
	/* Whether it has the other control now. */
	u8 moved;
	/* Of a subflow that found no row, the connection's key; else 0. Only of Pathweave's controls. */
	u64 without_row;
	/* Of the program that it has: `about` of hooks.h. 0 before it has told a program of the connection. */
	u32 generation;
};

/* What it accepts gets its control, and not the namespace's default. */
static __always_inline bool is_listener_that_chose(struct tcp_sock *tp)
{
	struct inet_connection_sock___chosen *icsk = (void *)tp;

	return tp->inet_conn.icsk_inet.sk.__sk_common.skc_state == TCP_LISTEN &&
	       BPF_CORE_READ_BITFIELD_PROBED(icsk, icsk_ca_setsockopt);
}

SEC("iter/tcp")
int find_sockets(struct bpf_iter__tcp *ctx)
{
	struct sock_common *common = ctx->sk_common;
	struct found found = {};
	struct private own = {};
	char name[NAME] = {}, instead[NAME] = {};
	struct tcp_sock *tp;

	if (!common)
		return 0;
	tp = bpf_skc_to_tcp_sock(common);
	if (!tp)
		return 0;
	BPF_CORE_READ_STR_INTO(&name, tp, inet_conn.icsk_ca_ops, name);
	for (int i = 0; i < NAME; i++) {
		if (name[i] != settings.name[i])
			return 0;
		if (!name[i])
			break;
	}
	found.family = common->skc_family;
	found.state = common->skc_state;
	found.is_mptcp = tp->is_mptcp;
	found.local_port = common->skc_num;
	found.remote_port = __builtin_bswap16(common->skc_dport);
	if (found.family == AF_INET6) {
		BPF_CORE_READ_INTO(&found.local, common, skc_v6_rcv_saddr.in6_u.u6_addr32);
		BPF_CORE_READ_INTO(&found.remote, common, skc_v6_daddr.in6_u.u6_addr32);
	} else {
		found.local[0] = common->skc_rcv_saddr;
		found.remote[0] = common->skc_daddr;
	}
	bpf_probe_read_kernel(&own, sizeof(own), tp->inet_conn.icsk_ca_priv);
	found.generation = own.generation;
	if (!own.has_row)
		found.without_row = own.key;
	if (settings.instead[0] && (!settings.chosen || is_listener_that_chose(tp))) {
		for (int i = 0; i < NAME; i++)
			instead[i] = settings.instead[i];
		found.moved = bpf_setsockopt(tp, SOL_TCP, TCP_CONGESTION, instead, NAME) == 0;
		if (found.moved && !settings.chosen) {
			take_any_amount(tp);
			if (own.pause.is_on)
				put_back(tp, &own.pause);
		}
	}
	bpf_seq_write(ctx->meta->seq, &found, sizeof(found));
	return 0;
}
