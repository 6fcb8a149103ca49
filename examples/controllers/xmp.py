"""XMP (Cao et al., CoNEXT 2013), as crates/control/src/xmp.rs has it with variant = "paper"."""

from __future__ import annotations

import math

from pathweave.controller import (
    Ack,
    Change,
    Controller,
    Loss,
    Parameter,
    Path,
    Paths,
    PerSubflow,
    Round,
    respond_to_loss,
    slow_start,
)


class Subflow:
    """What XMP remembers of a subflow."""

    __slots__ = ("adder", "rate", "reduced_until", "round", "window_before")

    def __init__(self) -> None:
        self.round = Round()
        self.adder = 0.0
        self.rate: float | None = None
        """Its rate (packets a second) once a round has ended."""
        self.reduced_until: int | None = None
        """In state REDUCED: the packets up to here must be acknowledged before the next cut."""
        self.window_before = 0.0
        """What a loss in state REDUCED halves."""


class Xmp(Controller):
    """BOS on every subflow; shifts traffic by giving faster subflows more of the increase.

    At the end of each round of subflow r: delta_r = (x_r / y) (tau_r / T), with x the rates w/tau,
    y their sum and T the smallest RTT. A round adds delta_r, a marked round costs w / beta.
    """

    name = "xmp"
    source = "XMP, CoNEXT 2013, algorithm 1"
    coupled = True
    ecn = 3  # two bits of the header carry the number of marks
    beta = Parameter(
        default=4, minimum=2, maximum=1024, help="A marked round costs 1/beta of the window."
    )

    def __init__(self, **parameters: object) -> None:
        super().__init__(**parameters)
        self.subflows = PerSubflow(Subflow)

    def on_ack(self, paths: Paths, r: int, ack: Ack) -> None:
        path, subflow = paths[r], self.subflows[r]
        if ack.ce > 0 and subflow.reduced_until is None:
            self.cut(path, subflow)
        if subflow.round.is_over(path):
            subflow.rate = path.packets_per_second if path.has_rtt else None
            if subflow.reduced_until is None and not path.in_slow_start and ack.lets_window_grow:
                subflow.adder += self.delta(paths, path)
                whole = math.floor(subflow.adder)
                path.window += whole
                subflow.adder -= whole
            subflow.round.begin(path)
        if subflow.reduced_until is None:
            if ack.lets_window_grow:
                slow_start(path, ack.packets)
        elif path.acked >= subflow.reduced_until:
            subflow.reduced_until = None

    def cut(self, path: Path, subflow: Subflow) -> None:
        """Reduce the window at the first mark of a round, and end slow start."""
        subflow.reduced_until = path.sent
        subflow.window_before = window = path.window
        if not path.in_slow_start:
            window -= max(window / self.beta, 1.0)
        path.window = window = max(window, path.minimum_window)
        path.ssthresh = max(window - 1.0, 1.0)

    def delta(self, paths: Paths, path: Path) -> float:
        """TraSh: the packets that a round of this path's subflow adds."""
        total_rate, shortest = 0.0, 0.0
        for s, other in enumerate(paths):
            if other.is_active and other.has_rtt:
                rate = self.subflows[s].rate
                total_rate += other.packets_per_second if rate is None else rate
                rtt = other.rtt_seconds
                shortest = rtt if shortest == 0.0 else min(shortest, rtt)
        if total_rate == 0.0:
            return 1.0
        return (path.packets_per_second / total_rate) * (path.rtt_seconds / shortest)

    def on_loss(self, paths: Paths, r: int, loss: Loss, now: int) -> None:
        path, subflow = paths[r], self.subflows[r]
        window = path.window
        if subflow.reduced_until is not None:
            window = max(window, min(subflow.window_before, path.loss_limit))
        respond_to_loss(path, loss, window)
        subflow.reduced_until = path.sent if loss == "fast-retransmit" else None
        subflow.window_before = path.window
        # What the loss leaves is what siblings couple to.
        subflow.rate = path.packets_per_second if path.has_rtt else None

    def on_subflow(self, paths: Paths, r: int, change: Change) -> None:
        if change == "opened":
            self.subflows.restart(r)
