"""A comparison of two sets of results in words, for the terminal, reports and notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from pathweave.changes.judge import LEVEL
from pathweave.results.differences import sentences
from pathweave.results.present import middle, plus_minus, unit_text
from pathweave.results.units import number, rate_unit, scale, time_unit
from pathweave.statistics.holm import CORRECTION

if TYPE_CHECKING:
    from pathweave.changes.findings import Findings, Variant
    from pathweave.changes.judge import Change
    from pathweave.changes.side import Side

_ALL = 10_000
"""More keys than differ."""
_MOST_DIGITS = 9
"""Digits of a mean that are shown at most."""


def introduction(changes: Findings) -> list[str]:
    """What is compared, what differs in the settings, and how runs belong together."""
    lines = [_of(changes.a), _of(changes.b), "", *setting_lines(changes)]
    if changes.at:
        lines += ["", f"Compared at: {changes.at}"]
    return [*lines, "", *method_lines(changes)]


def population(changes: Findings) -> str:
    """Whom the compared values are over, in words."""
    if changes.at:
        return f"what happened in {changes.at}, unfinished flows at their age"
    return (
        "all flows, jobs and operations of the window, unfinished ones at their age, and all ports"
        " by the bytes that they sent"
    )


def setting_lines(changes: Findings) -> list[str]:
    """What differs in the settings, line by line: "k: 10 / 20"."""
    found = sentences(changes.differences, most=_ALL)
    own: dict[tuple[str, ...], list[str]] = {}
    for variant in changes.variants:
        lines = tuple(sentences(variant.differences, most=_ALL))
        if lines:
            own.setdefault(lines, []).append(variant.label)
    for lines, labels in own.items():
        every = len(labels) == len(changes.variants)
        where = "" if every else f"{'; '.join(labels)}: "
        found += [f"{where}{line}" for line in lines]
    if not found:
        return ["The settings, the version and the backend are the same."]
    return ["Settings that differ (A / B):", *(f"  {line}" for line in found)]


def method_lines(changes: Findings) -> list[str]:
    """How runs belong together, and what a verdict rests on."""
    ways: dict[str, list[str]] = {}
    for variant in changes.variants:
        ways.setdefault(_way(variant), []).append(variant.label)
    lines: list[str] = []
    for way, labels in ways.items():
        every = len(labels) == len(changes.variants)
        lines.append(f"{way[0].upper()}{way[1:]}." if every else f"{'; '.join(labels)}: {way}.")
    if any(each.half is not None for each in changes.changes):
        lines.append(
            f"Intervals are {100 * (1 - LEVEL):.0f} % of one change; verdicts hold for all of them"
            f" together ({CORRECTION}, {100 * LEVEL:.0f} %). A change below"
            f" {100 * changes.relevant:g} % of A is irrelevant."
        )
    return lines


def _of(side: Side) -> str:
    scenario, seeds = side.scenario, len(side.seeds)
    backend = scenario.backend or "simulation"
    runs = f"{len(scenario.runs)} {'run' if len(scenario.runs) == 1 else 'runs'}"
    many = f"{seeds} {'seed' if seeds == 1 else 'seeds'}"
    return f"{side.name}: {side.given} ({backend}, {many}, {runs})"


def _way(variant: Variant) -> str:
    ours, theirs = variant.seeds
    if variant.identical:
        return f"identical to the last bit for every seed ({len(ours)})"
    if variant.repeatable:
        return "the seeds of a side all give the same bits, so the differences are exact"
    if min(len(ours), len(theirs)) < 2:
        return "one seed gives no interval: a verdict needs more seeds on both sides (--seeds)"
    if variant.pairing.paired:
        common = len(set(ours) & set(theirs))
        left = len(set(ours) ^ set(theirs))
        more = f"; {left} of one side only left out" if left else ""
        return f"paired by seed ({common} seeds{more})"
    return f"not paired (Welch's interval): {variant.pairing.why}"


def as_html(changes: Findings) -> str:
    """The comparison for notebooks."""
    heads = ("variant", "quantity", "of", "A", "B", "B less A", "in %", "verdict")
    lines = "".join(f"<div>{escape(line)}</div>" for line in introduction(changes) if line)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(text)}</td>' for text in _cells(each))}</tr>"
        for each in changes.changes
    )
    head = "".join(f"<th>{text}</th>" for text in heads)
    notes = "".join(f"<div>{escape(note)}</div>" for note in (*changes.notes, summary(changes)))
    return f"{lines}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{notes}"


def _cells(change: Change) -> tuple[str, ...]:
    unit = unit_of(change)
    title = change.metric.title
    return (
        change.variant,
        f"{title} ({unit_text(unit)})" if unit else title,
        change.metric.whose,
        *(value_text(change, value, unit) for value in (change.before, change.after)),
        difference_text(change, unit),
        percent_text(change),
        change.verdict,
    )


def value_text(change: Change, value: float, unit: str) -> str:
    """A mean of one side in `unit`, with the digits that tell the two sides apart."""
    size = max(abs(change.before), abs(change.after))
    digits = 4
    if abs(change.difference) > size * 10.0**-_MOST_DIGITS:  # less is rounding
        while digits < _MOST_DIGITS and abs(change.difference) < size * 10.0 ** (1 - digits):
            digits += 1
    return number(value / scale(unit), digits)


def difference_text(change: Change, unit: str) -> str:
    """The change in `unit`, with its interval where there is one; empty for none at all."""
    if change.verdict == "identical":
        return ""
    half = None if change.half is None else change.half / scale(unit)
    return plus_minus(change.difference / scale(unit), half, signed=True)


def percent_text(change: Change) -> str:
    """The change in % of the baseline's mean, with its interval where there is one."""
    if change.verdict == "identical" or change.percent is None:
        return ""
    return plus_minus(change.percent, change.half_percent, signed=True)


def unit_of(*changes: Change) -> str:
    """One unit for changes of one measure; empty for counts."""
    values = [abs(value) for each in changes for value in (each.before, each.after)]
    largest = max(values)
    return {
        "bit/s": rate_unit(largest),
        "s": time_unit(middle(values)),
        "ratio": "%",
        "packets": "packets",
        "count": "",
    }[changes[0].metric.unit]


def summary(changes: Findings) -> str:
    """The outcome in one sentence."""
    if changes.identical:
        return "All results are identical to the last bit."
    counts: dict[str, int] = {}
    for each in changes.changes:
        counts[each.verdict] = counts.get(each.verdict, 0) + 1
    order = ("moved", "irrelevant", "not told apart", "needs more seeds", "identical")
    found = ", ".join(f"{counts[name]} {name}" for name in order if name in counts)
    total = len(changes.changes)
    what = "quantity" if total == 1 else "quantities"
    return f"{total} {what}: {found}."
