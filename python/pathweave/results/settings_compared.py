"""What tells scenarios of one name apart: their settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pathweave.results.differences import sentences
from pathweave.results.settings import what_differs

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pathweave.results.runs import StoredScenario


def same_scenario(scenarios: Iterable[StoredScenario]) -> list[list[StoredScenario]]:
    """Those of one name and backend together: they may only differ in settings."""
    together: dict[tuple[str, str], list[StoredScenario]] = {}
    for scenario in scenarios:
        together.setdefault((scenario.name, scenario.backend), []).append(scenario)
    return list(together.values())


def lines_of_difference(group: Sequence[StoredScenario]) -> list[str]:
    """What tells the settings of one scenario apart; nothing where there is only one.

    The first line says which folders are compared, in their order; the others what differs, key by
    key.
    """
    if len(group) < 2:
        return []
    found = sentences(what_differs([scenario.settings for scenario in group]))
    # A program that was changed without a new version gives other results for the same settings.
    found = found or ["the settings are the same, the results are not"]
    return [" / ".join(scenario.folder.name for scenario in group), *found]


def what_differs_in(scenarios: Sequence[StoredScenario]) -> list[tuple[str, list[str]]]:
    """Of each scenario that stands there with several settings its name, and what differs."""
    found = [(group[0].name, lines_of_difference(group)) for group in same_scenario(scenarios)]
    return [(name, lines) for name, lines in found if lines]
