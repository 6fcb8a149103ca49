"""LIA (RFC 6356) as lia.py has it, compiled by numba: pip install pathweave[numba]."""

from __future__ import annotations

import numpy as np

from pathweave.controller import Parameter
from pathweave.controller.compiled import OPENED, CompiledController
from pathweave.controller.jit import (
    ONCE_PER_ROUND,
    cut_on_loss,
    is_active,
    lets_window_grow,
    slow_start,
)


class Lia(CompiledController):
    """Couples the increases: all subflows together take what one TCP on the best path would."""

    name = "lia"
    source = "RFC 6356"
    coupled = True
    subflow = ONCE_PER_ROUND
    cut = Parameter(
        default=0.5, minimum=0, maximum=1, help="Share of the window that a loss costs."
    )

    @staticmethod
    def on_ack(paths, r, ack, subflows, state, parameters):
        if not lets_window_grow(ack):
            return
        packets = slow_start(paths[r], ack.packets)
        if packets == 0:
            return
        subflows, total_rate, best = 0, 0.0, 0.0
        for path in paths:
            if is_active(path) and path.may_send:
                subflows += 1
                if path.smoothed_rtt > 0:
                    per_rtt = 1.0 / np.float64(path.smoothed_rtt)
                    rate = path.window * per_rtt
                    total_rate += rate
                    best = max(best, rate * per_rtt)
        window = paths[r].window
        if subflows > 1 and best > 0.0:
            paths[r].window += packets / max(total_rate * total_rate / best, window)
        else:
            paths[r].window += packets / window

    @staticmethod
    def on_loss(paths, r, loss, now, subflows, state, parameters):
        cut_on_loss(subflows[r], paths[r], loss, parameters.cut)

    @staticmethod
    def on_subflow(paths, r, change, subflows, state, parameters):
        if change == OPENED:
            subflows[r].has_cut = 0
