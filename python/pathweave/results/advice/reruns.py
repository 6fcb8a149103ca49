"""Whether a rerun has shown that a setting is the cause, and the command that would."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from pathweave.errors import InputError
from pathweave.results import layout
from pathweave.results.merit import rankings
from pathweave.results.read import find_runs
from pathweave.results.settings import what_differs

if TYPE_CHECKING:
    from pathweave.results.advice.case import Advice, Setting
    from pathweave.results.merit import Ranking, Standing
    from pathweave.results.runs import StoredScenario

_REMOVED = 0.2
"""A difference is gone when no more than this part of it is left."""


def sentence(advice: Advice, scenario: StoredScenario, ranking: Ranking) -> str:
    """An advice as a whole sentence: what a rerun has shown, or how to make one."""
    if advice.setting is None:
        return f"{advice.text}."
    found = _rerun(advice, advice.setting, scenario, ranking)
    if found is None:
        return f"{advice.text}. To test it: {_command(advice.setting, scenario)}"
    value, before, after = found
    setting = f"{advice.setting.key} = {value}"
    outcome = f"the difference is {_difference(after)}, not {_difference(before)}"
    if not _is_same(value, advice.setting):
        # Another value may remove the difference by making all variants wait.
        command = _command(advice.setting, scenario)
        return f"{advice.text}. With {setting} {outcome}. To test it: {command}"
    said = (
        "This is the cause" if is_gone(before, after) else "A rerun does not remove the difference"
    )
    return f"{advice.text}. {said}: with {setting} {outcome}."


def is_gone(before: Standing, after: Standing) -> bool:
    """Whether a rerun has removed a difference that was there.

    It was there if chance did not explain it, and is gone if little of it is left: the interval
    alone does not say so, for a wide one holds everything, and shows nothing.
    """
    if before.difference is None or after.difference is None:
        return False
    was, now = before.difference.percent, after.difference.percent
    halves = before.difference.half_percent, after.difference.half_percent
    if was is None or now is None or halves[0] is None or halves[1] is None:
        return False
    was_there = abs(was) > halves[0]
    return was_there and abs(now) <= _REMOVED * abs(was) and halves[1] < abs(was)


def _rerun(
    advice: Advice, setting: Setting, scenario: StoredScenario, ranking: Ranking
) -> tuple[str, Standing, Standing] | None:
    """The value of a setting in a rerun that changed it alone, and the variant before and after.

    Of several, the one with the suggested value.
    """
    before = _standing(ranking, advice)
    parent = scenario.folder.parent
    if before is None or before.difference is None or not parent.is_dir():
        return None
    found: list[tuple[str, Standing, Standing]] = []
    for folder in sorted(parent.iterdir()):
        if folder == scenario.folder or not (folder / layout.SCENARIO).is_file():
            continue
        try:
            (other,) = find_runs([folder])
            value = _changed_value(setting, scenario, other)
            if value is None:
                continue
            others = rankings(other, ranking.baseline, [ranking.subject])
        except (InputError, OSError, ValueError):
            continue  # it cannot be read, or is of other variants
        after = _standing(others[0], advice) if others else None
        if after is not None and after.difference is not None:
            found.append((value, before, after))
    found.sort(key=lambda each: not _is_same(each[0], setting))
    return found[0] if found else None


def _is_same(value: str, setting: Setting) -> bool:
    """Whether a value from the command line is the suggested one."""
    return value.replace(" ", "") == setting.value.replace(" ", "")


def _changed_value(setting: Setting, scenario: StoredScenario, other: StoredScenario) -> str | None:
    """What `other` has set for a key, if nothing else differs: nor in the scenario's file."""
    here, there = scenario.settings, other.settings
    more = set(there.sets) - set(here.sets)
    if len(more) != 1 or not set(here.sets) <= set(there.sets):
        return None
    key, _, value = next(iter(more)).partition("=")
    end = setting.key.rpartition(".")[2]
    differing = {name.rpartition(".")[2] for name, _ in what_differs([here, there])}
    if key.strip() != setting.key or not differing <= {end, "set"} or other.size != scenario.size:
        return None
    return value.strip().strip('"')


def _standing(ranking: Ranking, advice: Advice) -> Standing | None:
    """The variant that an advice is about, in a ranking."""
    case = advice.case
    here = [
        each
        for each in ranking.standings
        if each.name == case.variant.name and each.panel == case.panel
    ]
    return here[0] if len(here) == 1 else None


def _difference(standing: Standing) -> str:
    difference = standing.difference
    if difference is None or difference.percent is None:
        return "unknown"
    half = difference.half_percent
    return (
        f"{difference.percent:+.0f} %"
        if half is None
        else f"{difference.percent:+.0f} ± {half:.0f} %"
    )


def _command(setting: Setting, scenario: StoredScenario) -> str:
    words = ["pathweave", "run", scenario.path or scenario.name]
    if scenario.size and scenario.size != layout.DEFAULT_SIZE:
        words += ["--size", scenario.size]
    root = scenario.folder.parent.parent
    if root.resolve() != layout.DEFAULT_ROOT.resolve():
        words += ["--out", str(root)]
    for text in (*scenario.settings.sets, f"{setting.key}={setting.value}"):
        words += ["--set", text]
    seeds = len({run.seed for run in scenario.runs})
    if seeds > 1:
        words += ["--seeds", str(seeds)]
    return f"`{shlex.join(words)}`"
