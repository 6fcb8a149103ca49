"""A row with all that is known of it: verdicts on its claims, and what explains differences."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pathweave.reproducing.reasons import Explained, Reason, explained, reasons
from pathweave.reproducing.sample import aligned
from pathweave.reproducing.verdict import Judged, Outcome, judge, overall

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pathweave.reproducing.paper import Because, Row
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
        """The explanations that are about claims that do not agree."""
        open_ = {
            each.claim.name
            for each in self.judged
            if each.outcome in (Outcome.DIFFERS, Outcome.UNDECIDED)
        }
        return [because for because in self.row.because if because.claim in open_]


def reproduced(row: Row, record: Record | None) -> Reproduced:
    """Judge a row by what its runs gave; `record` is None where nothing was run."""
    judged = tuple(
        judge(claim, aligned(claim, record.samples.get(claim.name, ()) if record else ()))
        for claim in row.claims
    )
    found = reasons(row, record, judged) if record else []
    return Reproduced(row, record, judged, tuple(found))


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
        Outcome.PICTURE: ("can only be compared by eye",) * 2,
        Outcome.NOT_RUN: ("has not been run", "have not been run"),
    }
    parts = [
        f"{verdicts[each]} {text[verdicts[each] > 1]}"
        for each, text in words.items()
        if verdicts[each]
    ]
    said = f"Of {len(several)} rows, {_joined(parts)}."
    known = [f"{why[each]} {_BE[why[each] == 1]} {each.value}" for each in _SETTLED if why[each]]
    waiting = why[Explained.NOT_RUN]
    if waiting:
        known.append(f"{waiting} {'has' if waiting == 1 else 'have'} an untested explanation")
    return f"{said} Of those that differ, {_joined(known)}." if known else said


def _joined(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1]
