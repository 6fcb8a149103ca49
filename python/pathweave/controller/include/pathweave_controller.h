/*
 * Congestion controllers for Pathweave, in C.
 *
 * A shared library exports a constant of type pathweave_controller for each controller:
 *
 *     PATHWEAVE_EXPORT const pathweave_controller lia = { .abi = PATHWEAVE_ABI, .name = "lia", ... };
 *
 * and a scenario names it: controller = { library = "mine.so:lia", gain = 0.5 }. Without ":lia" the constant is called
 * "controller". Build it with
 *
 *     cc -shared -fPIC -O2 -ffp-contract=off -I "$(python -c 'import pathweave.controller as c; print(c.include())')" \
 *         -o mine.so mine.c
 *
 * docs/python-controllers.md has a complete one. -ffp-contract=off gives the same bits on every processor.
 *
 * Each connection has memory of its own for its state, zero at first and aligned to 16 bytes. The functions of one
 * connection are called one after another, maybe by different threads; those of several connections at the same time. So
 * they may use nothing that connections share, no clock and no random numbers: results must follow from what they are
 * told alone.
 *
 * Times are whole picoseconds. Windows are in packets. All functions give 0, or another number when they cannot go on:
 * that ends the run, and its message has the number.
 */
#ifndef PATHWEAVE_CONTROLLER_H
#define PATHWEAVE_CONTROLLER_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. */
#define PATHWEAVE_ABI 1u

#define PATHWEAVE_EXPORT __attribute__((visibility("default")))

/* pathweave_path.state */
enum {
    PATHWEAVE_OPENING = 0, /* its handshake is not done */
    PATHWEAVE_ACTIVE = 1,  /* it carries data: only such paths are coupled */
    PATHWEAVE_STANDBY = 2,
    PATHWEAVE_PATH_FAILED = 3,
    PATHWEAVE_PATH_CLOSED = 4
};

/* `loss` of on_loss */
enum {
    PATHWEAVE_FAST_RETRANSMIT = 0, /* found by duplicate or selective acknowledgements */
    PATHWEAVE_TIMEOUT = 1
};

/* `change` of on_subflow; the path's state is up to date */
enum {
    PATHWEAVE_OPENED = 0,
    PATHWEAVE_STOOD_BY = 1,
    PATHWEAVE_FAILED = 2,
    PATHWEAVE_RECOVERED = 3,
    PATHWEAVE_CLOSED = 4
};

/* The congestion state of one subflow. The controller writes window, ssthresh and may_send. */
typedef struct pathweave_path {
    double window;                 /* congestion window; at least 1 when a function returns */
    double ssthresh;               /* slow start ends here; infinite until something was lost */
    double minimum_window;         /* the window's floor in congestion avoidance */
    double loss_limit;             /* a loss takes its share from this many packets at most */
    uint64_t smoothed_rtt;         /* 0 before the first sample */
    uint64_t minimum_rtt;          /* UINT64_MAX before the first sample */
    uint64_t latest_rtt;           /* 0 before the first sample */
    uint64_t sent;                 /* new packets sent so far */
    uint64_t acked;                /* packets acknowledged cumulatively so far */
    uint64_t packet_bytes;         /* bytes on the wire of a full data packet */
    uint32_t in_flight;            /* packets in the network as far as the sender knows */
    uint32_t slow_start_limit;     /* packets of an acknowledgement that slow start counts at most */
    uint8_t state;                 /* PATHWEAVE_ACTIVE and so on */
    uint8_t in_recovery;           /* in fast recovery */
    uint8_t growth_by_marked_acks; /* whether acknowledgements with marks grow windows as others do */
    uint8_t may_send;              /* 0 suspends the subflow: no new data */
    uint8_t reserved[4];
} pathweave_path;

/* What one acknowledgement tells. The path is up to date before. */
typedef struct pathweave_ack {
    uint64_t now;           /* when it arrived */
    uint64_t rtt;           /* its RTT sample; 0 without one */
    uint32_t packets;       /* packets newly acknowledged; 0 for duplicates, which come when they echo marks */
    uint32_t ce;            /* marks that it echoes */
    uint8_t recovery;       /* windows must not grow */
    uint8_t window_limited; /* the window was what limited sending */
    uint8_t reserved[6];
} pathweave_ack;

/* A connection, for one call. */
typedef struct pathweave_connection {
    pathweave_path *paths;    /* its subflows, by number */
    uint32_t count;           /* how many */
    uint32_t flow;            /* the flow's number in its run */
    const double *parameters; /* in the order of their declaration; a choice is the number of its word, from 0 */
    void *state;              /* pathweave_controller.state_size bytes */
    void *subflows;           /* count times pathweave_controller.subflow_size bytes, by number */
} pathweave_connection;

typedef struct pathweave_parameter {
    const char *name;
    const char *help;           /* what it does, with its unit, in one sentence */
    double default_value;
    double minimum;             /* -INFINITY for none */
    double maximum;             /* INFINITY for none */
    uint32_t integer;           /* 1 refuses fractions */
    uint32_t reserved;
    const char *const *choices; /* words, with NULL behind the last, and the first is the default; NULL for a number */
} pathweave_parameter;

typedef struct pathweave_controller {
    uint32_t abi;                          /* PATHWEAVE_ABI */
    uint32_t coupled;                      /* 1 when it takes the subflows of a connection together */
    const char *name;                      /* what results call it */
    const char *summary;                   /* one sentence */
    const char *source;                    /* paper section or RFC */
    const char *explanation;               /* formulas and rulings; may be NULL */
    const pathweave_parameter *parameters; /* may be NULL when there are none */
    uint32_t parameter_count;
    uint32_t marks;                        /* marks that an acknowledgement can echo, 1 to 255; 0: not ECN-capable */
    uint64_t state_size;                   /* bytes of a connection's state */
    uint64_t subflow_size;                 /* bytes of the state of each of its subflows */
    int32_t (*open)(const pathweave_connection *connection);  /* before all others; may be NULL */
    void (*close)(const pathweave_connection *connection);    /* after all others; may be NULL. No paths any more */
    int32_t (*on_ack)(const pathweave_connection *connection, uint32_t r, const pathweave_ack *ack);
    int32_t (*on_loss)(const pathweave_connection *connection, uint32_t r, uint32_t loss, uint64_t now);
    int32_t (*on_subflow)(const pathweave_connection *connection, uint32_t r, uint32_t change);
} pathweave_controller;

/* What controllers share: the arithmetic of Pathweave's own, so the same bits. */

static inline int pathweave_is_active(const pathweave_path *path) { return path->state == PATHWEAVE_ACTIVE; }

static inline int pathweave_has_rtt(const pathweave_path *path) { return path->smoothed_rtt > 0; }

static inline double pathweave_rtt_seconds(const pathweave_path *path) { return (double)path->smoothed_rtt / 1e12; }

static inline double pathweave_packets_per_second(const pathweave_path *path) {
    return pathweave_has_rtt(path) ? path->window / pathweave_rtt_seconds(path) : 0.0;
}

static inline int pathweave_in_slow_start(const pathweave_path *path) { return path->window < path->ssthresh; }

static inline int pathweave_lets_window_grow(const pathweave_ack *ack) { return ack->window_limited && !ack->recovery; }

static inline int pathweave_may_grow_by(const pathweave_path *path, const pathweave_ack *ack) {
    return (ack->ce == 0 || path->growth_by_marked_acks) && pathweave_lets_window_grow(ack);
}

/* Adds a packet for each acknowledged one until the window reaches ssthresh; how many are left for congestion avoidance. */
static inline uint32_t pathweave_slow_start(pathweave_path *path, uint32_t packets) {
    if (!pathweave_in_slow_start(path)) return packets;
    if (packets > path->slow_start_limit) packets = path->slow_start_limit;
    double steps = ceil(path->ssthresh - path->window);
    if (steps >= (double)packets) {
        path->window += (double)packets;
        return 0;
    }
    path->window += steps;
    return packets - (uint32_t)steps;
}

/* Sets ssthresh to `window`, at least `least`, and lowers the window to it; it is `least` or more afterwards. */
static inline void pathweave_cut_within(pathweave_path *path, double window, double least) {
    path->ssthresh = window > least ? window : least;
    if (path->window < least) path->window = least;
    if (path->window > path->ssthresh) path->window = path->ssthresh;
}

static inline void pathweave_cut_to(pathweave_path *path, double window) {
    pathweave_cut_within(path, window, path->minimum_window);
}

/* Halves `window` after a fast retransmit; starts again from one packet after a timeout. */
static inline void pathweave_respond_to_loss(pathweave_path *path, uint32_t loss, double window) {
    if (loss == PATHWEAVE_FAST_RETRANSMIT) {
        pathweave_cut_to(path, window / 2.0);
    } else {
        path->ssthresh = window / 2.0 > 2.0 ? window / 2.0 : 2.0;
        path->window = 1.0;
    }
}

/* A round: from sending a given packet until it is acknowledged. Zero is that of a subflow that has sent nothing. */
typedef struct pathweave_round {
    uint64_t end;
} pathweave_round;

static inline void pathweave_round_begin(pathweave_round *round, const pathweave_path *path) { round->end = path->sent; }

static inline int pathweave_round_is_over(const pathweave_round *round, const pathweave_path *path) {
    return path->acked > round->end || (path->acked == round->end && path->acked == path->sent);
}

static inline int pathweave_round_advance(pathweave_round *round, const pathweave_path *path) {
    int over = pathweave_round_is_over(round, path);
    if (over) round->end = path->sent;
    return over;
}

/* One cut a round, however many marks and losses it has. Zero: nothing has been cut yet. */
typedef struct pathweave_once_per_round {
    pathweave_round last;
    double window_before;
    uint64_t has_cut;
} pathweave_once_per_round;

static inline int pathweave_may_cut(const pathweave_once_per_round *cuts, const pathweave_path *path) {
    return !cuts->has_cut || pathweave_round_is_over(&cuts->last, path);
}

static inline void pathweave_has_cut(pathweave_once_per_round *cuts, const pathweave_path *path) {
    pathweave_round_begin(&cuts->last, path);
    cuts->has_cut = 1;
    cuts->window_before = path->window;
}

/* If the round has not been cut yet, takes `share` off the window and gives 1. */
static inline int pathweave_cut_on_mark(pathweave_once_per_round *cuts, pathweave_path *path, double share) {
    if (!pathweave_may_cut(cuts, path)) return 0;
    pathweave_has_cut(cuts, path);
    pathweave_cut_to(path, path->window * (1.0 - share));
    return 1;
}

/* The loss of packets costs `share` of the window before the round's mark; a timeout is the common one. */
static inline void pathweave_cut_on_loss(
    pathweave_once_per_round *cuts, pathweave_path *path, uint32_t loss, double share) {
    double window = path->window;
    if (!pathweave_may_cut(cuts, path)) {
        double before = cuts->window_before < path->loss_limit ? cuts->window_before : path->loss_limit;
        if (before > window) window = before;
    }
    if (loss == PATHWEAVE_FAST_RETRANSMIT) {
        double left = window * (1.0 - share);
        pathweave_cut_to(path, left < path->window ? left : path->window);
    } else {
        pathweave_respond_to_loss(path, loss, window);
    }
    pathweave_has_cut(cuts, path);
}

#ifdef __cplusplus
}
#endif

#endif
