/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A controller as functions of an ordinary program: the same file that eBPF compiles, for its tests
 * (crates/linux/tests/conformance).
 */
#ifndef PATHWEAVE_NATIVE_H
#define PATHWEAVE_NATIVE_H

#define JOINED_(a, b) a##b
#define JOINED(a, b) JOINED_(a, b)
/* A symbol of this controller. */
#define OWN(name) JOINED(JOINED(JOINED(pathweave_, CONTROLLER), _), name)

/* The test sets them. */
#define SETTINGS struct parameters settings
#define settings OWN(settings)

#define EXPORT_CONTROLLER(needs_ecn)                                                                  \
	DEFINE_MINIMUM                                                                                \
	const u64 OWN(sizes)[3] = { sizeof(struct connection), sizeof(struct subflow),                 \
				    sizeof(struct parameters) };                                       \
	struct subflow *OWN(subflow)(struct connection * connection, u32 place)                        \
	{                                                                                              \
		return &connection->subflows[place];                                                   \
	}                                                                                              \
	void OWN(open)(struct connection * connection, u32 place)                                      \
	{                                                                                              \
		struct subflow *subflow = &connection->subflows[place];                                \
                                                                                                       \
		if (connection->rows <= place)                                                         \
			connection->rows = place + 1;                                                  \
		subflow->suppressed = 0;                                                               \
		subflow->number = place;                                                               \
		subflow->fraction = 0;                                                                 \
		subflow->minimum_window = minimum();                                                   \
		subflow->state = (struct state){ 0 };                                                  \
		change_path(connection, subflow, OPENED);                                              \
	}                                                                                              \
	void OWN(change)(struct connection * connection, u32 place, enum change change)                 \
	{                                                                                              \
		change_path(connection, &connection->subflows[place], change);                         \
	}                                                                                              \
	void OWN(acknowledge)(struct connection * connection, u32 place,                               \
			      const struct acknowledgement *ack)                                       \
	{                                                                                              \
		on_ack(connection, &connection->subflows[place], ack);                                 \
	}                                                                                              \
	void OWN(lose)(struct connection * connection, u32 place, enum loss loss)                      \
	{                                                                                              \
		on_loss(connection, &connection->subflows[place], loss);                               \
	}

#endif
