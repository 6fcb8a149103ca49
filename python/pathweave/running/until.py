"""Seeds until it is sure: run more of them until the intervals are narrow enough."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pathweave.errors import InputError
from pathweave.results.measures import parse_measure
from pathweave.results.merit import rankings, subjects, values_of
from pathweave.results.read import find_runs
from pathweave.results.verdict_words import width_text
from pathweave.statistics.until import Rule, State

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pathweave.results.measures import Measure
    from pathweave.results.merit import Ranking
    from pathweave.results.runs import StoredScenario
    from pathweave.running.plan import Plan, Task
    from pathweave.running.pool import Outcome
    from pathweave.running.session import Session
    from pathweave.statistics.until import Decision

MOST = 64
"""Seeds at most where the command line does not say how many."""

_SKEWED = (
    "The differences are skewed, so an interval over few seeds holds the truth less often than"
    " 95 %: 96 seeds or more are safer."
)
_TARGET = re.compile(r"(?:(?P<quantity>.+?)\s*=)?\s*(?P<percent>[0-9]+(?:\.[0-9]+)?)\s*%")


@dataclass(frozen=True)
class Target:
    """How narrow intervals must be, and of what."""

    share: float
    """Half the interval at most, as a share of the baseline's mean: 0.02 for 2 %."""
    subject: Measure | None = None
    """What it is of; None for all that decides about the scenario's workloads."""

    @property
    def text(self) -> str:
        """As a person writes it: "2 %"."""
        return f"{100 * self.share:g} %"


@dataclass(frozen=True)
class Ended:
    """How a run until it is sure ended."""

    session: Session
    """With a plan of the seeds that were run."""
    outcome: Outcome
    """Of the last round; what earlier rounds finished is present in the plan."""
    said: str
    """What was reached, as a sentence; empty after an interruption or a failure."""


def parse_target(text: str, groups: Sequence[str]) -> Target:
    """Read "2%", "goodput=2%" or "p99 fct of small = 2 %".

    Raises `InputError` with what is wrong.
    """
    found = _TARGET.fullmatch(text.strip())
    if found is None or float(found["percent"]) <= 0:
        raise InputError(
            f'--until takes a percentage above 0, such as 2% or "goodput=2%", not "{text}"'
        )
    named = found["quantity"]
    subject = None if named is None else parse_measure(named.strip(), groups, "--until")
    return Target(float(found["percent"]) / 100, subject)


def run_until(
    session: Session,
    target: Target,
    baseline: str | None,
    run: Callable[[Session], Outcome],
) -> Ended:
    """Call `run` with more and more seeds of the session's plan until the target is reached.

    The plan has the most seeds that are allowed. What is there already is not run again.
    """
    seeds = list(session.plan.scenario.seeds)
    rule = Rule(target.share, most=len(seeds))
    finished: list[Task] = []
    count = min(rule.least, len(seeds))
    while True:
        part = replace(session, plan=first_seeds(session.plan, seeds[:count], finished))
        outcome = run(part)
        finished += outcome.finished
        if outcome.cancelled or outcome.failed:
            return Ended(part, outcome, "")
        folders = [task.folder for task in (*part.plan.present, *outcome.finished)]
        decision, widest = _decide(rule, find_runs(folders)[0], target, baseline, seeds[:count])
        if decision is None:
            return Ended(part, outcome, f"{widest} No further seeds were run.")
        if decision.further == 0:
            return Ended(part, outcome, _said(decision, target, count, widest))
        count += decision.further


def first_seeds(plan: Plan, seeds: Sequence[int], finished: Sequence[Task]) -> Plan:
    """The plan with these seeds alone; runs that were finished since it was made are present."""
    done = {task.folder for task in finished}
    tasks = [task for task in plan.missing if task.identity.seed in seeds]
    return replace(
        plan,
        missing=tuple(task for task in tasks if task.folder not in done),
        present=(
            *(task for task in plan.present if task.identity.seed in seeds),
            *(task for task in tasks if task.folder in done),
        ),
    )


def _decide(
    rule: Rule,
    scenario: StoredScenario,
    target: Target,
    baseline: str | None,
    seeds: Sequence[int],
) -> tuple[Decision | None, str]:
    """What the comparison that needs most seeds asks for, and how wide the widest interval is.

    Without a decision the text says why there is nothing to wait for.
    """
    states = _states(scenario, target, baseline, seeds)
    decided = [(rule.next_seeds(state), name) for name, state in states]
    skewed = any(rule.skewed(state) for _, state in states)
    if not decided:
        return None, "There is no interval to wait for: no run has a value, or all are only bounds."
    decision, name = max(
        decided,
        # Where none asks for more, the widest is named.
        key=lambda each: (each[0].further, each[0].half is None, each[0].half or 0.0),
    )
    half = "unknown" if decision.half is None else f"± {width_text(100 * decision.half)} %"
    text = f"the widest interval is {half} ({name})."
    return decision, f"{text} {_SKEWED}" if skewed else text


def _states(
    scenario: StoredScenario, target: Target, baseline: str | None, seeds: Sequence[int]
) -> list[tuple[str, State]]:
    """The comparisons of each panel and workload, each with what it is of."""
    if target.subject is not None:
        scenario = replace(scenario, report={**scenario.report, "quantity": target.subject.written})
    found = rankings(scenario, baseline)
    if not found:  # nothing to compare: the interval of each mean
        return [
            (subject.text, State(seeds, each.values))
            for subject in subjects(scenario)
            for each in values_of(scenario, "", subject)
            if not each.at_least
        ]
    return [state for ranking in found for state in _compared(ranking, seeds)]


def _compared(ranking: Ranking, seeds: Sequence[int]) -> list[tuple[str, State]]:
    states: list[tuple[str, State]] = []
    for panel in ranking.panels:
        here = [each for each in ranking.standings if each.panel == panel]
        base = next((each for each in here if each.name == ranking.baseline), None)
        others = [each.values for each in here if each.difference is not None]
        if base is not None and others:
            where = f"{panel}: " if panel else ""
            states.append((f"{where}{ranking.subject.text}", State(seeds, base.values, others)))
    return states


def _said(decision: Decision, target: Target, seeds: int, widest: str) -> str:
    if decision.reason == "narrow enough":
        return f"{seeds} seeds are enough for {target.text}: {widest}"
    return f"{seeds} seeds are not enough for {target.text}: {widest} Allow more with --seeds."
