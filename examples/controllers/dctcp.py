"""DCTCP (RFC 8257), as crates/control/src/dctcp.rs has it."""

from __future__ import annotations

from functools import partial

from pathweave.controller import (
    Ack,
    Change,
    Controller,
    Loss,
    OncePerRound,
    Parameter,
    Path,
    Paths,
    PerSubflow,
    Round,
    slow_start,
)


class Share:
    """The average share of marked packets, alpha, of one subflow, and when it was last cut."""

    __slots__ = ("alpha", "cuts", "marks", "packets", "round")

    def __init__(self, alpha: float) -> None:
        self.alpha = alpha
        self.cuts = OncePerRound()
        self.round = Round()
        self.packets = 0
        self.marks = 0

    def count(self, path: Path, ack: Ack, g: float) -> None:
        """Count an acknowledgement; at the end of a round alpha is brought up to date."""
        self.packets += ack.packets
        self.marks += ack.ce
        if self.round.advance(path) and self.packets > 0:
            marked = min(self.marks / self.packets, 1.0)
            self.alpha += g * (marked - self.alpha)
            self.packets = self.marks = 0


class Dctcp(Controller):
    """Cuts the window in proportion to the share of marked packets.

    Once a round alpha <- (1 - g) alpha + g F, with F the marked share of its packets; the first
    mark of a round cuts w to w (1 - alpha/2). Everything else is Reno's, on each subflow by itself.
    """

    name = "dctcp"
    source = "RFC 8257"
    ecn = 255
    g = Parameter(default=1 / 16, minimum=0, maximum=1, help="Weight of the latest round in alpha.")
    alpha = Parameter(default=1.0, minimum=0, maximum=1, help="Alpha when a subflow opens.")

    def __init__(self, **parameters: object) -> None:
        super().__init__(**parameters)
        self.shares = PerSubflow(partial(Share, self.alpha))

    def on_ack(self, paths: Paths, r: int, ack: Ack) -> None:
        path, share = paths[r], self.shares[r]
        share.count(path, ack, self.g)
        if path.may_grow_by(ack):
            packets = slow_start(path, ack.packets)
            if packets > 0:
                window = path.window
                path.window = window + packets / window
        if ack.ce > 0:
            share.cuts.on_mark(path, share.alpha / 2.0)

    def on_loss(self, paths: Paths, r: int, loss: Loss, now: int) -> None:
        self.shares[r].cuts.on_loss(paths[r], loss)

    def on_subflow(self, paths: Paths, r: int, change: Change) -> None:
        if change == "opened":
            self.shares.restart(r)
