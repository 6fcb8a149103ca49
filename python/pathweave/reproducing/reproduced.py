"""A row with all that is known of it: verdicts on its claims, and what explains differences.

Verdicts are on what its quick runs give. A claim of which these give something else than the
published size has none.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pathweave.reproducing.consistency import checked
from pathweave.reproducing.paper import Kind
from pathweave.reproducing.paper_size import QUICK, still_valid
from pathweave.reproducing.reasons import Explained, Reason, explained, is_open, reasons
from pathweave.reproducing.sample import aligned
from pathweave.reproducing.verdict import (
    HOLDS,
    Consistency,
    Judged,
    Outcome,
    judge,
    not_run,
    overall,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pathweave.reproducing.paper import Because, Claim, Row
    from pathweave.reproducing.record import Record


_SETTLED = (
    Explained.EXPLAINED,
    Explained.PROVEN,
    Explained.IN_PART,
    Explained.REFUTED,
    Explained.UNEXPLAINED,
)
_BE = ("are", "is")


@dataclass(frozen=True)
class Reproduced:
    """A row, judged."""

    row: Row
    record: Record | None
    judged: tuple[Judged, ...]
    reasons: tuple[Reason, ...]
    paper_size: Record | None = None
    """What was recorded at the published size and still counts."""

    @property
    def is_reduced(self) -> bool:
        """Whether it was run in a set-up that is smaller than the published one."""
        record = self.record
        return record is not None and record.size == QUICK and bool(self.row.paper_setups)

    @property
    def deciding(self) -> list[Judged]:
        """The claims that decide: what was published, and none of our readings."""
        return [each for each in self.judged if each.claim.kind is not Kind.READING]

    @property
    def readings(self) -> list[Judged]:
        """The claims that are our readings."""
        return [each for each in self.judged if each.claim.kind is Kind.READING]

    @property
    def outcome(self) -> Outcome:
        """The verdict on the row: that of its worst claim, readings apart."""
        outcomes = [each.outcome for each in self.deciding]
        if self.judged and not outcomes:
            return Outcome.READINGS if self.record is not None else Outcome.NOT_RUN
        return overall(outcomes, picture=bool(self.row.picture))

    @property
    def differing(self) -> list[Judged]:
        """The claims that differ, readings apart."""
        return [each for each in self.deciding if each.outcome is Outcome.DIFFERS]

    @property
    def why(self) -> Explained | None:
        """What is known of why the row differs: of the claim of which least is; else None."""
        if self.outcome is not Outcome.DIFFERS:
            return None
        found = [explained(each, self.reasons) for each in self.differing]
        for worst in reversed(list(Explained)):
            if worst in found:
                return worst
        return None

    @property
    def summary(self) -> str:
        """How many of its claims agree: "3 of 5 claims agree, 1 of 2 readings"; empty for one."""
        if len(self.judged) < 2 or self.outcome is Outcome.NOT_RUN:
            return ""
        parts: list[str] = []
        if self.deciding:
            good = holding(self.deciding)
            parts.append(f"{good} of {len(self.deciding)} claims agree")
        if self.readings:
            good = holding(self.readings)
            parts.append(f"{good} of {len(self.readings)} readings")
        return ", ".join(parts)

    def to_explain(self) -> list[Because]:
        """The explanations that have something to explain, and something to run."""
        by_name = {each.claim.name: each for each in self.judged}
        return [
            each
            for each in self.row.because
            if not each.proof and is_open(each, by_name[each.claim])
        ]


def reproduced(row: Row, record: Record | None, paper_size: Record | None = None) -> Reproduced:
    """Judge a row by what its runs gave; `record` is None where nothing was run.

    `paper_size` is what was recorded at the published size, which quick runs are checked against.
    """
    is_quick = record is not None and record.size == QUICK
    checks = still_valid(row, paper_size) if is_quick else None
    judged = tuple(_judged(row, claim, record, checks) for claim in row.claims)
    found = reasons(row, record, judged) if record else []
    return Reproduced(row, record, judged, tuple(found), checks)


def _judged(row: Row, claim: Claim, record: Record | None, checks: Record | None) -> Judged:
    if record is None or claim.name not in record.samples:
        return not_run(claim, aligned(claim, ()))
    judged = judge(claim, aligned(claim, record.samples[claim.name]))
    if checks is None or claim.name not in row.paper_setups:
        return judged
    return checked(judged, aligned(claim, checks.samples.get(claim.name, ())))


def holding(several: Iterable[Judged]) -> int:
    """How many of these claims our runs bear out."""
    return sum(each.outcome in HOLDS for each in several)


def consistencies(several: Sequence[Judged]) -> Counter[Consistency]:
    """How many of these claims are consistent with the published size, and how many are not."""
    return Counter(each.consistency for each in several if each.consistency is not None)


def claim_counts(rows: Iterable[Reproduced]) -> Counter[Outcome]:
    """How many of the claims that decide have each verdict."""
    return Counter(each.outcome for row in rows for each in row.deciding)


def counts(rows: Iterable[Reproduced]) -> tuple[Counter[Outcome], Counter[Explained]]:
    """How many rows have each verdict, and how many that differ are explained how."""
    verdicts: Counter[Outcome] = Counter()
    why: Counter[Explained] = Counter()
    for each in rows:
        verdicts[each.outcome] += 1
        if each.why is not None:
            why[each.why] += 1
    return verdicts, why


def counted_text(rows: Iterable[Reproduced]) -> str:
    """The counts as a sentence: "Of 51 rows, 20 agree, 8 agree in order, ..."."""
    several = list(rows)
    verdicts, why = counts(several)
    words = {
        Outcome.AGREES: ("agrees", "agree"),
        Outcome.IN_ORDER: ("agrees in order", "agree in order"),
        Outcome.EFFECT_DIFFERS: (
            "agrees in order with another effect",
            "agree in order with another effect",
        ),
        Outcome.DIFFERS: ("differs", "differ"),
        Outcome.UNDECIDED: ("is not decided", "are not decided"),
        Outcome.SIZES_DISAGREE: ("has sizes that disagree", "have sizes that disagree"),
        Outcome.NO_VALUE: ("has no value", "have no value"),
        Outcome.PICTURE: ("can only be compared by eye",) * 2,
        Outcome.READINGS: ("has our readings only", "have our readings only"),
        Outcome.NOT_RUN: ("has not been run", "have not been run"),
    }
    parts = [
        f"{verdicts[each]} {text[verdicts[each] > 1]}"
        for each, text in words.items()
        if verdicts[each]
    ]
    rows_of = "1 row" if len(several) == 1 else f"{len(several)} rows"
    said = f"Of {rows_of}, {_joined(parts)}."
    known = [f"{why[each]} {_BE[why[each] == 1]} {each.value}" for each in _SETTLED if why[each]]
    waiting = why[Explained.NOT_RUN]
    if waiting:
        known.append(f"{waiting} {'has' if waiting == 1 else 'have'} an untested explanation")
    return f"{said} Of those that differ, {_joined(known)}." if known else said


def _joined(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1]
