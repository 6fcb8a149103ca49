/*
 * LIA (RFC 6356) in C, as lia.py has it.
 *
 *     cc -shared -fPIC -O2 -ffp-contract=off -I "$(python -c 'import pathweave.controller as c; print(c.include())')" \
 *         -o lia.so lia.c -lm
 *
 * A scenario names it: controller = { library = "lia.so:lia" }
 */
#include "pathweave_controller.h"

static int32_t on_ack(const pathweave_connection *connection, uint32_t r, const pathweave_ack *ack) {
    pathweave_path *path = &connection->paths[r];
    if (!pathweave_lets_window_grow(ack)) return 0;
    uint32_t packets = pathweave_slow_start(path, ack->packets);
    if (packets == 0) return 0;
    uint32_t subflows = 0;
    double total_rate = 0.0, best = 0.0;
    for (uint32_t s = 0; s < connection->count; s++) {
        const pathweave_path *other = &connection->paths[s];
        if (!pathweave_is_active(other) || !other->may_send) continue;
        subflows += 1;
        if (!pathweave_has_rtt(other)) continue;
        double per_rtt = 1.0 / (double)other->smoothed_rtt;
        double rate = other->window * per_rtt;
        total_rate += rate;
        if (rate * per_rtt > best) best = rate * per_rtt;
    }
    double per_increment = path->window;
    if (subflows > 1 && best > 0.0) {
        double b = total_rate * total_rate / best;
        if (b > per_increment) per_increment = b;
    }
    path->window += (double)packets / per_increment;
    return 0;
}

static int32_t on_loss(const pathweave_connection *connection, uint32_t r, uint32_t loss, uint64_t now) {
    pathweave_once_per_round *cuts = connection->subflows;
    (void)now;
    pathweave_cut_on_loss(&cuts[r], &connection->paths[r], loss, connection->parameters[0]);
    return 0;
}

static int32_t on_subflow(const pathweave_connection *connection, uint32_t r, uint32_t change) {
    pathweave_once_per_round *cuts = connection->subflows;
    if (change == PATHWEAVE_OPENED) cuts[r] = (pathweave_once_per_round){0};
    return 0;
}

static const pathweave_parameter parameters[] = {
    {
        .name = "cut",
        .help = "Share of the window that a loss costs.",
        .default_value = 0.5,
        .minimum = 0.0,
        .maximum = 1.0,
    },
};

PATHWEAVE_EXPORT const pathweave_controller lia = {
    .abi = PATHWEAVE_ABI,
    .coupled = 1,
    .name = "lia",
    .summary = "Couples the increases so that all subflows together take what one TCP on the best path would.",
    .source = "RFC 6356",
    .parameters = parameters,
    .parameter_count = 1,
    .subflow_size = sizeof(pathweave_once_per_round),
    .on_ack = on_ack,
    .on_loss = on_loss,
    .on_subflow = on_subflow,
};
