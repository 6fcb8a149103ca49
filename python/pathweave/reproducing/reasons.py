"""Explanations of differences, tested: an explanation is a run with other settings.

An ablation explains numbers that differ when it moves each in the stated direction, by at least a
tenth of its difference, and they then agree; in part when it moves some, none of them the other
way, or they still do not agree. One that moves none, or one the other way, is refuted. So it is
with a shape's bounds. Explanations of orders and trends, and those that expect the claim to hold,
are judged by whether it does then. A number that scatters is explained where the published one lies
in the 95 % interval of one more run.

Claims that agree are explained, too: by an ablation under which they do not. Where arithmetic shows
that a published value cannot come out, an explanation is that proof, and nothing is run.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, StrEnum, auto
from typing import TYPE_CHECKING

from pathweave.reproducing.paper import Number, Order, Shape
from pathweave.reproducing.sample import aligned, measured_of, variants_of
from pathweave.reproducing.verdict import HOLDS, Outcome, bounds_outcome, judge, number_outcome
from pathweave.statistics.interval import prediction_half_width
from pathweave.statistics.paired import paired_difference

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pathweave.reproducing.paper import Because, Claim, Row
    from pathweave.reproducing.record import Ablation, Record
    from pathweave.reproducing.sample import Sample
    from pathweave.reproducing.verdict import Judged

PART = 0.1
"""Smallest part of the difference to the published number by which an explanation moves ours."""
LEVEL = 0.05
"""Probability at which an ablation that changes nothing would be taken to move a number."""


class Explained(StrEnum):
    """What became of an explanation, or of a claim that differs."""

    EXPLAINED = "explained"
    PROVEN = "explained by arithmetic"
    IN_PART = "explained in part"
    REFUTED = "refuted"
    NOT_RUN = "not run"
    UNEXPLAINED = "unexplained"


_SURE = (Explained.EXPLAINED, Explained.PROVEN)
_BEST = (*_SURE, Explained.IN_PART, Explained.NOT_RUN, Explained.REFUTED)

_ASKED = ("claim", "sets", "scenario", "size", "only", "at")
"""What tells explanations apart."""


@dataclass(frozen=True)
class Reason:
    """An explanation and what its ablation gave."""

    because: Because
    outcome: Explained
    before: tuple[Sample, ...]
    after: tuple[Sample, ...]
    """Of the same variants as `before`; empty where it was not run, or is arithmetic."""
    command: str

    @property
    def changes(self) -> list[tuple[Sample, Sample]]:
        """Each variant before and after; none without runs."""
        return list(zip(self.before, self.after, strict=True)) if self.after else []


def reasons(row: Row, record: Record, judged: Sequence[Judged]) -> list[Reason]:
    """The row's explanations of claims that do not agree, each with its outcome."""
    found: list[Reason] = []
    for because in row.because:
        about = next(each for each in judged if each.claim.name == because.claim)
        if not is_open(because, about):
            continue
        if because.proof:
            befores = aligned(about.claim, record.samples.get(because.claim, ()))
            chosen_ones = tuple(before for before in befores if _is_at(before, because))
            found.append(Reason(because, Explained.PROVEN, chosen_ones, (), ""))
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


def is_open(because: Because, judged: Judged) -> bool:
    """Whether there is something that the explanation can be of."""
    if judged.outcome is Outcome.SIZES_DISAGREE:  # neither a difference nor an agreement
        return False
    if because.of_agreement:
        return judged.outcome is not Outcome.NOT_RUN
    if judged.outcome in (Outcome.IN_ORDER, Outcome.EFFECT_DIFFERS):  # some need not agree
        return isinstance(judged.claim, Number)
    return judged.outcome is not Outcome.AGREES


def explained(judged: Judged, found: Sequence[Reason]) -> Explained:
    """What is known of why a claim differs: the best of its explanations.

    Numbers are explained when each variant that differs is; in part when some are.
    """
    claim = judged.claim
    own = [
        reason
        for reason in found
        if reason.because.claim == claim.name and not reason.because.of_agreement
    ]
    outcomes = {reason.outcome for reason in own}
    best = next((outcome for outcome in _BEST if outcome in outcomes), Explained.UNEXPLAINED)
    if best not in _SURE or not isinstance(claim, Number):
        return best
    covered = [
        dict(sample.at) for reason in own if reason.outcome in _SURE for sample in reason.before
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
    for axis, name in measured_of(claim).relative_to.items():  # needed for ratios
        if axis in names:  # of all others every name is run
            names[axis][name] = None
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
    if because.of_agreement:
        return Explained.EXPLAINED if _fails(claim, befores, chosen) else Explained.REFUTED
    holds = not isinstance(claim, Number) and _holds(claim, befores, chosen)
    if holds or _is_whole(claim):
        return Explained.EXPLAINED if holds else Explained.REFUTED
    if because.expects == "holds":
        return Explained.EXPLAINED if _holds(claim, befores, chosen) else Explained.REFUTED
    outcomes = [_point_outcome(claim, before, place) for before, _, place in chosen]
    # What differs is to be explained; where nothing does, what is not decided.
    worst = Outcome.DIFFERS if Outcome.DIFFERS in outcomes else Outcome.UNDECIDED
    open_ = [each for each, outcome in zip(chosen, outcomes, strict=True) if outcome is worst]
    if not open_:
        return Explained.REFUTED  # it is about variants that agree without it
    if because.expects == "scatters":
        near = [_may_be_a_run(then, _target(claim, before, place)) for before, then, place in open_]
        return _parts(near)
    moves = [
        _move(because.expects, before, then, _target(claim, before, place))
        for before, then, place in open_
    ]
    if _Move.AWAY in moves or _Move.AS_STATED not in moves:
        return Explained.REFUTED
    agree = all(_point_outcome(claim, then, place) is Outcome.AGREES for _, then, place in open_)
    whole = agree and all(move is _Move.AS_STATED for move in moves)
    return Explained.EXPLAINED if whole else Explained.IN_PART


def _parts(good: Sequence[bool]) -> Explained:
    if all(good):
        return Explained.EXPLAINED
    return Explained.IN_PART if any(good) else Explained.REFUTED


def _is_whole(claim: Claim) -> bool:
    """Whether a claim is about its variants together, not about each."""
    return isinstance(claim, Order) or (isinstance(claim, Shape) and bool(claim.trend))


def _point_outcome(claim: Claim, sample: Sample, place: int) -> Outcome:
    """The verdict on one variant of a number or of a shape's bounds."""
    if isinstance(claim, Number):
        return number_outcome(sample, claim.expected.points[place].value, claim.expected)
    assert isinstance(claim, Shape)  # noqa: S101 - orders are whole
    return bounds_outcome(claim, sample)


def _target(claim: Claim, before: Sample, place: int) -> float:
    """What a number should come to: the published one, or the bound that it breaks."""
    if isinstance(claim, Number):
        return claim.expected.points[place].value
    assert isinstance(claim, Shape)  # noqa: S101 - orders are whole
    mean = before.mean or 0.0
    bounds = [bound for bound in (claim.above, claim.below) if bound is not None]
    return min(bounds, key=lambda bound: abs(bound - mean))


def _fails(
    claim: Claim, befores: Sequence[Sample], chosen: Sequence[tuple[Sample, Sample, int]]
) -> bool:
    """Whether something that agrees differs with what came of the ablation."""
    if not _is_whole(claim):
        return any(
            _point_outcome(claim, before, place) is Outcome.AGREES
            and _point_outcome(claim, then, place) is Outcome.DIFFERS
            for before, then, place in chosen
        )
    return _judged_with(claim, befores, chosen).outcome is Outcome.DIFFERS


def _holds(
    claim: Claim, befores: Sequence[Sample], chosen: Sequence[tuple[Sample, Sample, int]]
) -> bool:
    """Whether a claim holds with what came of the ablation; other variants stay as they were.

    Of numbers and bounds it is enough that those of these variants agree.
    """
    judged = _judged_with(claim, befores, chosen)
    if _is_whole(claim):
        return judged.outcome in HOLDS
    agrees = all(judged.points[place].outcome is Outcome.AGREES for *_, place in chosen)
    return agrees or judged.outcome in (Outcome.IN_ORDER, Outcome.EFFECT_DIFFERS)


def _judged_with(
    claim: Claim, befores: Sequence[Sample], chosen: Sequence[tuple[Sample, Sample, int]]
) -> Judged:
    found = list(befores)
    for _, then, place in chosen:
        found[place] = then
    return judge(claim, found)


def _may_be_a_run(found: Sample, published: float) -> bool:
    """Whether one more run would give the published number with a probability of 95 %."""
    half = prediction_half_width(list(found.values.values()))
    return half is not None and found.mean is not None and abs(published - found.mean) <= half


class _Move(Enum):
    """What an ablation does to a number, as far as the seeds tell."""

    AS_STATED = auto()
    AWAY = auto()
    """The other way."""
    HARDLY = auto()


def _move(expects: str, before: Sample, after: Sample, published: float) -> _Move:
    """Whether the number moves in the stated direction by a part of the difference that matters.

    Towards the published one is nearer to it. A lower bound shows a fall to what is below it, and a
    rise from what is.
    """
    difference = paired_difference(after.values, before.values)
    if difference.mean is None or difference.p_value is None or before.mean is None:
        return _Move.HARDLY
    if before.lacking or after.lacking or difference.p_value >= LEVEL:
        return _Move.HARDLY
    if (before.at_least and difference.mean > 0) or (after.at_least and difference.mean < 0):
        return _Move.HARDLY
    gap = published - before.mean
    if expects == "towards":
        if before.at_least and gap > 0:
            return _Move.HARDLY
        nearer = abs(gap) - abs(gap - difference.mean)
    else:
        nearer = difference.mean if expects == "up" else -difference.mean
    if abs(nearer) < PART * abs(gap):
        return _Move.HARDLY
    return _Move.AS_STATED if nearer > 0 else _Move.AWAY
