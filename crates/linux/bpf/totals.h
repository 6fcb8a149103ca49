/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a controller has done since it was loaded. Rows go with their subflows; these counts stay, so they never decrease,
 * and a program that replaces another one goes on with them.
 * Each processor has its own, which it adds to atomically: an interrupt may come between reading and writing.
 */
#ifndef PATHWEAVE_TOTALS_H
#define PATHWEAVE_TOTALS_H

/* The loader reads them in this order: crates/linux/src/kernel/totals.rs. */
struct history {
	u64 connections;
	u64 subflows;
	/* By subflows with a row, and by those that found none. */
	u64 acknowledgements;
	u64 acknowledgements_without_row;
	u64 packets;
	u64 marks;
	u64 cuts;
	u64 losses;
	u64 timeouts;
	/* Subflows whose path has failed. */
	u64 failures;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct history);
} totals SEC(".maps");

/* This processor's. */
static __always_inline struct history *counts(void)
{
	u32 only = 0;

	return bpf_map_lookup_elem(&totals, &only);
}

#define ADD(counts, member, number) __sync_fetch_and_add(&(counts)->member, (number))

#define COUNT(member, number)                                                                         \
	do {                                                                                           \
		struct history *counts_ = counts();                                                    \
                                                                                                       \
		if (counts_)                                                                           \
			ADD(counts_, member, number);                                                  \
	} while (0)

#endif
