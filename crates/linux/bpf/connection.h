/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a controller sees of a connection and its subflows.
 *
 * A controller defines two types before it includes this file: `struct state`, what it remembers of a subflow,
 * and `struct shared`, what it remembers of a connection. Both are all zero when they begin.
 *
 * A subflow's row is written by that subflow alone, whose socket the kernel has locked; the others read it, so
 * what they see may be one event old. `struct shared` is written by whoever has something to say.
 */
#ifndef PATHWEAVE_CONNECTION_H
#define PATHWEAVE_CONNECTION_H

#include "numbers.h"
#include "once_per_round.h"

/* Rows of a connection: twice as many subflows as the kernel's path manager makes. */
#define SUBFLOWS 16

/* Where a subflow's path is between opening and closing. The loader reads it: crates/linux/src/kernel/rows.rs. */
enum path_state {
	PATH_CLOSED,
	PATH_ACTIVE,
	/* Retransmission timeouts in a row without progress. */
	PATH_FAILED,
};

/* One subflow. The loader reads rows by these offsets: crates/linux/src/kernel/rows.rs. */
struct subflow {
	/* The socket; 0 if the row is free. */
	u64 owner;
	u64 window;
	u64 ssthresh;
	/* Sequence numbers: all before `acked` has arrived, all before `sent` was sent once. */
	u64 acked;
	u64 sent;
	/* Smoothed RTT in eighths of a microsecond; 0 before the first sample. */
	u32 srtt;
	/* The smallest RTT in microseconds. */
	u32 min_rtt;
	/* Counted for whoever looks: packets acknowledged, marks echoed, losses, timeouts, cuts by marks. */
	u64 packets;
	u64 marks;
	u32 losses;
	u32 timeouts;
	u32 cuts;
	/* The smallest window in congestion avoidance, in packets. */
	u32 minimum_window;
	/* Its number in the connection: the order in which subflows opened. */
	u32 number;
	/* enum path_state. */
	u8 path;
	/* Whether it must not send new data. */
	u8 suppressed;
	u8 in_recovery;
	u8 family;
	/* Who is connected: network byte order; IPv4 in the first word. */
	u32 local[4];
	u32 remote[4];
	u16 local_port;
	u16 remote_port;
	u32 netns;
	/* Payload bytes of a full packet. */
	u32 segment;
	/* Whether acknowledgements that echo marks grow the window as others do. RFC 3168, section 6.1.2, forbids it. */
	u8 growth_by_marked_acks;
	/* What the window has grown by beyond its units: growth.h. */
	u64 fraction;
	struct state state;
};

#define AT(member, offset) \
	_Static_assert(__builtin_offsetof(struct subflow, member) == (offset), "rows.rs knows where members are")
AT(window, 8);
AT(ssthresh, 16);
AT(srtt, 40);
AT(packets, 48);
AT(marks, 56);
AT(losses, 64);
AT(timeouts, 68);
AT(cuts, 72);
AT(number, 80);
AT(path, 84);
AT(suppressed, 85);
AT(family, 87);
AT(local, 88);
AT(remote, 104);
AT(local_port, 120);
AT(remote_port, 122);
AT(netns, 124);
AT(segment, 128);
AT(growth_by_marked_acks, 132);
AT(fraction, 136);
#undef AT

struct connection {
	/* Its key in the map. */
	u64 key;
	/* Number of the next subflow. */
	u32 opened;
	/* Rows below this have been in use. */
	u32 rows;
	/* Subflows that have a row, or look for one: hooks.h. */
	u32 members;
	struct shared shared;
	struct subflow subflows[SUBFLOWS];
};

/* An acknowledgement, as crates/control has it. */
struct acknowledgement {
	/* Packets newly acknowledged, cumulatively or selectively. */
	u32 packets;
	/* Marks that it echoes. */
	u32 marks;
	/* Windows do not grow: in fast recovery, and by duplicates, which acknowledge nothing cumulatively. */
	bool recovery;
	bool window_limited;
};

enum loss {
	FAST_RETRANSMIT,
	TIMEOUT,
};

/* What has become of a subflow, whose path is already in the state that follows. */
enum change {
	OPENED,
	FAILED,
	/* New data was acknowledged on it after it had failed. */
	RECOVERED,
	CLOSED,
};

static __always_inline bool is_open(const struct subflow *subflow)
{
	return subflow->path != PATH_CLOSED;
}

/* Only active subflows are coupled: sums, minima and counts leave all others out. */
static __always_inline bool is_active(const struct subflow *subflow)
{
	return subflow->path == PATH_ACTIVE;
}

#ifdef __bpf__
static __always_inline struct bpf_iter_num *begin(struct bpf_iter_num *places, const struct connection *connection)
{
	bpf_iter_num_new(places, 0, least(connection->rows, SUBFLOWS));
	return places;
}

static __always_inline struct subflow *next(struct bpf_iter_num *places, const struct connection *connection)
{
	u32 *place = (u32 *)bpf_iter_num_next(places);

	if (!place || *place >= SUBFLOWS)
		return NULL;
	return (struct subflow *)&connection->subflows[*place];
}

/*
 * Every subflow of a connection that a predicate holds for. The kernel's iterator lets the verifier follow the body until
 * nothing new comes of it, instead of all ways through sixteen turns. Where anything is asked of
 * what the body counts, the loop is in a function of its own (ONCE): the verifier would follow every count.
 * (clang gives no type information for a function that only stands in cleanup().)
 */
#define for_each_that(holds, connection, subflow)                                                     \
	for (struct bpf_iter_num places_ __attribute__((cleanup(bpf_iter_num_destroy))),               \
	     *at_ = ((void)bpf_iter_num_destroy, begin(&places_, connection));                         \
	     (subflow = next(at_, connection));)                                                       \
		if (holds(subflow))
#else
/* Every subflow of a connection that a predicate holds for. */
#define for_each_that(holds, connection, subflow)                                                     \
	for (u32 place_ = 0; place_ < SUBFLOWS && place_ < (connection)->rows; place_++)               \
		if (holds(subflow = &(connection)->subflows[place_]))
#endif

#define for_each_active(connection, subflow) for_each_that(is_active, connection, subflow)
#define for_each_open(connection, subflow) for_each_that(is_open, connection, subflow)

static __always_inline bool lets_window_grow(const struct acknowledgement *ack)
{
	return ack->window_limited && !ack->recovery;
}

/* Whether this one may grow the window where growth by marked ones is the transport's choice. */
static __always_inline bool may_grow_by(const struct subflow *subflow, const struct acknowledgement *ack)
{
	return lets_window_grow(ack) && (!ack->marks || subflow->growth_by_marked_acks);
}

static __always_inline bool in_slow_start(const struct subflow *subflow)
{
	return subflow->window < subflow->ssthresh;
}

static __always_inline bool has_rtt(const struct subflow *subflow)
{
	return subflow->srtt > 0;
}

static __always_inline u64 floor_of(const struct subflow *subflow)
{
	return subflow->minimum_window * PACKET;
}

/* How many are active. The verifier looks at it once, and takes its answer for any number. */
ONCE u32 count_active(const struct connection *connection)
{
	const struct subflow *subflow;
	u32 count = 0;

	if (!connection)
		return 0;
	for_each_active(connection, subflow)
		count++;
	return count;
}

#include "growth.h"

/* Sets ssthresh to `window`, at least the minimum window, and lowers the window to it. */
static __always_inline void cut_to(struct subflow *subflow, u64 window)
{
	subflow->ssthresh = larger(window, floor_of(subflow));
	subflow->window = larger(least(subflow->window, subflow->ssthresh), floor_of(subflow));
}

/* The common response to a loss, from another window than the present one. */
static __always_inline void respond_from(struct subflow *subflow, enum loss loss, u64 window)
{
	if (loss == FAST_RETRANSMIT) {
		cut_to(subflow, window / 2);
	} else {
		subflow->ssthresh = larger(window / 2, 2 * PACKET);
		subflow->window = PACKET;
	}
}

/* Whether what was in flight when a round began has been acknowledged; `end` is what was sent then. */
static __always_inline bool round_is_over(const struct subflow *subflow, u64 end)
{
	return subflow->acked > end || (subflow->acked == end && subflow->acked == subflow->sent);
}

/* If the round is over begins the next one. */
static __always_inline bool round_ends(const struct subflow *subflow, u64 *end)
{
	bool over = round_is_over(subflow, *end);

	if (over)
		*end = subflow->sent;
	return over;
}

static __always_inline bool may_cut(const struct once_per_round *cuts, const struct subflow *subflow)
{
	return !cuts->has_cut || round_is_over(subflow, cuts->end);
}

/* Takes `share` off the window if the round has not been cut yet. */
static __always_inline bool cut_on_mark(struct once_per_round *cuts, struct subflow *subflow, u64 share)
{
	if (!may_cut(cuts, subflow))
		return false;
	cuts->has_cut = true;
	cuts->end = subflow->sent;
	cuts->window_before = subflow->window;
	cut_to(subflow, without_share(subflow->window, share));
	subflow->cuts++;
	return true;
}

/* The response to a loss that costs `share` of the window; a timeout is the common one. */
static __always_inline void cut_on_loss(struct once_per_round *cuts, struct subflow *subflow, enum loss loss,
					u64 share)
{
	u64 window = subflow->window;

	if (!may_cut(cuts, subflow))
		window = larger(window, cuts->window_before);
	if (loss == FAST_RETRANSMIT)
		cut_to(subflow, least(without_share(window, share), subflow->window));
	else
		respond_from(subflow, loss, window);
	cuts->has_cut = true;
	cuts->end = subflow->sent;
	cuts->window_before = subflow->window;
}

/*
 * What a controller defines. A subflow's `state` is zero when it opens; on_loss() is told of a loss event once, on_ack()
 * of every acknowledgement.
 */
static __always_inline void on_change(struct connection *connection, struct subflow *r, enum change change);
static __always_inline void on_ack(struct connection *connection, struct subflow *r,
				   const struct acknowledgement *ack);
static __always_inline void on_loss(struct connection *connection, struct subflow *r, enum loss loss);
/* Puts the path into its new state and tells the controller. */
static __always_inline void change_path(struct connection *connection, struct subflow *r, enum change change)
{
	switch (change) {
	case OPENED:
	case RECOVERED:
		r->path = PATH_ACTIVE;
		break;
	case FAILED:
		r->path = PATH_FAILED;
		break;
	case CLOSED:
		r->path = PATH_CLOSED;
		break;
	}
	on_change(connection, r, change);
}

/* Whether on_ack() has an answer to marks; if not, a marked round is a loss event (RFC 3168). */
static __always_inline bool responds_to_marks(void);
/* The minimum window, in packets: all controllers have it as a parameter. EXPORT_CONTROLLER() defines it. */
static __always_inline u32 minimum(void);
#define DEFINE_MINIMUM                                                                                \
	static __always_inline u32 minimum(void)                                                       \
	{                                                                                              \
		return settings.minimum_window;                                                        \
	}

#ifdef __bpf__
#include "hooks.h"
#else
#include "native.h"
#endif

#endif
