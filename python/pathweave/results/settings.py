"""The settings that results share: what may stand in one table, and what may not.

Results belong together when they are of one scenario without its variants, of one size, with the
same values from the command line, of one version of results and one backend. Runs of other
settings stand in other folders and never share a table, an interval or a chart.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pathweave.core import core
from pathweave.results import layout
from pathweave.results.differences import differences
from pathweave.results.jsonfile import read_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pathweave._core import Scenario

_SHORT = 8
"""Characters of a hash that stand in a folder's name."""
_LONGEST = 80
"""Characters that a folder's name may have before a hash takes the place of its end."""


@dataclass(frozen=True)
class Settings:
    """What all runs of one folder share."""

    hash: str
    """Tells the settings apart: of `scenario_hash` and `backend`."""
    scenario_hash: str
    """Of `scenario` and `version`: what the same scenario has on every backend."""
    scenario: Mapping[str, Any]
    """The scenario without its variants; empty where that is not known."""
    size: str
    sets: tuple[str, ...]
    """Values from the command line, each "key=value"."""
    version: str
    """The version of results: the first version of Pathweave that gives them."""
    backend: tuple[str, ...] = ()
    """What made the results and how, in words: ("testbed", "stretch10"); empty for simulation."""

    @classmethod
    def of(
        cls, scenario: Scenario, sets: Sequence[str], version: str, backend: Sequence[str] = ()
    ) -> Settings:
        """The settings of a scenario that has been read."""
        words = tuple(backend)
        shared = scenario.settings_hash
        own = _own_hash(shared, words)
        content = json.loads(scenario.settings)
        return cls(own, shared, content, scenario.size, tuple(sets), version, words)

    def is_sound(self) -> bool:
        """Whether the hashes are of what stands beside them; true for other versions of results."""
        if self.version != core().results_version():
            return True
        content = core().hash_of_settings(json.dumps(dict(self.scenario)))
        return (self.scenario_hash, self.hash) == (content, _own_hash(content, self.backend))

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Settings:
        """What `to_json` wrote."""
        return cls(
            hash=value["hash"],
            scenario_hash=value["scenario_hash"],
            scenario=value["scenario"],
            size=value["size"],
            sets=tuple(value["set"]),
            # Before it was written it was the version of Pathweave.
            version=value.get("results_version") or value["pathweave"],
            backend=tuple(value["backend"]),
        )

    def to_json(self) -> dict[str, Any]:
        """All of it, for a file."""
        return {
            "hash": self.hash,
            "scenario_hash": self.scenario_hash,
            "scenario": dict(self.scenario),
            "size": self.size,
            "set": list(self.sets),
            "results_version": self.version,
            "backend": list(self.backend),
        }

    @property
    def name(self) -> str:
        """What a folder of these settings is called: "paper-bottleneck_rate=100Mbps-testbed"."""
        words = [self.size or layout.DEFAULT_SIZE, *_values(self.sets), *self.backend]
        name = "-".join(_fit_for_file(word) for word in words)
        if len(name) <= _LONGEST:
            return name
        return f"{name[: _LONGEST - _SHORT - 1]}-{self.hash[:_SHORT]}"

    def compared(self) -> dict[str, Any]:
        """What is compared with other settings to say what differs."""
        found: dict[str, Any] = dict(self.scenario)
        found["version of results"] = self.version
        found["backend"] = " ".join(self.backend) or "simulation"
        return found


def folder_for(scenario: Path, settings: Settings) -> Path:
    """The folder of these settings below the folder of a scenario.

    It is the one that has them already, or else one named after them; where other settings took
    that name, a short hash follows it.
    """
    plain = scenario / settings.name
    known = [plain, *sorted(scenario.glob(f"{_escaped(settings.name)}-*"))]
    for folder in known:
        if hash_in(folder) == settings.hash:
            return folder
    if hash_in(plain) is None and not any(plain.glob(f"*/{layout.MANIFEST}")):
        return plain
    return scenario / f"{settings.name}-{settings.hash[:_SHORT]}"


def hash_in(folder: Path) -> str | None:
    """The hash of the settings that a folder or else its first run is of; None when none says."""
    try:
        return read_json(folder / layout.SCENARIO)["settings"]["hash"]
    except (OSError, ValueError, KeyError, TypeError):
        pass
    for manifest in sorted(folder.glob(f"*/{layout.MANIFEST}")):
        try:
            return str(read_json(manifest)["settings"])
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return None


def what_differs(settings: Sequence[Settings]) -> list[tuple[str, list[str]]]:
    """Keys whose values are not the same in all of these settings, with the values."""
    found = differences([each.compared() for each in settings])
    if not found:
        # A value from the command line that every variant overrides changes no resolved scenario.
        found = differences([{"set": " ".join(each.sets) or "nothing"} for each in settings])
    return found


def _own_hash(shared: str, backend: Sequence[str]) -> str:
    return hashlib.sha256("\0".join((shared, *backend)).encode()).hexdigest()


def _values(sets: Sequence[str]) -> list[str]:
    """The values from the command line with the ends of their keys."""
    pairs = [text.partition("=") for text in sets]
    ends = [key.strip().rpartition(".")[2] for key, _, _ in pairs]
    return [
        f"{end if ends.count(end) == 1 else key.strip()}={value.strip()}"
        for end, (key, _, value) in zip(ends, pairs, strict=True)
    ]


def _fit_for_file(word: str) -> str:
    """The word with only what needs no quoting in a shell or on a file system."""
    joined = re.sub(r"(?<=[0-9]) (?=[A-Za-z])|[\"']", "", word)
    return re.sub(r"[^A-Za-z0-9._=+]+", "-", joined).strip("-.") or "settings"


def _escaped(name: str) -> str:
    return re.sub(r"([*?\[])", r"[\1]", name)
