/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Numbers as the controllers keep them. eBPF has no floating point and no 128-bit integers.
 *
 * - Windows and ssthresh: packets times 2^24 (PACKET), so one unit is 6e-8 packets. The largest window is
 *   2^24 packets.
 * - Shares (alpha, beta, cuts): 2^30 is one (ONE).
 * - RTTs: as the kernel smooths them, in eighths of a microsecond.
 *
 * A quotient drops its remainder: at most one unit. mul_div() is exact where its product fits 64 bits; else
 * its relative error is below 2^-28.
 */
#ifndef PATHWEAVE_NUMBERS_H
#define PATHWEAVE_NUMBERS_H

#ifdef __bpf__
#include "kernel.h"
#else
#include <stdbool.h>
#include <stdint.h>
typedef uint64_t u64;
typedef int64_t s64;
typedef uint32_t u32;
typedef int32_t s32;
typedef uint16_t u16;
typedef uint8_t u8;
#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif
#endif

/* A function that the verifier looks at once, by itself, however often it is called. */
#ifdef __bpf__
#define ONCE __attribute__((noinline))
#else
#define ONCE static inline
#endif

/* One packet of a window. */
#define PACKET (1ULL << 24)
/* The largest window. */
#define MOST (PACKET << 24)
/* ssthresh before anything was lost. */
#define UNLIMITED (~0ULL)
/* One, of a share. */
#define ONE (1ULL << 30)

static __always_inline u64 least(u64 a, u64 b)
{
	return a < b ? a : b;
}

static __always_inline u64 larger(u64 a, u64 b)
{
	return a > b ? a : b;
}

/* How many bits a number takes: 0 for 0, 64 for 2^63 and above. */
ONCE u32 bits_of(u64 number)
{
	u32 bits = 0;

	if (number >> 32) {
		bits += 32;
		number >>= 32;
	}
	if (number >> 16) {
		bits += 16;
		number >>= 16;
	}
	if (number >> 8) {
		bits += 8;
		number >>= 8;
	}
	if (number >> 4) {
		bits += 4;
		number >>= 4;
	}
	if (number >> 2) {
		bits += 2;
		number >>= 2;
	}
	if (number >> 1) {
		bits += 1;
		number >>= 1;
	}
	return bits + (u32)number;
}

/*
 * a b / c. Operands whose product does not fit are shortened to no less than 31 bits each, and so is c.
 * By zero it is the largest number; so is what does not fit 64 bits.
 */
ONCE u64 mul_div(u64 a, u64 b, u64 c)
{
	u32 bits_a, bits_b, bits_c, excess, from_a, from_b, from_c;
	u64 quotient;

	if (a == 0 || b == 0)
		return 0;
	if (c == 0)
		return ~0ULL;
	if (a == c)
		return b;
	if (b == c)
		return a;
	bits_a = bits_of(a);
	bits_b = bits_of(b);
	if (bits_a + bits_b <= 64)
		return a * b / c;
	excess = bits_a + bits_b - 64;
	/* The longer one is shortened first, down to the length of the other. */
	from_a = bits_a > bits_b ? least(excess, bits_a - bits_b) : 0;
	from_b = bits_b > bits_a ? least(excess, bits_b - bits_a) : 0;
	excess -= from_a + from_b;
	from_a += (excess + 1) / 2;
	from_b += excess / 2;
	bits_c = bits_of(c);
	from_c = bits_c > 32 ? least(bits_c - 32, from_a + from_b) : 0;
	quotient = (a >> from_a) * (b >> from_b) / (c >> from_c);
	excess = from_a + from_b - from_c;
	if (excess && bits_of(quotient) + excess > 64)
		return ~0ULL;
	return quotient << excess;
}

/* The highest 64 bits of a b. */
static __always_inline u64 product_above(u64 a, u64 b)
{
	u64 a_low = (u32)a, a_high = a >> 32, b_low = (u32)b, b_high = b >> 32;
	u64 middle = a_high * b_low + (a_low * b_low >> 32);
	u64 other = a_low * b_high + (u32)middle;

	return a_high * b_high + (middle >> 32) + (other >> 32);
}

/* Whether a b is less than c d (-1), equal to it (0) or more (1), exactly. */
ONCE s32 compare_products(u64 a, u64 b, u64 c, u64 d)
{
	u64 first = product_above(a, b), second = product_above(c, d);

	if (first == second) {
		first = a * b;
		second = c * d;
	}
	return first < second ? -1 : first > second;
}

/* window - window * share, for a share of at most ONE. */
static __always_inline u64 without_share(u64 window, u64 share)
{
	return window - mul_div(window, share, ONE);
}

#endif
