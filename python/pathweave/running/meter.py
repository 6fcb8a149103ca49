"""How far runs have come, how fast they go, and how long they will take."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from pathweave._core import Progress

_WINDOW_S = 1.0
_MIN_FRACTION = 0.01


@dataclass
class Meter:
    """Speed and time left of one run."""

    clock: Callable[[], float] = time.monotonic
    began: float = field(init=False)
    fraction: float = 0.0
    time_s: float = 0.0
    """Simulated time, seconds."""
    until_s: float | None = None
    """Simulated time at which the run ends, seconds; None when it ends by what happens in it."""
    hops_per_s: float = 0.0
    _mark: tuple[float, int] = field(init=False)

    def __post_init__(self) -> None:
        self.began = self.clock()
        self._mark = (self.began, 0)

    def update(self, progress: Progress) -> None:
        """Take in one look at the run."""
        self.fraction = min(max(progress["fraction"], 0.0), 1.0)
        self.time_s = progress["time_s"]
        self.until_s = progress["until_s"]
        now = self.clock()
        since, hops = self._mark
        if now - since >= _WINDOW_S:
            self.hops_per_s = (progress["packet_hops"] - hops) / (now - since)
            self._mark = (now, progress["packet_hops"])
        elif since == self.began and now > since:
            self.hops_per_s = progress["packet_hops"] / (now - since)

    @property
    def elapsed_s(self) -> float:
        """Wall-clock seconds since the run began."""
        return self.clock() - self.began

    @property
    def left_s(self) -> float | None:
        """Wall-clock seconds still to go; None while it is too early to say."""
        if self.fraction < _MIN_FRACTION:
            return None
        return self.elapsed_s * (1 - self.fraction) / self.fraction


@dataclass
class Overview:
    """Time left of all runs together, taking those to come to be like those so far."""

    total: int
    clock: Callable[[], float] = time.monotonic
    settled: int = 0
    began: float = field(init=False)

    def __post_init__(self) -> None:
        self.began = self.clock()

    def left_s(self, fractions: list[float]) -> float | None:
        """Wall-clock seconds still to go, given how far the runs under way are."""
        done = self.settled + sum(fractions)
        if done < _MIN_FRACTION:
            return None
        return (self.clock() - self.began) * (self.total - done) / done
