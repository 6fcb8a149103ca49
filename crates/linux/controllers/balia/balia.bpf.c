/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Balia (Peng et al., ToN 2016), the balanced linked adaptation of MPTCP. With x the rates, y their sum and X the largest,
 * a subflow gains one packet for 10 w_r y^2 / ((x_r + X)(4 x_r + X)) acknowledged ones, and a loss costs half of
 * the window, times X / x_r but at most 3/2. crates/control/src/balia has the formulas and rulings; README.md says what
 * the kernel makes of them. linux.h has the arithmetic of Linux's module.
 *
 * Rates are the windows that they take at the subflow's own RTT, so x_r is w_r. An acknowledgement's growth is exact to
 * 2^-40 packets and 2^-26 of itself, and so is a cut.
 */
#define CONTROLLER balia
#include "numbers.h"

struct parameters {
	u64 minimum_window;
	/* Whether windows are whole packets, as in Linux's module. */
	u64 as_linux;
};

/* Of linux.h: how a subflow answers. */
struct response {
	/* Acknowledgements to count before the window grows, in its lowest 32 bits. */
	u64 acks;
	/* Packets that a loss costs. */
	u32 cost;
};

struct state {
	/* Of linux.h. */
	struct response response;
	/* Acknowledgements since the window grew. */
	u32 counter;
	/* Whether `response` can be used as it is. */
	bool is_current;
};

struct shared {};

#include "scaled_windows.h"

SETTINGS = { .minimum_window = 2 };

#include "linux.h"

static __always_inline bool responds_to_marks(void)
{
	return false;
}

/* How many packets must be acknowledged for a subflow to gain one, in PACKETs. */
static __always_inline u64 packets_per_increment(const struct scaled_windows *rates, u64 window)
{
	u64 quotient = mul_div(window, rates->total, window + rates->largest);

	/* It is at most 16 windows: the total is at most 16 times the largest. */
	return mul_div(10 * quotient, rates->total, 4 * window + rates->largest);
}

static __always_inline void on_ack(struct connection *connection, struct subflow *r,
				   const struct acknowledgement *ack)
{
	struct scaled_windows rates = {};
	u32 packets;

	if (settings.as_linux) {
		linux_on_ack(connection, r, ack);
		return;
	}
	if (!lets_window_grow(ack))
		return;
	packets = slow_start(r, ack->packets, FINE);
	if (!packets)
		return;
	if (scale_windows(connection, r, &rates) > 1)
		grow_by_one_in(r, packets, packets_per_increment(&rates, r->window));
	else
		grow_by_one_in(r, packets, r->window);
}

static __always_inline void on_loss(struct connection *connection, struct subflow *r, enum loss loss)
{
	struct scaled_windows rates = {};

	if (settings.as_linux) {
		linux_on_loss(connection, r, loss);
		return;
	}
	if (loss == TIMEOUT) {
		respond_from(r, loss, r->window);
		return;
	}
	/* w_r / 2 times X / x_r is half of X. */
	scale_windows(connection, r, &rates);
	cut_to(r, r->window - least(rates.largest / 2, 3 * r->window / 4));
}

static __always_inline void on_change(struct connection *connection, struct subflow *r, enum change change)
{
	struct subflow *s;

	/* The rates that count are others now. */
	for_each_open(connection, s)
		s->state.is_current = false;
}

EXPORT_CONTROLLER(false)
