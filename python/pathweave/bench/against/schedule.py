"""The runs of a comparison in their order, and how long those that are left will take."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pathweave.bench.against.cases import Case


@dataclass(frozen=True)
class Step:
    """One run."""

    case: Case
    simulator: str
    """Its title."""
    turn: int
    """From 1; 0 is the run that counts packet-hops."""


def steps(cases: Sequence[Case], simulator: str, turns: int) -> list[Step]:
    """For each case a run of the other simulator that counts, then both in turn."""
    found = []
    for case in cases:
        found.append(Step(case, simulator, 0))
        for turn in range(1, turns + 1):
            found += [Step(case, simulator, turn), Step(case, "Pathweave", turn)]
    return found


class Durations:
    """How long runs took, by what they were."""

    def __init__(self) -> None:
        self._took: dict[tuple[str, Case], list[float]] = defaultdict(list)

    def add(self, step: Step, seconds: float) -> None:
        """Take note of a run that took this many seconds of wall time."""
        self._took[step.simulator, step.case].append(seconds)

    def expected_s(self, step: Step) -> float | None:
        """Seconds that a run will take; None if nothing like it has been run.

        What another case took counts by the number of hosts.
        """
        own = self._took.get((step.simulator, step.case))
        if own:
            return fmean(own)
        others = [
            fmean(took) * step.case.hosts / case.hosts
            for (simulator, case), took in self._took.items()
            if simulator == step.simulator
        ]
        return fmean(others) if others else None

    def left_s(self, left: Sequence[Step]) -> float | None:
        """Seconds that all of these will take; None as long as one cannot be told."""
        expected = [self.expected_s(step) for step in left]
        return None if None in expected else sum(each for each in expected if each is not None)
