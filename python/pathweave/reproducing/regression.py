"""New runs of the papers against recorded ones: whether anything has moved.

Identical bits pass without statistics; with another number of seeds, those of the common ones. Of
the rest, each number's difference is tested, paired by seed only where the seeds still draw the
same workload, and Holm's correction keeps the probability of any false "moved" among all numbers
compared below 1 %. A difference below 1 % of the recorded number is irrelevant, however sure.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pathweave.statistics.holm import holm
from pathweave.statistics.paired import paired_difference
from pathweave.statistics.welch import welch_difference

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pathweave.reproducing.record import Record
    from pathweave.reproducing.sample import Sample

LEVEL = 0.01
"""Largest probability of any false "moved" in one check."""
RELEVANT = 0.01
"""Smallest difference, as a part of the recorded number, that counts."""


@dataclass(frozen=True)
class Moved:
    """A number that is no longer what was recorded."""

    row: str
    claim: str
    variant: str
    before: float
    after: float
    half: float
    """Half the interval of the difference at 1 - `LEVEL`."""
    method: str
    """"paired" or "Welch"."""


@dataclass
class Check:
    """What became of all recorded numbers."""

    identical: int = 0
    not_told_apart: int = 0
    irrelevant: int = 0
    moved: list[Moved] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    """Numbers that only one side has, or that one seed cannot compare."""

    @property
    def compared(self) -> int:
        """How many numbers were compared."""
        return self.identical + self.not_told_apart + self.irrelevant + len(self.moved)

    @property
    def text(self) -> str:
        """What came out, in a sentence."""
        parts = [f"{self.identical} are identical"] if self.identical else []
        parts += [f"{self.not_told_apart} are not told apart"] if self.not_told_apart else []
        parts += [f"{self.irrelevant} moved by less than 1 %"] if self.irrelevant else []
        parts += [f"{len(self.moved)} moved"] if self.moved else []
        return f"Of {self.compared} numbers, {', '.join(parts)}." if parts else "Nothing compared."


@dataclass(frozen=True)
class _Pair:
    row: str
    claim: str
    before: Sample
    after: Sample
    paired: bool

    @property
    def identical(self) -> bool:
        """Whether the seeds that are compared give the same bits."""
        common = self.before.values.keys() & self.after.values.keys()
        if not self.paired:
            return dict(self.before.values) == dict(self.after.values)
        return all(self.before.values[seed] == self.after.values[seed] for seed in common)


def compare(rows: Sequence[tuple[str, Record | None, Record | None]]) -> Check:
    """Compare the records of rows, each with its id, what was recorded and what came out now."""
    check = Check()
    tested: list[tuple[_Pair, float, float, float]] = []
    for row, before, after in rows:
        if before is None and after is None:
            continue  # a picture
        if before is None or after is None:
            side = "recorded" if after is None else "run now"
            check.missing.append(f"{row}: only {side}")
            continue
        if before.size != after.size:
            sizes = f"recorded at {before.size} size, run now at {after.size} size"
            check.missing.append(f"{row}: {sizes}")
            continue
        for pair in _pairs(row, before, after, check):
            if pair.identical:
                check.identical += 1
                continue
            found = _tested(pair)
            if found is None:
                check.missing.append(
                    f"{row}, {pair.claim}, {pair.before.label}: one seed has no interval"
                )
            else:
                tested.append((pair, *found))
    rejected = holm([p for *_, p in tested], LEVEL).rejected if tested else ()
    for (pair, difference, half, _), sure in zip(tested, rejected, strict=True):
        base = abs(pair.before.mean or 0.0)
        if not sure:
            check.not_told_apart += 1
        elif base and abs(difference) < RELEVANT * base:
            check.irrelevant += 1
        else:
            method = "paired" if pair.paired else "Welch"
            before, after = pair.before.mean or 0.0, pair.after.mean or 0.0
            label = pair.before.label
            check.moved.append(Moved(pair.row, pair.claim, label, before, after, half, method))
    return check


def _pairs(row: str, before: Record, after: Record, check: Check) -> list[_Pair]:
    seeds = before.workload.keys() & after.workload.keys()
    paired = bool(seeds) and all(before.workload[seed] == after.workload[seed] for seed in seeds)
    found: list[_Pair] = []
    for name in dict.fromkeys((*before.samples, *after.samples)):
        old = {frozenset(each.at.items()): each for each in before.samples.get(name, ())}
        new = {frozenset(each.at.items()): each for each in after.samples.get(name, ())}
        for at in dict.fromkeys((*old, *new)):
            ours, theirs = old.get(at), new.get(at)
            if ours is None or theirs is None or bool(ours.values) != bool(theirs.values):
                label = (ours or theirs or old[at]).label
                side = "recorded" if theirs is None or not theirs.values else "run now"
                check.missing.append(f"{row}, {name}, {label}: only {side}")
            elif ours.values:
                common = ours.values.keys() & theirs.values.keys()
                found.append(_Pair(row, name, ours, theirs, paired and len(common) > 1))
    return found


def _tested(pair: _Pair) -> tuple[float, float, float] | None:
    """Difference, half its interval and p-value; None where there is no test."""
    before, after = pair.before.values, pair.after.values
    if pair.paired:
        found = paired_difference(after, before, 1 - LEVEL)
    else:
        found = welch_difference(list(after.values()), list(before.values()), 1 - LEVEL)
    if found.mean is None or found.half is None or found.p_value is None:
        return None
    return found.mean, found.half, found.p_value if math.isfinite(found.mean) else 0.0
