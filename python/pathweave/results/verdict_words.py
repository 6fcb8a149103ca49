"""One verdict of a ranking in words, made from its numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pathweave.results.present import apart

if TYPE_CHECKING:
    from pathweave.results.merit import Ranking, Standing
    from pathweave.statistics.paired import Difference

_DURATIONS = ("fct", "jct", "collective_time", "iteration_time", "time_to_fair_share", "rtt")


def nothing_told_apart(ranking: Ranking) -> list[str]:
    """That no variant can be told from the baseline, where there are several seeds."""
    compared = [each.difference for each in ranking.standings if each.verdict and each.difference]
    widths = [each.half_percent for each in compared if each.half_percent is not None]
    if not widths:
        return []
    subject = ranking.subject
    of = f' of "{subject.group}"' if subject.group and subject.group not in subject.text else ""
    widest = max(widths)
    return [
        (
            f"Chance may explain every difference to {ranking.baseline} in {subject.text}{of};"
            f" the widest interval is ± {width_text(widest)} %."
        )
    ]


def width_text(percent: float) -> str:
    """Half of an interval's width as sentences have it."""
    digits = 0 if percent >= 0.95 else 1 if percent >= 0.095 else 2
    return f"{percent:.{digits}f}"


def verdict_text(ranking: Ranking, each: Standing) -> str:
    """How the variant compares with the baseline; empty where that is not known."""
    difference, verdict = each.difference, each.verdict
    if difference is None or verdict is None:
        return ""
    if difference.identical:
        return f"{each.name} and {ranking.baseline} give the same on every seed"
    if verdict.outcome not in ("better", "worse"):
        return ""
    subject = ranking.subject
    more = (difference.mean or 0.0) > 0
    by = _by(difference)
    of = f' of "{subject.group}"' if subject.group else ""
    than = f"than {ranking.baseline}"
    if subject.quantity == "fct":
        return f"{each.name} completes flows{of} {by}{_pace(more)} {than} ({subject.statistic})"
    if subject.quantity == "jct":
        return f"{each.name} completes jobs{of} {by}{_pace(more)} {than} ({subject.statistic})"
    size = ("longer" if more else "shorter") if subject.quantity in _DURATIONS else None
    size = size or ("more" if more else "less")
    return f"{each.name} has {by}{size} {subject.text} {than}"


def verdict_beside(each: Standing, before: Standing | None) -> str:
    """The verdict on a variant behind that on the one before it: its name and the difference.

    Empty unless both differ from the baseline of one panel in the same direction, by a percentage.
    """
    if before is None or before.panel != each.panel:
        return ""
    for one in (each, before):
        if one.difference is None or one.difference.percent is None or one.verdict is None:
            return ""
    outcomes = {one.verdict.outcome for one in (each, before) if one.verdict is not None}
    if outcomes not in ({"better"}, {"worse"}) or each.difference is None:
        return ""
    return f"{each.name} {_by(each.difference).rstrip()}"


def _pace(later: bool) -> str:
    return "later" if later else "sooner"


def _by(difference: Difference) -> str:
    """The difference in % with a space after it; empty where the baseline has 0."""
    if difference.percent is None:
        return ""
    half = difference.half_percent or 0.0
    digits = 0 if half >= 0.95 else 1 if half >= 0.095 else 2
    digits = apart(difference.percent, half, digits)
    return f"{abs(difference.percent):.{digits}f} ± {half:.{digits}f} % "
