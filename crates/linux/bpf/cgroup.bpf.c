/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Gives the sockets of a control group's processes a congestion control: those that connect, those that listen, and
 * those that a listener accepts. A subflow of MPTCP is a socket of the same control group, and is given it as well.
 * A socket whose program has chosen a control keeps that one.
 */
#include "kernel.h"

char pathweave_license[] SEC("license") = "Dual BSD/GPL";

#define SOL_TCP 6
#define TCP_CONGESTION 13
#define NAME 16

enum {
	BPF_SOCK_OPS_TCP_CONNECT_CB = 3,
	BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB = 5,
	BPF_SOCK_OPS_NEEDS_ECN = 6,
	BPF_SOCK_OPS_TCP_LISTEN_CB = 11,
};

/* Of the kernel's interface to programs: offsets are fixed, and the verifier turns them into the real ones. */
struct bpf_sock;
struct bpf_sock_ops {
	u32 op;
	union {
		u32 args[4];
		u32 reply;
		u32 replylong[4];
	};
	u32 family;
	u32 remote_ip4;
	u32 local_ip4;
	u32 remote_ip6[4];
	u32 local_ip6[4];
	u32 remote_port;
	u32 local_port;
	u32 is_fullsock;
	u32 snd_cwnd;
	u32 srtt_us;
	u32 bpf_sock_ops_cb_flags;
	u32 state;
	u32 rtt_min;
	u32 snd_ssthresh;
	u32 rcv_nxt;
	u32 snd_nxt;
	u32 snd_una;
	u32 mss_cache;
	u32 ecn_flags;
	u32 rate_delivered;
	u32 rate_interval_us;
	u32 packets_out;
	u32 retrans_out;
	u32 total_retrans;
	u32 segs_in;
	u32 data_segs_in;
	u32 segs_out;
	u32 data_segs_out;
	u32 lost_out;
	u32 sacked_out;
	u32 sk_txhash;
	u64 bytes_received;
	u64 bytes_acked;
	struct bpf_sock *sk;
};

struct inet_connection_sock___chosen {
	u8 icsk_ca_setsockopt : 1;
} __attribute__((preserve_access_index));

const volatile struct {
	char name[NAME];
	u32 needs_ecn;
} settings SEC(".rodata.settings") = {};

static __always_inline bool has_chosen(struct bpf_sock_ops *ops)
{
	struct tcp_sock *tp = ops->sk ? bpf_skc_to_tcp_sock(ops->sk) : NULL;
	struct inet_connection_sock___chosen *icsk = (void *)tp;

	return icsk && BPF_CORE_READ_BITFIELD_PROBED(icsk, icsk_ca_setsockopt);
}

SEC("sockops")
int pathweave_cgroup(struct bpf_sock_ops *ops)
{
	char name[NAME];

	switch (ops->op) {
	case BPF_SOCK_OPS_NEEDS_ECN:
		/* A listener that was there before offers ECN to those that it accepts. */
		if (settings.needs_ecn)
			ops->reply = 1;
		break;
	case BPF_SOCK_OPS_TCP_CONNECT_CB:
	case BPF_SOCK_OPS_TCP_LISTEN_CB:
	case BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB:
		if (has_chosen(ops))
			break;
		for (int i = 0; i < NAME; i++)
			name[i] = settings.name[i];
		/* Where the control is not loaded, the socket keeps its namespace's default. */
		bpf_setsockopt(ops, SOL_TCP, TCP_CONGESTION, name, NAME);
		break;
	}
	return 1;
}
