"""What a case is: a scenario, rows that predict what comes out of it, and how rows are judged."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

    from network import Measured

Kind = Literal["relative", "absolute", "at most", "at least", "refused"]


@dataclass(frozen=True)
class Tolerance:
    """How far a value may be from the prediction."""

    kind: Kind
    size: float = 0.0

    def allows(self, predicted: float, value: float) -> bool:
        """Whether the value counts as predicted."""
        match self.kind:
            case "relative":
                return math.isfinite(value) and abs(value - predicted) <= self.size * abs(predicted)
            case "absolute":
                return math.isfinite(value) and abs(value - predicted) <= self.size
            case "at most":
                return value <= predicted
            case "at least":
                return value >= predicted
            case "refused":
                return False

    def text(self) -> str:
        """For tables."""
        match self.kind:
            case "relative":
                return f"± {100 * self.size:g} %"
            case "absolute":
                return f"± {self.size:g}"
            case _:
                return self.kind


@dataclass(frozen=True)
class Row:
    """One prediction."""

    quantity: str
    predicted: float
    tolerance: Tolerance
    simulated: Callable[[Measured], float] | None = None
    solved: Callable[[Measured], float] | None = None
    """From `pathweave solve --utility controller`, which is held to the tolerance too."""
    corrected: str = ""
    """Why the prediction is not the one that was written down first."""
    added: str = ""
    """Why the row was added when others of its case had run."""


@dataclass(frozen=True)
class Case:
    """A scenario and its rows."""

    name: str
    rows: tuple[Row, ...]
    scenario: Callable[[], dict[str, Any]] | None = None
    compute: Callable[[], dict[str, float]] | None = None
    """In place of a scenario: values by quantity, of sums that need no simulation."""
    solve: bool = False
    """Whether `solve` is asked; its refusal is what every row then shows."""
    added: str = ""
    """Why the case was added when others had run; its predictions come before its own run."""


def relative(share: float) -> Tolerance:
    """Of the prediction."""
    return Tolerance("relative", share)


def absolute(size: float) -> Tolerance:
    """In the row's unit."""
    return Tolerance("absolute", size)


AT_MOST = Tolerance("at most")
AT_LEAST = Tolerance("at least")
REFUSED = Tolerance("refused")


@dataclass
class Verdict:
    """A row with its numbers."""

    case: str
    quantity: str
    predicted: float
    tolerance: Tolerance
    simulated: float | None = None
    solved: float | str | None = None

    @property
    def simulation(self) -> str:
        """agrees, differs, or – where nothing is simulated."""
        return self._word(self.simulated)

    @property
    def solution(self) -> str:
        """agrees, differs, refused, or – where nothing is solved."""
        if isinstance(self.solved, str):
            return self.solved
        if self.tolerance.kind == "refused" and self.solved is not None:
            return "differs"
        return self._word(self.solved)

    def _word(self, value: float | None) -> str:
        if value is None:
            return "–"
        return "agrees" if self.tolerance.allows(self.predicted, value) else "differs"
