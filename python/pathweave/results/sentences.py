"""Rankings in sentences, made from the numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pathweave.results.completion import FEW_UNFINISHED

if TYPE_CHECKING:
    from pathweave.results.merit import Ranking, Standing
    from pathweave.statistics.paired import Difference

_MUCH = 1.25
"""Ratio of two mean queues from which a sentence says so."""
_SHORTEST_QUEUE = 0.1
"""Mean queue (packets) below which its length is nothing to speak of."""
_DURATIONS = ("fct", "jct", "collective_time", "iteration_time", "time_to_fair_share", "rtt")


def sentences(ranking: Ranking) -> list[str]:
    """One sentence for each variant that can be told from the baseline, in the ranking's order.

    Where another leaves flows unfinished, a sentence says that too; where nothing is told apart,
    a sentence says how wide the intervals are.
    """
    found: list[str] = []
    for each in ranking.standings:
        base = _base(ranking, each)
        if base is None or each is base:
            continue
        where = f"{each.panel}: " if each.panel else ""
        said = _verdict(ranking, each)
        also = _costs(ranking, each, base)
        if said:
            found.append(f"{where}{said}{_joined(also)}.")
        elif each.unfinished - base.unfinished > FEW_UNFINISHED:
            found.append(f"{where}{each.name} {_left(ranking, each)}.")
    return found or _nothing(ranking)


def _nothing(ranking: Ranking) -> list[str]:
    """That no variant can be told from the baseline, where there are several seeds."""
    compared = [each.difference for each in ranking.standings if each.verdict and each.difference]
    widths = [each.half_percent for each in compared if each.half_percent is not None]
    if not widths:
        return []
    subject = ranking.subject
    of = f' of "{subject.group}"' if subject.group and subject.group not in subject.text else ""
    widest = max(widths)
    digits = 0 if widest >= 0.95 else 1 if widest >= 0.095 else 2
    return [
        (
            f"Chance may explain every difference to {ranking.baseline} in {subject.text}{of};"
            f" the widest interval is ± {widest:.{digits}f} %."
        )
    ]


def _base(ranking: Ranking, each: Standing) -> Standing | None:
    same = (other for other in ranking.standings if other.panel == each.panel)
    return next((other for other in same if other.name == ranking.baseline), None)


def _verdict(ranking: Ranking, each: Standing) -> str:
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


def _pace(later: bool) -> str:
    return "later" if later else "sooner"


def _by(difference: Difference) -> str:
    """The difference in % with a space after it; empty where the baseline has 0."""
    if difference.percent is None:
        return ""
    half = difference.half_percent or 0.0
    digits = 0 if half >= 0.95 else 1 if half >= 0.095 else 2
    return f"{abs(difference.percent):.{digits}f} ± {half:.{digits}f} % "


def _costs(ranking: Ranking, each: Standing, base: Standing) -> list[str]:
    """What is to be said beside the verdict: queues and unfinished flows that differ much."""
    found: list[str] = []
    own, other = each.costs.queue_packets, base.costs.queue_packets
    if own is not None and other is not None and max(own, other) >= _SHORTEST_QUEUE:
        ratio = own / other if other else float("inf")
        if ratio >= _MUCH:
            found.append(
                f"queues {ratio:.1f} times as long"
                if ratio < 100  # beyond it the other has none to speak of
                else "queues where the other has none"
            )
        elif ratio <= 1 / _MUCH:
            found.append(f"queues {ratio:.0%} as long".replace("%", " %"))
    if each.unfinished - base.unfinished > FEW_UNFINISHED:
        found.append(_left(ranking, each))
    return found


def _left(ranking: Ranking, each: Standing) -> str:
    share = f"{100 * each.unfinished:.0f} %"
    if ranking.subject.quantity == "time_to_fair_share":
        return f"brings {share} of the flows to no fair share"
    what = "jobs" if ranking.subject.quantity == "jct" else "flows"
    return f"leaves {share} of the {what} unfinished"


def _joined(clauses: list[str]) -> str:
    if not clauses:
        return ""
    *first, last = clauses
    return "".join(f", {clause}" for clause in first) + f" and {last}"
