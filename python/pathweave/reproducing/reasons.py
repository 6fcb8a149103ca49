"""Explanations of differences, tested: an explanation is a run with other settings.

An ablation explains a number that differs when it moves it in the stated direction, and the number
then agrees; in part when it moves it and the number still does not agree. One that does not move it
in that direction is refuted. Explanations of orders and shapes, and those that expect the claim to
hold, are judged by whether it does then.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from pathweave.reproducing.paper import Number, Order, Shape
from pathweave.reproducing.sample import aligned, variants_of
from pathweave.reproducing.verdict import Outcome, judge, number_outcome
from pathweave.statistics.paired import paired_difference

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pathweave.reproducing.paper import Because, Claim, Row
    from pathweave.reproducing.record import Ablation, Record
    from pathweave.reproducing.sample import Sample
    from pathweave.reproducing.verdict import Judged

LEVEL = 0.05
"""Probability at which an ablation that changes nothing would be taken to move a number."""


class Explained(StrEnum):
    """What became of an explanation, or of a claim that differs."""

    EXPLAINED = "explained"
    IN_PART = "explained in part"
    REFUTED = "refuted"
    NOT_RUN = "not run"
    UNEXPLAINED = "unexplained"


_BEST = (Explained.EXPLAINED, Explained.IN_PART, Explained.NOT_RUN, Explained.REFUTED)

_ASKED = ("claim", "sets", "scenario", "size", "only", "at")
"""What tells explanations apart."""


@dataclass(frozen=True)
class Reason:
    """An explanation and what its ablation gave."""

    because: Because
    outcome: Explained
    before: tuple[Sample, ...]
    after: tuple[Sample, ...]
    """Of the same variants as `before`; empty where it was not run."""
    command: str


def reasons(row: Row, record: Record, judged: Sequence[Judged]) -> list[Reason]:
    """The row's explanations of claims that do not agree, each with its outcome."""
    found: list[Reason] = []
    for because in row.because:
        about = next(each for each in judged if each.claim.name == because.claim)
        if about.outcome in (Outcome.AGREES, Outcome.IN_ORDER):
            continue
        ablation = _ablation(because, record)
        if ablation is None:
            found.append(Reason(because, Explained.NOT_RUN, (), (), ""))
            continue
        befores = aligned(about.claim, record.samples.get(because.claim, ()))
        afters = aligned(about.claim, ablation.samples)
        chosen = [
            (before, after, place)
            for place, (before, after) in enumerate(zip(befores, afters, strict=True))
            if after.values and _is_at(before, because)
        ]
        outcome = _outcome(about.claim, because, befores, chosen)
        found.append(
            Reason(
                because,
                outcome,
                tuple(before for before, _, _ in chosen),
                tuple(after for _, after, _ in chosen),
                ablation.command,
            )
        )
    return found


def explained(judged: Judged, found: Sequence[Reason]) -> Explained:
    """What is known of why a claim differs: the best of its explanations.

    Numbers are explained when each variant that differs is; in part when some are.
    """
    claim = judged.claim
    own = [reason for reason in found if reason.because.claim == claim.name]
    outcomes = {reason.outcome for reason in own}
    best = next((outcome for outcome in _BEST if outcome in outcomes), Explained.UNEXPLAINED)
    if best is not Explained.EXPLAINED or not isinstance(claim, Number):
        return best
    covered = [
        dict(sample.at)
        for reason in own
        if reason.outcome is Explained.EXPLAINED
        for sample in reason.before
    ]
    differing = [point for point in judged.points if point.outcome is Outcome.DIFFERS]
    whole = all(dict(point.sample.at) in covered for point in differing)
    return best if whole else Explained.IN_PART


def chosen_variants(because: Because, claim: Claim) -> tuple[str, ...]:
    """The restrictions, each "axis=name", to the variants that an explanation is about."""
    variants = [at for at in variants_of(claim) if _matches(at, because)]
    names: dict[str, dict[str, None]] = {}
    for at in variants:
        for axis, name in at.items():
            names.setdefault(axis, {})[name] = None
    if isinstance(claim, Number):  # a ratio needs what it is relative to
        for axis, name in claim.expected.measured.relative_to.items():
            names.setdefault(axis, {})[name] = None
    return tuple(f"{axis}={name}" for axis, several in names.items() for name in several)


def _ablation(because: Because, record: Record) -> Ablation | None:
    for each in record.ablations:
        if all(getattr(each, name) == getattr(because, name) for name in _ASKED):
            return each
    return None


def _is_at(sample: Sample, because: Because) -> bool:
    return _matches(dict(sample.at), because)


def _matches(at: dict[str, str], because: Because) -> bool:
    for axis, wanted in because.at.items():
        names = wanted if isinstance(wanted, list) else [wanted]
        if axis in at and at[axis] not in names:
            return False
    return True


def _outcome(
    claim: Claim,
    because: Because,
    befores: Sequence[Sample],
    chosen: Sequence[tuple[Sample, Sample, int]],
) -> Explained:
    if not chosen:
        return Explained.NOT_RUN
    if not isinstance(claim, Number) or because.expects == "holds":
        return Explained.EXPLAINED if _holds(claim, befores, chosen) else Explained.REFUTED
    agrees = True
    open_ = [
        (before, then, published)
        for before, then, place in chosen
        if number_outcome(before, published := claim.expected.points[place].value, claim.expected)
        is not Outcome.AGREES
    ]
    if not open_:
        return Explained.REFUTED  # it is about variants that agree without it
    for before, then, published in open_:
        if not _moved(because.expects, before, then, published):
            return Explained.REFUTED
        agrees &= number_outcome(then, published, claim.expected) is Outcome.AGREES
    return Explained.EXPLAINED if agrees else Explained.IN_PART


def _holds(
    claim: Claim, befores: Sequence[Sample], chosen: Sequence[tuple[Sample, Sample, int]]
) -> bool:
    """Whether a claim holds with what came of the ablation; other variants stay as they were.

    Of numbers and bounds it is enough that those of these variants agree.
    """
    found = list(befores)
    for _, then, place in chosen:
        found[place] = then
    judged = judge(claim, found)
    if isinstance(claim, Order) or (isinstance(claim, Shape) and claim.trend):
        return judged.outcome in (Outcome.AGREES, Outcome.IN_ORDER)
    agrees = all(judged.points[place].outcome is Outcome.AGREES for *_, place in chosen)
    return agrees or judged.outcome is Outcome.IN_ORDER


def _moved(expects: str, before: Sample, after: Sample, published: float) -> bool:
    """Whether the number has moved in the stated direction, as far as the seeds tell."""
    difference = paired_difference(after.values, before.values)
    if difference.mean is None or difference.p_value is None or before.mean is None:
        return False
    wanted = {"up": 1.0, "down": -1.0}.get(expects, published - before.mean)
    return difference.mean * wanted > 0 and difference.p_value < LEVEL
