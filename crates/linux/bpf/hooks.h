/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * From the kernel's hooks to a controller, and back.
 *
 * All controllers have `cong_control`: with it the kernel leaves the window alone in CWR and Recovery (no proportional
 * rate reduction), so a cut takes effect at once and nothing leaves until less is in flight than the new window,
 * as in the simulator. What the kernel then also leaves alone, the pacing rate, is set here by its own rule: MPTCP's
 * scheduler shares data out by it.
 *
 * A connection's rows are kept in a map by its token; a plain TCP connection has a map entry of its own. A subflow
 * for which there is no room behaves as Reno.
 */
#ifndef PATHWEAVE_HOOKS_H
#define PATHWEAVE_HOOKS_H

#include "pause.h"
#include "private.h"
#include "totals.h"
#include "unsent.h"

char pathweave_license[] SEC("license") = "Dual BSD/GPL";

/* `load` sets them: all are u64, in the order of `struct parameters`. */
#define SETTINGS const volatile struct parameters settings SEC(".rodata.settings")

/* The number of connections is set by `load`. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 4096);
	__type(key, u64);
	__type(value, struct connection);
} connections SEC(".maps");

/*
 * A program that replaces a loaded one goes on with its maps where types and this number are the same. Raise it when a
 * member of `struct connection`, `struct subflow` or `struct history` gets another meaning or unit, or when the
 * beginning of `struct private` that sockets.bpf.c reads changes.
 */
#define LAYOUT 1

/* What whoever looks at the maps has to know. `load` sets the rest: crates/linux/src/kernel/rows.rs. */
const volatile struct {
	/* How rows lie in a connection. */
	u32 row;
	u32 first_row;
	/* LAYOUT; `load` adds what it finds of the types. */
	u64 layout;
	/* Which object it is of. */
	u64 program;
	/* When it was loaded, in seconds since 1970. */
	u64 since;
	/* 1, and one more with each program that replaces another one. */
	u32 generation;
	/* What it was loaded with. */
	char text[1004];
} about SEC(".rodata.about") = {
	.row = sizeof(struct subflow),
	.first_row = __builtin_offsetof(struct connection, subflows),
	.layout = LAYOUT,
	.generation = 1,
};

/* Retransmission timeouts in a row without progress after which a subflow has failed. `load` sets it. */
const volatile u32 failed_after SEC(".rodata.failed_after") = 2;

/* Whether acknowledgements that echo marks grow windows: connection.h. `load` sets it. */
const volatile u8 growth_by_marked_acks SEC(".rodata.growth_by_marked_acks") = 0;

/* What a new connection begins as. */
const struct connection fresh = {};

/* Of a window that is not limited. */
#define INFINITE_SSTHRESH 0x7fffffffU

static __always_inline struct private *private_of(struct sock *sk)
{
	return (struct private *)((struct inet_connection_sock *)sk)->icsk_ca_priv;
}

static __always_inline u64 key_of(struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct mptcp_subflow_context *context;

	if (tp->is_mptcp) {
		context = ((struct inet_connection_sock *)sk)->icsk_ulp_data;
		if (context)
			return BPF_CORE_READ(context, token);
	}
	/* Kernel addresses are larger than any token. */
	return (u64)(unsigned long)sk;
}

static __always_inline void describe(struct subflow *row, struct sock *sk)
{
	row->family = sk->__sk_common.skc_family;
	row->local_port = sk->__sk_common.skc_num;
	row->remote_port = __builtin_bswap16(sk->__sk_common.skc_dport);
	row->netns = BPF_CORE_READ(sk, __sk_common.skc_net.net, ns.inum);
	if (row->family == AF_INET6) {
		BPF_CORE_READ_INTO(&row->local, sk, __sk_common.skc_v6_rcv_saddr.in6_u.u6_addr32);
		BPF_CORE_READ_INTO(&row->remote, sk, __sk_common.skc_v6_daddr.in6_u.u6_addr32);
	} else {
		row->local[0] = sk->__sk_common.skc_rcv_saddr;
		row->remote[0] = sk->__sk_common.skc_daddr;
	}
}

static __always_inline void refresh(struct subflow *row, struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;

	row->acked += (u32)(tp->snd_una - (u32)row->acked);
	row->sent = row->acked + (u32)(tp->snd_nxt - tp->snd_una);
	row->srtt = tp->srtt_us;
	row->min_rtt = tp->rtt_min.s[0].v;
	row->segment = tp->mss_cache;
}

/* In `members`: the last one has left, and the connection is about to be removed. */
#define REMOVED 0x80000000U

/* How often members that come and go at the same moment may get in each other's way. */
#define TRIES 64

/*
 * The last member removes a connection. It is marked before its membership ends: from then on its place in memory may be
 * another connection's. One that has no key yet is left alone: who made it is about to join.
 */
static __always_inline void leave(struct connection *connection)
{
	u32 members, tries;
	u64 key;

	for (tries = 0; tries < TRIES; tries++) {
		members = *(volatile u32 *)&connection->members;
		key = *(volatile u64 *)&connection->key;
		if (members == 1 && key) {
			if (__sync_val_compare_and_swap(&connection->members, 1, REMOVED) == 1) {
				bpf_map_delete_elem(&connections, &key);
				return;
			}
		} else if (__sync_val_compare_and_swap(&connection->members, members, members - 1) == members) {
			return;
		}
	}
}

/* A connection stays for as long as it has members. Whether it could be joined, and is still that of the key. */
static __always_inline bool join(struct connection *connection, u64 key)
{
	if (__sync_fetch_and_add(&connection->members, 1) & REMOVED)
		return false;
	if (bpf_map_lookup_elem(&connections, &key) == connection)
		return true;
	leave(connection);
	return false;
}

/* Finds room for this socket; if there is none, its next acknowledgement tries again. */
static __always_inline struct subflow *take_row(struct sock *sk, struct private *own,
						struct connection **of)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct connection *connection;
	struct subflow *row;
	u64 key = own->key, me = (u64)(unsigned long)sk;
	u32 place;

	connection = bpf_map_lookup_elem(&connections, &key);
	if (!connection) {
		bpf_map_update_elem(&connections, &key, &fresh, BPF_NOEXIST);
		connection = bpf_map_lookup_elem(&connections, &key);
	}
	if (!connection || !join(connection, key))
		return NULL;
	connection->key = key;
	for (place = 0; place < SUBFLOWS; place++) {
		row = &connection->subflows[place];
		if (row->owner == 0 && __sync_val_compare_and_swap(&row->owner, 0, me) == 0)
			break;
	}
	if (place >= SUBFLOWS) {
		leave(connection);
		return NULL;
	}
	__builtin_memset((void *)row + sizeof(row->owner), 0, sizeof(*row) - sizeof(row->owner));
	row->number = __sync_fetch_and_add(&connection->opened, 1);
	row->minimum_window = minimum();
	row->growth_by_marked_acks = growth_by_marked_acks;
	row->window = tp->snd_cwnd * PACKET;
	row->ssthresh = tp->snd_ssthresh >= INFINITE_SSTHRESH ? UNLIMITED : tp->snd_ssthresh * PACKET;
	row->acked = tp->snd_una;
	refresh(row, sk);
	describe(row, sk);
	own->place = place;
	own->given = tp->snd_cwnd;
	own->delivered_ce = tp->delivered_ce;
	own->has_row = true;
	if (connection->rows <= place)
		connection->rows = place + 1;
	COUNT(subflows, 1);
	if (row->number == 0)
		COUNT(connections, 1);
	change_path(connection, row, OPENED);
	*of = connection;
	return row;
}

/* This socket's row, or none: its acknowledgements look for one. */
static __always_inline struct subflow *row_of(const struct private *own, struct connection **of)
{
	struct connection *connection;
	struct subflow *row;
	u64 key = own->key;
	u32 place = own->place;

	if (!own->has_row)
		return NULL;
	connection = bpf_map_lookup_elem(&connections, &key);
	if (!connection || place >= SUBFLOWS)
		return NULL;
	row = &connection->subflows[place];
	/* Two that joined at one time may have written the smaller number last. */
	if (connection->rows <= place)
		connection->rows = place + 1;
	*of = connection;
	return row;
}

/* What the kernel does for controls without cong_control: twice the rate of the window in slow start, then 1.2 times. */
static __always_inline void set_pacing_rate(struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	u64 rate = (u64)tp->mss_cache * (8 * 1000000ULL);

	rate *= tp->snd_cwnd < tp->snd_ssthresh / 2 ? 200 : 120;
	rate = rate / 100 * (tp->snd_cwnd > tp->packets_out ? tp->snd_cwnd : tp->packets_out);
	if (tp->srtt_us)
		rate /= tp->srtt_us;
	sk->sk_pacing_rate = least(rate, sk->sk_max_pacing_rate);
}

static __always_inline void give(struct sock *sk, struct private *own, const struct subflow *row)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	u64 packets = row->suppressed ? 1 : larger(row->window / PACKET, 1);

	tp->snd_cwnd = least(packets, tp->snd_cwnd_clamp);
	tp->snd_ssthresh = least(row->ssthresh / PACKET, INFINITE_SSTHRESH);
	own->given = tp->snd_cwnd;
}

/* The kernel has changed the window: after a time without data, or because paths take smaller packets. */
static __always_inline void adopt(struct subflow *row, struct private *own, const struct tcp_sock *tp)
{
	if (tp->snd_cwnd == own->given)
		return;
	row->window = tp->snd_cwnd * PACKET;
	own->given = tp->snd_cwnd;
}

/* Whether an acknowledgement has acknowledged new data cumulatively: a duplicate that only reports packets does not. */
static __always_inline bool advances(struct private *own, const struct tcp_sock *tp)
{
	bool advances = tp->snd_una != own->snd_una;

	own->snd_una = tp->snd_una;
	return advances;
}

static __always_inline bool is_window_limited(const struct tcp_sock *tp)
{
	if (BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited))
		return true;
	return tp->snd_cwnd < tp->snd_ssthresh && tp->snd_cwnd < 2 * tp->max_packets_out;
}

/* Reno, for a subflow without a row. */
static __always_inline void reno_on_ack(struct tcp_sock *tp, struct private *own, u32 packets)
{
	if (tp->snd_cwnd < tp->snd_ssthresh) {
		tp->snd_cwnd = least(least(tp->snd_cwnd + packets, tp->snd_ssthresh), tp->snd_cwnd_clamp);
		return;
	}
	own->reno_count += packets;
	if (own->reno_count >= tp->snd_cwnd) {
		own->reno_count = 0;
		tp->snd_cwnd = least(tp->snd_cwnd + 1, tp->snd_cwnd_clamp);
	}
}

static __always_inline void reno_on_loss(struct tcp_sock *tp, enum loss loss)
{
	u32 window = larger(tp->snd_cwnd, loss == TIMEOUT ? tp->prior_cwnd : 0);

	tp->snd_ssthresh = larger(window / 2, 2);
	tp->snd_cwnd = loss == TIMEOUT ? 1 : tp->snd_ssthresh;
}

SEC("struct_ops")
void BPF_PROG(pathweave_init, struct sock *sk)
{
	struct private *own = private_of(sk);
	struct connection *connection;

	__builtin_memset(own, 0, sizeof(*own));
	own->generation = about.generation;
	own->key = key_of(sk);
	own->prior_rcv_nxt = ((struct tcp_sock *)sk)->rcv_nxt;
	own->snd_una = ((struct tcp_sock *)sk)->snd_una;
	take_row(sk, own, &connection);
}

SEC("struct_ops")
void BPF_PROG(pathweave_release, struct sock *sk)
{
	struct private *own = private_of(sk);
	struct connection *connection = NULL;
	struct subflow *row = row_of(own, &connection);

	own->key = 0;
	own->has_row = false;
	/* Another control may follow that waits for acknowledgements before it sets one. */
	if (own->pause.is_on)
		set_pacing_rate(sk);
	if (!row || !connection)
		return;
	change_path(connection, row, CLOSED);
	/* An exchange, which is a barrier: whoever takes the row next finds all of this done. */
	__sync_val_compare_and_swap(&row->owner, (u64)(unsigned long)sk, 0);
	leave(connection);
}

/* What an acknowledgement adds to the counts, which are looked up once for all of it. */
static __always_inline void count_acknowledgement(const struct acknowledgement *seen, u32 cuts)
{
	struct history *to = counts();

	if (!to)
		return;
	ADD(to, acknowledgements, 1);
	ADD(to, packets, seen->packets);
	if (seen->marks)
		ADD(to, marks, seen->marks);
	if (cuts)
		ADD(to, cuts, cuts);
}

SEC("struct_ops")
void BPF_PROG(pathweave_cong_control, struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct private *own = private_of(sk);
	struct acknowledgement seen = {};
	struct connection *connection = NULL;
	struct subflow *row = row_of(own, &connection);
	u8 state = BPF_CORE_READ_BITFIELD((struct inet_connection_sock *)sk, icsk_ca_state);
	bool in_recovery = state == TCP_CA_Recovery, progress = advances(own, tp);
	u32 cuts;

	if (!own->has_row && own->key)
		row = take_row(sk, own, &connection);
	take_little_ahead(sk);
	seen.packets = rs->acked_sacked;
	seen.window_limited = is_window_limited(tp);
	seen.marks = tp->delivered_ce - own->delivered_ce;
	own->delivered_ce = tp->delivered_ce;
	/* To a controller without an answer to marks they are a loss, and what echoes one grows no window (RFC 3168). */
	seen.recovery = in_recovery || !progress || (seen.marks && !(row && responds_to_marks()));
	if (!row || !connection) {
		COUNT(acknowledgements_without_row, 1);
		if (seen.window_limited && !seen.recovery)
			reno_on_ack(tp, own, seen.packets);
		set_pacing_rate(sk);
		return;
	}
	adopt(row, own, tp);
	refresh(row, sk);
	row->in_recovery = in_recovery;
	if (progress && row->path == PATH_FAILED)
		change_path(connection, row, RECOVERED);
	row->packets += seen.packets;
	row->marks += seen.marks;
	cuts = row->cuts;
	on_ack(connection, row, &seen);
	count_acknowledgement(&seen, row->cuts - cuts);
	give(sk, own, row);
	set_pacing_rate(sk);
	if (row->suppressed)
		pause(sk, &own->pause);
	else
		resume(sk, &own->pause);
}

#ifdef SUPPRESSES
/* Every acknowledgement, also one that acknowledges nothing: a paused subflow hears no other. */
SEC("struct_ops")
void BPF_PROG(pathweave_in_ack_event, struct sock *sk, u32 flags)
{
	struct private *own = private_of(sk);
	struct connection *connection = NULL;
	struct subflow *row;

	if (!own->pause.is_on)
		return;
	row = row_of(own, &connection);
	if (row && row->suppressed)
		return;
	if (row)
		give(sk, own, row);
	set_pacing_rate(sk);
	resume(sk, &own->pause);
}
#endif

/* `first` tells whether the kernel's own reduction begins with it: ssthresh from before that is what an undo restores. */
static __always_inline void lose(struct sock *sk, enum loss loss, bool first)
{
	struct private *own = private_of(sk);
	struct connection *connection = NULL;
	struct subflow *row = row_of(own, &connection);

	if (!row || !connection) {
		reno_on_loss((struct tcp_sock *)sk, loss);
		return;
	}
	refresh(row, sk);
	if (first)
		own->prior_ssthresh = row->ssthresh;
	if (loss == TIMEOUT) {
		row->timeouts++;
		COUNT(timeouts, 1);
	} else {
		row->losses++;
		COUNT(losses, 1);
	}
	on_loss(connection, row, loss);
	give(sk, own, row);
}

/* The retransmission timer has expired once more; the kernel counts it when it has told us. */
static __always_inline void fail_if_hopeless(struct sock *sk)
{
	struct private *own = private_of(sk);
	struct connection *connection = NULL;
	struct subflow *row = row_of(own, &connection);
	u32 timeouts = ((struct inet_connection_sock *)sk)->icsk_retransmits + 1;

	if (row && connection && is_active(row) && timeouts >= failed_after) {
		COUNT(failures, 1);
		change_path(connection, row, FAILED);
	}
}

/* The kernel asks when it begins to reduce the window; what follows from it comes with the state. */
SEC("struct_ops")
u32 BPF_PROG(pathweave_ssthresh, struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct private *own = private_of(sk);
	struct connection *connection;
	struct subflow *row = row_of(own, &connection);

	own->asked_for_ssthresh = true;
	if (row)
		adopt(row, own, tp);
	return larger(tp->snd_cwnd / 2, 2);
}

SEC("struct_ops")
void BPF_PROG(pathweave_set_state, struct sock *sk, u8 state)
{
	u8 before = BPF_CORE_READ_BITFIELD((struct inet_connection_sock *)sk, icsk_ca_state);
	struct private *own = private_of(sk);
	bool asked = own->asked_for_ssthresh;
	/* Reno, which a subflow without a row is, does not. */
	bool answers = own->has_row && responds_to_marks();

	own->asked_for_ssthresh = false;
	switch (state) {
	case TCP_CA_CWR:
		/*
		 * Marks, which on_ack() will see; to a controller that has no answer to them they are a loss (RFC 3168).
		 * Without new marks it is a loss that a probe of the tail has repaired.
		 */
		if (before < TCP_CA_CWR &&
		    (!answers || ((struct tcp_sock *)sk)->delivered_ce == own->delivered_ce))
			lose(sk, FAST_RETRANSMIT, asked);
		break;
	case TCP_CA_Recovery:
		/* After CWR the kernel does not ask again: one reduction a round is enough. */
		if (before < TCP_CA_Recovery && (asked || answers))
			lose(sk, FAST_RETRANSMIT, asked);
		break;
	case TCP_CA_Loss:
		/* Not again for what has already timed out, nor for packets that are sent again because paths take smaller ones. */
		if (asked || before == TCP_CA_CWR || before == TCP_CA_Recovery)
			lose(sk, TIMEOUT, asked);
		fail_if_hopeless(sk);
		break;
	}
}

/* A loss was none. */
SEC("struct_ops")
u32 BPF_PROG(pathweave_undo_cwnd, struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct private *own = private_of(sk);
	struct connection *connection = NULL;
	struct subflow *row = row_of(own, &connection);
	u32 window = larger(tp->snd_cwnd, tp->prior_cwnd);

	if (row) {
		row->window = larger(row->window, window * PACKET);
		row->ssthresh = larger(row->ssthresh, own->prior_ssthresh);
		own->given = window;
	}
	return window;
}

static __always_inline void demand_cwr(struct tcp_sock *tp, bool ce_state)
{
	if (ce_state)
		tp->ecn_flags |= TCP_ECN_DEMAND_CWR;
	else
		tp->ecn_flags &= ~TCP_ECN_DEMAND_CWR;
}

/*
 * DCTCP's receiver (RFC 8257, section 3.2): ECE says of each packet whether it was marked, and a delayed
 * acknowledgement never speaks for packets of both kinds.
 */
static __always_inline void on_ce(struct sock *sk, bool ce)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct inet_connection_sock *icsk = (struct inet_connection_sock *)sk;
	struct private *own = private_of(sk);

	if (own->ce_state != ce) {
		if (icsk->icsk_ack.pending & ICSK_ACK_TIMER) {
			demand_cwr(tp, own->ce_state);
			bpf_tcp_send_ack(tp, own->prior_rcv_nxt);
		}
		icsk->icsk_ack.pending |= ICSK_ACK_NOW;
	}
	own->prior_rcv_nxt = tp->rcv_nxt;
	own->ce_state = ce;
	demand_cwr(tp, ce);
}

SEC("struct_ops")
void BPF_PROG(pathweave_cwnd_event, struct sock *sk, enum tcp_ca_event event)
{
	if (event == CA_EVENT_ECN_IS_CE)
		on_ce(sk, true);
	else if (event == CA_EVENT_ECN_NO_CE)
		on_ce(sk, false);
}

#ifdef SUPPRESSES
#define IN_ACK_EVENT .in_ack_event = (void *)pathweave_in_ack_event,
#else
#define IN_ACK_EVENT
#endif

#define TEXT_(name) #name
#define TEXT(name) TEXT_(name)

#define EXPORT_CONTROLLER(needs_ecn)                                                                  \
	DEFINE_MINIMUM                                                                                \
	SEC(".struct_ops.link")                                                                       \
	struct tcp_congestion_ops control = {                                                          \
		.init = (void *)pathweave_init,                                                        \
		.release = (void *)pathweave_release,                                                  \
		.ssthresh = (void *)pathweave_ssthresh,                                                \
		.set_state = (void *)pathweave_set_state,                                              \
		.cwnd_event = (void *)pathweave_cwnd_event,                                            \
		.cong_control = (void *)pathweave_cong_control,                                        \
		.undo_cwnd = (void *)pathweave_undo_cwnd,                                              \
		IN_ACK_EVENT                                                                           \
		.flags = TCP_CONG_NON_RESTRICTED | ((needs_ecn) ? TCP_CONG_NEEDS_ECN : 0),             \
		.name = "pw_" TEXT(CONTROLLER),                                                        \
	};

#endif
