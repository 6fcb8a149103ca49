"""A row with all that is known of it: verdicts on its claims, and what explains differences."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pathweave.reproducing.reasons import Explained, Reason, explained, is_open, reasons
from pathweave.reproducing.sample import aligned
from pathweave.reproducing.verdict import Judged, Outcome, judge, not_run, overall

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pathweave.reproducing.paper import Because, Claim, Row
    from pathweave.reproducing.record import Record


_SETTLED = (Explained.EXPLAINED, Explained.IN_PART, Explained.REFUTED, Explained.UNEXPLAINED)
_BE = ("are", "is")


@dataclass(frozen=True)
class Reproduced:
    """A row, judged."""

    row: Row
    record: Record | None
    judged: tuple[Judged, ...]
    reasons: tuple[Reason, ...]

    @property
    def outcome(self) -> Outcome:
        """The verdict on the row: that of its worst claim."""
        outcomes = [each.outcome for each in self.judged]
        return overall(outcomes, picture=bool(self.row.picture))

    @property
    def differing(self) -> list[Judged]:
        """The claims that differ."""
        return [each for each in self.judged if each.outcome is Outcome.DIFFERS]

    @property
    def why(self) -> Explained | None:
        """What is known of why the row differs: of the claim of which least is; None elsewhere."""
        found = [explained(each, self.reasons) for each in self.differing]
        for worst in reversed(list(Explained)):
            if worst in found:
                return worst
        return None

    @property
    def summary(self) -> str:
        """How many of its claims agree: "3 of 5 claims agree"; empty for a single one."""
        if len(self.judged) < 2 or self.outcome is Outcome.NOT_RUN:
            return ""
        good = sum(each.outcome in (Outcome.AGREES, Outcome.IN_ORDER) for each in self.judged)
        return f"{good} of {len(self.judged)} claims agree"

    def to_explain(self) -> list[Because]:
        """The explanations that have something to explain."""
        by_name = {each.claim.name: each for each in self.judged}
        return [each for each in self.row.because if is_open(each, by_name[each.claim])]


def reproduced(row: Row, record: Record | None) -> Reproduced:
    """Judge a row by what its runs gave; `record` is None where nothing was run."""
    judged = tuple(_judged(claim, record) for claim in row.claims)
    found = reasons(row, record, judged) if record else []
    return Reproduced(row, record, judged, tuple(found))


def _judged(claim: Claim, record: Record | None) -> Judged:
    if record is None or claim.name not in record.samples:
        return not_run(claim, aligned(claim, ()))
    return judge(claim, aligned(claim, record.samples[claim.name]))


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
        Outcome.DIFFERS: ("differs", "differ"),
        Outcome.UNDECIDED: ("is not decided", "are not decided"),
        Outcome.NO_VALUE: ("has no value", "have no value"),
        Outcome.PICTURE: ("can only be compared by eye",) * 2,
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
