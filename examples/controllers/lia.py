"""LIA, the linked increases of MPTCP (RFC 6356), as crates/control/src/lia has it."""

from __future__ import annotations

from pathweave.controller import (
    Ack,
    Change,
    Controller,
    Loss,
    OncePerRound,
    Parameter,
    Paths,
    PerSubflow,
    slow_start,
)


class Lia(Controller):
    """Couples the increases so that all subflows together take what one TCP on the best path would.

    For each packet acknowledged on subflow r in congestion avoidance, w_r grows by
    min(a / w_total, 1 / w_r), which is 1 / max(B, w_r) with
    B = (sum_s w_s / tau_s)^2 / max_s(w_s / tau_s^2), s over the active subflows.
    """

    name = "lia"
    source = "RFC 6356"
    coupled = True
    cut = Parameter(
        default=0.5, minimum=0, maximum=1, help="Share of the window that a loss costs."
    )

    def __init__(self, **parameters: object) -> None:
        super().__init__(**parameters)
        self.cuts = PerSubflow(OncePerRound)

    def on_ack(self, paths: Paths, r: int, ack: Ack) -> None:
        if not ack.lets_window_grow:
            return
        path = paths[r]
        packets = slow_start(path, ack.packets)
        if packets == 0:
            return
        subflows, total_rate, best = 0, 0.0, 0.0
        for other in paths.sending():
            subflows += 1
            rtt = other.smoothed_rtt
            if rtt > 0:
                per_rtt = 1.0 / rtt
                rate = other.window * per_rtt
                total_rate += rate
                best = max(best, rate * per_rtt)
        window = path.window
        if subflows > 1 and best > 0.0:
            path.window = window + packets / max(total_rate * total_rate / best, window)
        else:
            path.window = window + packets / window

    def on_loss(self, paths: Paths, r: int, loss: Loss, now: int) -> None:
        self.cuts[r].on_loss(paths[r], loss, self.cut)

    def on_subflow(self, paths: Paths, r: int, change: Change) -> None:
        if change == "opened":
            self.cuts.restart(r)
