"""Rankings in sentences, made from the numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pathweave.results.along import along
from pathweave.results.completion import FEW_UNFINISHED
from pathweave.results.verdict_words import nothing_told_apart, verdict_beside, verdict_text

if TYPE_CHECKING:
    from pathweave.results.merit import Ranking, Standing

_MUCH = 1.25
"""Ratio of two mean queues from which a sentence says so."""
_SHORTEST_QUEUE = 0.1
"""Mean queue (packets) below which its length is nothing to speak of."""


def sentences(ranking: Ranking) -> list[str]:
    """What is known of each variant that can be told from the baseline, in the ranking's order.

    Variants that differ from the baseline in the same direction share a sentence. Where another
    leaves flows unfinished, a sentence says that too; where nothing is told apart, a sentence says
    how wide the intervals are. Along a sweep a variant has one sentence for all values, and another
    says which value is best.
    """
    if ranking.sweep is not None:
        return along(ranking)
    found: list[list[str]] = []
    before: Standing | None = None
    for each in ranking.standings:
        base = _base(ranking, each)
        if base is None or each is base:
            continue
        where = f"{each.panel}: " if each.panel else ""
        said = verdict_text(ranking, each)
        also = _joined(_costs(ranking, each, base))
        if beside := verdict_beside(each, before):
            found[-1].append(f"{beside}{also}")
        elif said:
            found.append([f"{where}{said}{also}"])
            before = each
        elif each.unfinished - base.unfinished > FEW_UNFINISHED:
            found.append([f"{where}{each.name} {_left(ranking, each)}"])
            before = None
    return [f"{'; '.join(clauses)}." for clauses in found] or nothing_told_apart(ranking)


def _base(ranking: Ranking, each: Standing) -> Standing | None:
    same = (other for other in ranking.standings if other.panel == each.panel)
    return next((other for other in same if other.name == ranking.baseline), None)


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
