"""New runs of the papers against recorded ones: whether anything has moved.

Identical bits of the common seeds pass without statistics. Of the rest, each number's difference is
tested, paired by seed only where the seeds still draw the same workload, and Holm's correction
keeps the probability of any false "moved" among all numbers compared below 1 %. A difference below
1 % of the recorded number is irrelevant, however sure.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pathweave.reproducing.record import ASKED
from pathweave.statistics.holm import holm
from pathweave.statistics.paired import paired_difference
from pathweave.statistics.welch import welch_difference

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pathweave.reproducing.record import Ablation, Record
    from pathweave.reproducing.sample import Sample

LEVEL = 0.01
"""Largest probability of any false "moved" in one check."""
RELEVANT = 0.01
"""Smallest difference, as a part of the recorded number, that counts."""


@dataclass(frozen=True)
class Moved:
    """A number that is no longer what was recorded."""

    about: str
    """The row and the claim."""
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
    """Recorded numbers that nothing can be compared with."""
    new: list[str] = field(default_factory=list)
    """Numbers that were not recorded yet."""
    notes: list[str] = field(default_factory=list)
    """What may be why numbers moved."""

    @property
    def passed(self) -> bool:
        """Whether every recorded number was compared, and none has moved."""
        return bool(self.compared) and not self.moved and not self.missing

    @property
    def compared(self) -> int:
        """How many numbers were compared."""
        return self.identical + self.not_told_apart + self.irrelevant + len(self.moved)

    @property
    def text(self) -> str:
        """What came out, in a sentence."""
        parts = [_are(self.identical, "identical")] if self.identical else []
        parts += [_are(self.not_told_apart, "not told apart")] if self.not_told_apart else []
        parts += [f"{self.irrelevant} moved by less than 1 %"] if self.irrelevant else []
        parts += [f"{len(self.moved)} moved"] if self.moved else []
        many = "1 number" if self.compared == 1 else f"{self.compared} numbers"
        return f"Of {many}, {', '.join(parts)}." if parts else "Nothing was compared."


def _are(number: int, what: str) -> str:
    return f"{number} {'is' if number == 1 else 'are'} {what}"


@dataclass(frozen=True)
class _Pair:
    about: str
    before: Sample
    after: Sample
    paired: bool

    @property
    def identical(self) -> bool:
        """Whether the seeds that are compared give the same bits."""
        common = self.before.values.keys() & self.after.values.keys()
        if not common or (self.before.at_least, self.before.lacking > 0) != (
            self.after.at_least,
            self.after.lacking > 0,
        ):
            return False
        return all(self.before.values[seed] == self.after.values[seed] for seed in common)


def compare(rows: Sequence[tuple[str, Record | None, Record | None]]) -> Check:
    """Compare the records of rows, each with its id, what was recorded and what came out now."""
    check = Check()
    tested: list[tuple[_Pair, float, float, float]] = []
    pairs = [pair for row, before, after in rows for pair in _of_row(row, before, after, check)]
    for pair in pairs:
        if pair.identical:
            check.identical += 1
            continue
        found = _tested(pair)
        if found is None:
            check.missing.append(f"{pair.about}, {pair.before.label}: one seed has no interval")
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
            check.moved.append(Moved(pair.about, label, before, after, half, method))
    return check


def _of_row(row: str, before: Record | None, after: Record | None, check: Check) -> list[_Pair]:
    """The numbers to compare; `check` gets what cannot be."""
    if after is None:
        check.missing += [f"{row}: has no runs"] if before is not None else []
        return []
    if before is None:
        check.new.append(row)
        return []
    if before.size != after.size:
        sizes = f"recorded at {before.size} size, run now at {after.size} size"
        check.missing.append(f"{row}: {sizes}")
        return []
    if before.settings != after.settings:
        check.notes.append(f"{row}: its scenario is not the recorded one")
    return _pairs(row, before, after, check)


def _pairs(row: str, before: Record, after: Record, check: Check) -> list[_Pair]:
    seeds = before.workload.keys() & after.workload.keys()
    paired = bool(seeds) and all(before.workload[seed] == after.workload[seed] for seed in seeds)
    found: list[_Pair] = []
    for name in dict.fromkeys((*before.samples, *after.samples)):
        about = f"{row}, {name}"
        old, new = before.samples.get(name, ()), after.samples.get(name, ())
        found += _of_claim(about, old, new, paired, check)
    now = {_asked(each): each for each in after.ablations}
    if not now:  # explanations were not asked for
        return found
    for each in before.ablations:
        about = f"{row}, {each.claim} with {', '.join(each.sets) or each.scenario}"
        gave = now.get(_asked(each))
        if gave is None:
            # What no longer differs is not explained, and its claim has moved.
            check.notes.append(f"{about}: not run now")
            continue
        found += _of_claim(about, each.samples, gave.samples, paired, check)
    return found


def _asked(ablation: Ablation) -> str:
    asked = ablation.to_json()
    return json.dumps({name: asked[name] for name in ASKED}, sort_keys=True)


def _of_claim(
    about: str,
    before: Sequence[Sample],
    after: Sequence[Sample],
    paired: bool,
    check: Check,
) -> list[_Pair]:
    old = {frozenset(each.at.items()): each for each in before}
    new = {frozenset(each.at.items()): each for each in after}
    found: list[_Pair] = []
    for at in dict.fromkeys((*old, *new)):
        ours, theirs = old.get(at), new.get(at)
        if ours is not None and ours.values:
            if theirs is None or not theirs.values:
                check.missing.append(f"{about}, {ours.label}: has no value now")
            else:
                common = ours.values.keys() & theirs.values.keys()
                found.append(_Pair(about, ours, theirs, paired and len(common) > 1))
        elif theirs is not None and theirs.values:
            check.new.append(f"{about}, {theirs.label}")
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
    return found.mean, found.half, found.p_value
