"""Claims and verdicts as people read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pathweave.reproducing.paper import Kind, Number, Order, Shape
from pathweave.reproducing.reasons import Explained
from pathweave.reproducing.reproduced import consistencies
from pathweave.reproducing.verdict import Consistency, Outcome
from pathweave.results.present import plus_minus
from pathweave.results.units import number, rate_unit, scale, time_unit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pathweave.reproducing.paper import Because, Claim
    from pathweave.reproducing.reproduced import Reproduced
    from pathweave.reproducing.sample import Sample
    from pathweave.reproducing.verdict import Judged, Point


def claim_text(claim: Claim) -> str:
    """What was published, in words."""
    if isinstance(claim, Number):
        expected = claim.expected
        if claim.says:
            return f"{claim.says} ({expected.source})" if expected.source else claim.says
        return expected.title
    return claim.says


def kind_text(claim: Claim) -> str:
    """What stands before a claim that is our reading; empty for others."""
    return "our reading: " if claim.kind is Kind.READING else ""


def wanted_text(claim: Claim, point: Point) -> str:
    """What was published of one point: a number, or bounds; empty for an order."""
    if isinstance(claim, Number):
        return _with_unit(f"{point.published:g}", claim.expected.unit)
    if isinstance(claim, Order):
        return ""
    unit = "" if claim.trend else claim.measured.unit
    if claim.above is not None and claim.below is not None:
        return _with_unit(f"{claim.above:g} to {claim.below:g}", unit)
    if claim.below is not None:
        return _with_unit(f"below {claim.below:g}", unit)
    return _with_unit(f"above {claim.above:g}", unit)


def order_text(claim: Order) -> str:
    """The published order: "A, B < C"."""
    return " < ".join(", ".join(level) for level in claim.levels)


def sample_text(claim: Claim, sample: Sample, unit: str | None = None) -> str:
    """Ours with half its interval: "509.1 ± 7.5 Mbps", "at least 120 ms"."""
    mean, half = sample.mean, sample.half
    if mean is None:
        return "–"
    shown = shown_unit(claim, [sample]) if unit is None else unit
    one = scale(shown) / scale(unit_of(claim))
    if sample.at_least:
        return _with_unit(f"at least {number(mean / one, 3)}", shown)
    text = _with_unit(plus_minus(mean / one, None if half is None else half / one), shown)
    if not sample.lacking:
        return text
    return f"{text} ({len(sample.values)} of {len(sample.values) + sample.lacking} seeds)"


def unit_of(claim: Claim) -> str:
    """The unit of a claim's values."""
    if isinstance(claim, Number):
        return claim.expected.unit
    return "" if isinstance(claim, Shape) and claim.trend else claim.measured.unit


def shown_unit(claim: Claim, samples: Sequence[Sample]) -> str:
    """The unit that values are shown in: a fitting one where the claim names none."""
    unit = unit_of(claim)
    if unit or isinstance(claim, Number) or claim.measured.is_ratio:
        return unit
    if isinstance(claim, Shape) and claim.trend:
        return unit
    largest = max((abs(sample.mean or 0.0) for sample in samples), default=0.0)
    if claim.measured.column.endswith("_bps"):
        return rate_unit(largest)
    return time_unit(largest) if claim.measured.column.endswith("_s") else ""


def difference_text(claim: Claim, point: Point) -> str:
    """How far ours is from the published number: "+3 %"; in its unit where that decides."""
    mean, found = point.sample.mean, point.difference
    if point.sample.at_least or mean is None or point.published is None:
        return ""
    if isinstance(claim, Number) and claim.expected.within is not None:
        apart = mean - point.published
        sign = "-" if apart < 0 else "+"
        unit = "points" if claim.expected.unit == "%" else claim.expected.unit
        return _with_unit(f"{sign}{number(abs(apart), 2)}", unit)
    if found is None:
        return ""
    percent = round(100 * found) + 0  # no minus before 0
    return f"{percent:+d} %" if abs(found) < 10 else f"{found + 1:,.0f} times"


def verdict_text(judged: Judged) -> str:
    """The verdict, and what an undecided one asks for."""
    if judged.outcome is Outcome.UNDECIDED:
        return "not decided: more seeds"
    return judged.outcome.value


def why_text(why: Explained | None) -> str:
    """What is known of why a row differs."""
    if why is None:
        return ""
    return "explanation not run" if why is Explained.NOT_RUN else why.value


def checked_text(found: Reproduced) -> str:
    """How a row's quick runs compare with the published size; empty where that is no other one.

    "consistent in 4 of 5 claims, 1 of 1 reading (2 seeds); the sizes disagree in 1".
    """
    if not found.is_reduced:
        return ""
    if found.paper_size is None:
        return "not checked"
    parts: list[str] = []
    for name, several in (("claim", found.deciding), ("reading", found.readings)):
        reduced = [each for each in several if each.claim.name in found.row.paper_setups]
        if reduced:
            good = consistencies(reduced)[Consistency.CONSISTENT]
            parts.append(f"{good} of {many(len(reduced), name)}")
    seeds = many(len(found.paper_size.seeds), "seed")
    text = f"consistent in {', '.join(parts)} ({seeds})"
    counted = consistencies(found.judged)
    off, open_ = counted[Consistency.DISAGREES], counted[Consistency.NOT_COMPARED]
    text += f"; the sizes disagree in {off}" if off else ""
    return text + (f"; {open_} not compared" if open_ else "")


def paper_size_text(judged: Judged, point: Point, unit: str | None = None) -> str:
    """Ours at the published size, where the sizes disagree: "480.2 Mbps at the published size"."""
    there = point.at_paper_size
    if judged.consistency is not Consistency.DISAGREES or there is None:
        return ""
    return f"{sample_text(judged.claim, there, unit)} at the published size"


def changed_text(because: Because) -> str:
    """What an explanation's runs have changed, in Markdown."""
    changed = [*because.sets, *([f"--size {because.size}"] if because.size else [])]
    return ", ".join(f"`{each}`" for each in changed or [because.scenario])


def heading_text(because: Because) -> str:
    """What an explanation is of: 'Why "goodput" differs'."""
    return f'Why "{because.claim}" {"agrees" if because.of_agreement else "differs"}'


def many(number: int, what: str) -> str:
    """A number of things: "1 seed", "2 seeds"."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _with_unit(text: str, unit: str) -> str:
    return f"{text} {unit}" if unit else text
