"""Two variants whose difference is to be explained, and what the advice about them says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pathweave.results.advice.profile import is_tail
from pathweave.results.quantities import parse_statistic
from pathweave.results.units import time_unit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pathweave.results.advice.profile import Profile
    from pathweave.results.measures import Measure
    from pathweave.results.runs import StoredRun


@dataclass(frozen=True)
class Side:
    """A variant, as far as advice looks at it."""

    name: str
    runs: Sequence[StoredRun]
    profile: Profile | None

    def group(self, name: str) -> Mapping[str, Any]:
        """The traffic group of this name as it was run; the first one for an empty name."""
        groups = self.runs[0].manifest["resolved"].get("traffic", [])
        here = [group for group in groups if not name or group.get("name") == name]
        return here[0] if here else {}

    def transport(self, name: str) -> Mapping[str, Any]:
        """The transport of a traffic group, with all its keys."""
        found: Mapping[str, Any] = self.group(name).get("transport", {})
        return found


@dataclass(frozen=True)
class Case:
    """A variant and its baseline."""

    measure: Measure
    variant: Side
    baseline: Side
    panel: str = ""
    """Their names on the other axes."""
    outcome: str = ""
    """What the ranking says of the variant: "better", "worse"; anything else says nothing."""
    moved: float = 0.0
    """The difference of the question's quantity, in its own unit."""

    @property
    def sides(self) -> tuple[Side, Side]:
        """The variant and the baseline."""
        return self.variant, self.baseline

    @property
    def is_clear(self) -> bool:
        """Whether the ranking tells the two apart: shares of any other difference say nothing."""
        return self.outcome in ("better", "worse")

    @property
    def worse(self) -> Side:
        """The one that the ranking finds worse, where it is clear."""
        return self.variant if self.outcome == "worse" else self.baseline

    @property
    def is_split(self) -> bool:
        """Whether the parts of the profiles' difference are parts of the question's difference.

        They are for means and high percentiles of completion time and slowdown. Jobs are over with
        the last of their flows, medians do not add up, and goodput is no sum of times.
        """
        statistic = parse_statistic(self.measure.statistic)
        adds_up = statistic.kind == "mean" or is_tail(statistic)
        is_of_flows = self.measure.quantity in ("fct", "slowdown")
        return self.is_clear and is_of_flows and adds_up and self.difference * self.moved > 0

    @property
    def difference(self) -> float:
        """What the variant's time is longer than the baseline's, in the unit of its profile.

        Of goodput, where profiles are shares of time, it is 1.
        """
        ours, theirs = self.variant.profile, self.baseline.profile
        if ours is None or theirs is None:
            return 0.0
        return 1.0 if self.measure.quantity == "goodput" else ours.total - theirs.total

    def part(self, wait: str) -> float:
        """The part of the difference that is of a wait: below 0 where it makes it smaller."""
        ours, theirs = self.variant.profile, self.baseline.profile
        if ours is None or theirs is None or self.difference == 0:
            return 0.0
        moved = ours.waits.get(wait, 0.0) - theirs.waits.get(wait, 0.0)
        return moved / self.difference

    @property
    def time(self) -> str:
        """What profiles divide, in words."""
        return {"goodput": "time", "slowdown": "slowdown"}.get(
            self.measure.quantity, "completion time"
        )


@dataclass(frozen=True)
class Setting:
    """A setting that a rerun can change."""

    key: str
    value: str


@dataclass(frozen=True)
class Advice:
    """One thing that made a difference, or may have."""

    text: str
    """The sentence, without its end."""
    weight: float
    """The share of the difference that it is about, for the order."""
    case: Case
    topic: str
    """What it is about: of several with one topic, the one with the largest weight is shown."""
    setting: Setting | None = None
    """What would show whether it is the cause."""


def percent(share: float) -> str:
    """A share as a whole number of percent, of small ones with one digit."""
    return f"{100 * share:.0f} %" if abs(share) >= 0.02 else f"{100 * share:.1f} %"


def time_text(seconds: float) -> str:
    """A time as a person writes it: "0.607 ms"."""
    unit = time_unit(seconds)
    scale = {"us": 1e6, "ms": 1e3, "s": 1.0}[unit]
    return f"{seconds * scale:.3g} {unit.replace('us', 'µs')}"


def of_difference(part: float) -> str:
    """How much of a difference is of something, in words."""
    if part > 1.05:
        return "more than the whole difference"
    return "the whole difference" if part > 0.95 else f"{percent(part)} of the difference"
