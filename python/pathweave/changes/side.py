"""One of the two sets of results that are compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pathweave.errors import InputError
from pathweave.results.read import search

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pathweave.results.runs import StoredRun, StoredScenario


@dataclass(frozen=True)
class Side:
    """Results of one scenario with the same settings."""

    name: str
    """"A" or "B"."""
    given: Path
    """The folder that was named."""
    scenario: StoredScenario
    """Its runs that count."""
    notes: tuple[str, ...]
    """Which runs do not count, and why."""

    @property
    def seeds(self) -> list[int]:
        """The seeds of all its runs, in order."""
        return sorted({run.seed for run in self.scenario.runs})

    def runs(self, label: str) -> dict[int, StoredRun]:
        """The runs of a variant by seed."""
        return {run.seed: run for run in self.scenario.runs if run.label == label}

    def to_json(self) -> dict[str, Any]:
        """What it is of, for programs."""
        scenario = self.scenario
        return {
            "folder": str(scenario.folder),
            "scenario": scenario.name,
            "settings": scenario.folder.name,
            "backend": scenario.backend or "simulation",
            "version": scenario.settings.version,
            "runs": len(scenario.runs),
            "seeds": self.seeds,
            "notes": list(self.notes),
        }


def read_side(name: str, folder: Path) -> Side:
    """The results at or below `folder`.

    Raises `InputError` where there are none that count, and where they are not of one scenario with
    the same settings.
    """
    found = search([folder])
    unusable = [f"left out: {each.reason}" for each in found.unusable]
    return side_of(name, folder, found.scenarios, unusable)


def side_of(
    name: str, folder: Path, scenarios: Sequence[StoredScenario], unusable: Sequence[str] = ()
) -> Side:
    """The same for results that have been read; `folder` is what messages call them."""
    if len(scenarios) > 1:
        raise InputError(_several(folder, scenarios))
    (scenario,) = scenarios
    notes = [*unusable]
    notes += [
        f"left out: {run.label or scenario.name}, seed {run.seed}, is invalid: {run.invalid}"
        for run in scenario.runs
        if run.invalid is not None
    ]
    counted = scenario.counted()
    if not counted.runs:
        raise InputError(f"no run in {folder} counts: all are invalid")
    return Side(name, folder, counted, tuple(notes))


def _several(folder: Path, scenarios: Sequence[StoredScenario]) -> str:
    names = list(dict.fromkeys(scenario.name for scenario in scenarios))
    if len(names) > 1:
        what = f"results of {len(names)} scenarios ({', '.join(names)})"
    else:
        settings = ", ".join(scenario.folder.name for scenario in scenarios)
        what = f"results of {names[0]} with {len(scenarios)} settings ({settings})"
    resolved = folder.resolve()
    first = scenarios[0].folder
    example = folder / first.relative_to(resolved) if first.is_relative_to(resolved) else first
    return f"{folder} holds {what}; name the folder of one of them, such as {example}"
