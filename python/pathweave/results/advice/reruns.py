"""Whether a rerun has shown that a setting is the cause, and the command that would."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from pathweave.errors import InputError
from pathweave.results import layout
from pathweave.results.merit import rankings
from pathweave.results.read import find_runs
from pathweave.results.settings import hash_in

if TYPE_CHECKING:
    from pathweave.results.advice.case import Advice, Setting
    from pathweave.results.merit import Ranking, Standing
    from pathweave.results.read import StoredScenario

_REMOVED = 0.2
"""A difference is gone when no more than this part of it is left."""


def sentence(advice: Advice, scenario: StoredScenario, ranking: Ranking) -> str:
    """An advice as a whole sentence: what a rerun has shown, or how to make one."""
    if advice.setting is None:
        return f"{advice.text}."
    found = _rerun(advice.setting, scenario, ranking, advice.case.variant.name)
    if found is None:
        return f"{advice.text}. To test it: {_command(advice.setting, scenario)}"
    value, before, after = found
    was, now = _difference(before), _difference(after)
    setting = f"{advice.setting.key} = {value}"
    said = (
        "This is the cause: with"
        if is_gone(before, after)
        else "A rerun does not remove the difference: with"
    )
    return f"{advice.text}. {said} {setting} the difference is {now}, not {was}."


def is_gone(before: Standing, after: Standing) -> bool:
    """Whether a rerun has removed a difference that was there.

    It was there if chance did not explain it, and is gone if little of it is left: the interval
    alone does not say so, for a wide one holds everything.
    """
    if before.difference is None or after.difference is None:
        return False
    was, now = before.difference.percent, after.difference.percent
    half = before.difference.half_percent
    if was is None or now is None or half is None:
        return False
    return abs(was) > half and abs(now) <= _REMOVED * abs(was)


def _rerun(
    setting: Setting, scenario: StoredScenario, ranking: Ranking, variant: str
) -> tuple[str, Standing, Standing] | None:
    """The value of a setting in a rerun that changed it alone, and the variant before and after."""
    before = _standing(ranking, variant)
    parent = scenario.folder.parent
    if before is None or before.difference is None or not parent.is_dir():
        return None
    for folder in sorted(parent.iterdir()):
        if folder == scenario.folder or not (folder / layout.SCENARIO).is_file():
            continue
        if hash_in(folder) is None:
            continue
        try:
            (other,) = find_runs([folder])
        except (InputError, OSError, ValueError):
            continue
        value = _changed_value(setting, scenario, other)
        if value is None:
            continue
        found = rankings(other, ranking.baseline, [ranking.subject])
        after = _standing(found[0], variant) if found else None
        if after is not None and after.difference is not None:
            return value, before, after
    return None


def _changed_value(setting: Setting, scenario: StoredScenario, other: StoredScenario) -> str | None:
    """What `other` has set for a key, if nothing else differs."""
    same = (
        other.size == scenario.size
        and other.settings.version == scenario.settings.version
        and other.settings.backend == scenario.settings.backend
    )
    more = set(other.settings.sets) - set(scenario.settings.sets)
    if not same or len(more) != 1 or not set(scenario.settings.sets) <= set(other.settings.sets):
        return None
    key, _, value = next(iter(more)).partition("=")
    return value.strip().strip('"') if key.strip() == setting.key else None


def _standing(ranking: Ranking, variant: str) -> Standing | None:
    here = [each for each in ranking.standings if each.name == variant]
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
    for text in (*scenario.settings.sets, f"{setting.key}={setting.value}"):
        words += ["--set", text]
    seeds = len({run.seed for run in scenario.runs})
    if seeds > 1:
        words += ["--seeds", str(seeds)]
    return f"`{shlex.join(words)}`"
