"""What stands in a folder of results: settings, number of runs, size, age and state."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pathweave.errors import InputError
from pathweave.results import layout
from pathweave.results.jsonfile import read_json
from pathweave.results.settings import hash_in
from pathweave.results.settings_compared import lines_of_difference, same_scenario

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pathweave.results.read import Found
    from pathweave.results.runs import StoredScenario


@dataclass(frozen=True)
class Entry:
    """The runs of one scenario with the same settings."""

    folder: Path
    name: str
    title: str
    settings: str
    """Name of the folder."""
    backend: str
    variants: int
    seeds: int
    runs: int
    asked: int | None
    """How many runs the commands with these settings asked for; None when that is not known."""
    invalid: int
    unusable: list[str]
    """Why runs of it cannot be used, one text each."""
    bytes: int
    written_s: float
    """When the latest run was written, in seconds since 1970."""
    version: str
    differences: list[str] = field(default_factory=list)
    """What tells it from other settings of the scenario; the first line names the folders."""

    @property
    def state(self) -> str:
        """In words: "complete", "12 of 40 runs, 1 unusable"."""
        words = (
            []
            if self.asked is None or self.runs >= self.asked
            else [f"{self.runs} of {self.asked} runs"]
        )
        words += [f"{len(self.unusable)} unusable"] if self.unusable else []
        words += [f"{self.invalid} invalid"] if self.invalid else []
        return ", ".join(words) or "complete"

    def to_json(self) -> dict[str, Any]:
        """All of it, for programs."""
        return {
            "folder": str(self.folder), "scenario": self.name, "title": self.title,
            "settings": self.settings, "backend": self.backend or "simulation",
            "variants": self.variants, "seeds": self.seeds, "runs": self.runs,
            "asked": self.asked, "invalid": self.invalid, "unusable": self.unusable,
            "bytes": self.bytes, "written_s": self.written_s, "version": self.version,
            "state": self.state, "differences": self.differences,
        }  # fmt: skip


def inventory(found: Found) -> list[Entry]:
    """One entry for each scenario and settings, in the order of their folders."""
    differing = {
        folder: lines
        for group in same_scenario(found.scenarios)
        if (lines := lines_of_difference(group))
        for folder in (scenario.folder for scenario in group)
    }
    entries: list[Entry] = []
    for scenario in found.scenarios:
        bad = [each.reason for each in found.unusable if each.folder.parent == scenario.folder]
        entries.append(_entry(scenario, bad, differing.get(scenario.folder, [])))
    return entries


def elsewhere(found: Found) -> list[str]:
    """Why runs cannot be used that belong to none of the entries."""
    folders = {scenario.folder for scenario in found.scenarios}
    return [each.reason for each in found.unusable if each.folder.parent not in folders]


def _entry(scenario: StoredScenario, unusable: list[str], differing: list[str]) -> Entry:
    runs = scenario.runs
    files = [path for run in runs for path in run.folder.iterdir() if path.is_file()]
    return Entry(
        folder=scenario.folder,
        name=scenario.name,
        title=scenario.title,
        settings=scenario.folder.name,
        backend=scenario.backend,
        variants=len(scenario.labels()),
        seeds=len({run.seed for run in runs}),
        runs=len(runs),
        asked=_asked(scenario),
        invalid=sum(run.invalid is not None for run in runs),
        unusable=unusable,
        bytes=sum(path.stat().st_size for path in files),
        written_s=max((run.folder / layout.MANIFEST).stat().st_mtime for run in runs),
        version=scenario.settings.version,
        differences=differing,
    )


def _asked(scenario: StoredScenario) -> int | None:
    if hash_in(scenario.folder) != scenario.settings.hash:
        return None
    try:
        asked = read_json(scenario.folder / layout.SCENARIO)["asked"]
        return sum(len(seeds) for seeds in asked.values())
    except (OSError, InputError, KeyError, AttributeError, TypeError):
        return None


def document(entries: Iterable[Entry], others: Iterable[str]) -> dict[str, Any]:
    """The inventory for programs: `{"results": [...], "unusable": [...]}`."""
    return {"results": [entry.to_json() for entry in entries], "unusable": list(others)}
