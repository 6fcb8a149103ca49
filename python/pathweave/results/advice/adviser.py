"""At most five sentences about what decided an answer.

They state shares of the difference in the question's quantity. A cause is claimed only where a
rerun with the named setting has removed the difference; else the sentence ends with the command
that tests it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pathweave.results.advice.case import Advice, Case, Side
from pathweave.results.advice.failures import dead_paths, unfinished
from pathweave.results.advice.hosts import bursts, drops, transports
from pathweave.results.advice.profile import EXPLAINED, profile
from pathweave.results.advice.reruns import sentence
from pathweave.results.advice.waiting import timers, waits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pathweave.results.merit import Ranking
    from pathweave.results.runs import StoredRun, StoredScenario

MOST = 5
"""Sentences of an advice."""
_RULES: tuple[Callable[[Case], Iterator[Advice]], ...] = (
    timers, bursts, dead_paths, unfinished, drops, transports, waits,
)  # fmt: skip


def advise(scenario: StoredScenario, ranking: Ranking) -> list[str]:
    """What made the variants of a ranking differ, the largest share first; empty for nothing."""
    scenario = scenario.counted()
    # Results from before the account of time say nothing of what flows waited for.
    has_accounts = all("waits" in run.tables for run in scenario.runs)
    if not has_accounts or ranking.subject.quantity not in EXPLAINED:
        return []
    found: list[Advice] = []
    for rule in _RULES:
        of_rule = [advice for case in _cases(scenario, ranking) for advice in rule(case)]
        found += _one_of_each(of_rule)
    found.sort(key=lambda advice: -min(advice.weight, 1.0))
    return [sentence(advice, scenario, ranking) for advice in found[:MOST]]


def _cases(scenario: StoredScenario, ranking: Ranking) -> list[Case]:
    """Each variant that is compared, with the baseline of its panel."""
    runs: dict[str, list[StoredRun]] = {}
    for run in scenario.runs:
        runs.setdefault(run.label, []).append(run)
    sides = {
        (each.panel, each.name): Side(
            each.name, runs[each.label], profile(runs[each.label], ranking.subject)
        )
        for each in ranking.standings
    }
    return [
        Case(
            ranking.subject,
            sides[each.panel, each.name],
            sides[each.panel, ranking.baseline],
            each.panel,
            each.verdict.outcome if each.verdict is not None else "",
            (each.difference.mean or 0.0) if each.difference is not None else 0.0,
        )
        for each in ranking.standings
        if each.name != ranking.baseline and (each.panel, ranking.baseline) in sides
    ]


def _one_of_each(found: list[Advice]) -> list[Advice]:
    """Of the advice about one topic, that with the largest share."""
    best: dict[str, Advice] = {}
    for advice in found:
        if advice.topic not in best or advice.weight > best[advice.topic].weight:
            best[advice.topic] = advice
    return list(best.values())
