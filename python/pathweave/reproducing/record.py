"""What running a row gave: numbers by variant and seed, and what made them.

Verdicts follow from it. The records of a paper are kept in one file, `reproduced.json`, beside
`expected.toml`: those of the quick size, which verdicts are about, and those of the published size,
which they are checked against.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pathweave.errors import InputError
from pathweave.reproducing.sample import Sample
from pathweave.results.jsonfile import read_json, write_json

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

FILE = "reproduced.json"
FORMAT = 2


ASKED = ("claim", "set", "scenario", "size", "only", "at")
"""Keys of an ablation in the file that are its explanation's."""


@dataclass(frozen=True)
class Ablation:
    """What came of the runs that an explanation asks for."""

    claim: str
    sets: tuple[str, ...]
    scenario: str
    size: str | None
    only: tuple[str, ...]
    at: Mapping[str, str]
    """These are the explanation's."""
    command: str
    seeds: int
    samples: tuple[Sample, ...]

    def to_json(self) -> dict[str, Any]:
        """As a JSON object; `from_json` reads it."""
        return {
            "claim": self.claim,
            "set": list(self.sets),
            "scenario": self.scenario,
            "size": self.size,
            "only": list(self.only),
            "at": dict(self.at),
            "command": self.command,
            "seeds": self.seeds,
            "samples": [sample.to_json() for sample in self.samples],
        }

    @staticmethod
    def from_json(value: Mapping[str, Any]) -> Ablation:
        """The inverse of `to_json`."""
        return Ablation(
            claim=value["claim"],
            sets=tuple(value["set"]),
            scenario=value["scenario"],
            size=value["size"],
            only=tuple(value["only"]),
            at=value["at"],
            command=value["command"],
            seeds=value["seeds"],
            samples=tuple(Sample.from_json(each) for each in value["samples"]),
        )


@dataclass(frozen=True)
class Record:
    """What running a row gave."""

    version: str
    """Of Pathweave."""
    size: str
    settings: str
    """Hash of the scenario without its variants; empty where a program gave the numbers."""
    command: str
    """The command line that gives the same runs."""
    seeds: tuple[int, ...]
    workload: Mapping[str, str]
    """By seed: a hash of the first flows that its runs drew, whatever became of them."""
    samples: Mapping[str, tuple[Sample, ...]]
    """By name of the claim."""
    ablations: tuple[Ablation, ...] = ()
    setups: Mapping[str, str] = field(default_factory=dict[str, str])
    """At the published size, by name of the claim: `paper_size.setups`. Empty at other sizes."""

    def to_json(self) -> dict[str, Any]:
        """As a JSON object; `from_json` reads it."""
        found: dict[str, Any] = {
            "version": self.version,
            "size": self.size,
            "settings": self.settings,
            "command": self.command,
            "seeds": list(self.seeds),
            "workload": dict(self.workload),
            "samples": {
                name: [sample.to_json() for sample in several]
                for name, several in self.samples.items()
            },
            "ablations": [each.to_json() for each in self.ablations],
        }
        return found | ({"setups": dict(self.setups)} if self.setups else {})

    @staticmethod
    def from_json(value: Mapping[str, Any]) -> Record:
        """The inverse of `to_json`."""
        return Record(
            version=value["version"],
            size=value["size"],
            settings=value["settings"],
            command=value["command"],
            seeds=tuple(value["seeds"]),
            workload=value["workload"],
            samples={
                name: tuple(Sample.from_json(each) for each in several)
                for name, several in value["samples"].items()
            },
            ablations=tuple(Ablation.from_json(each) for each in value["ablations"]),
            setups=value.get("setups", {}),
        )


@dataclass
class Records:
    """The records of a paper by the names of its rows."""

    rows: dict[str, Record] = field(default_factory=dict)
    """At the quick size."""
    paper_size: dict[str, Record] = field(default_factory=dict)
    """At the published size, of rows for which that is another one."""

    def to_json(self) -> dict[str, Any]:
        """As it stands in the file."""
        return {
            "format": FORMAT,
            "rows": {name: self.rows[name].to_json() for name in sorted(self.rows)},
            "paper_size": {
                name: self.paper_size[name].to_json() for name in sorted(self.paper_size)
            },
        }

    def write(self, path: Path) -> None:
        """Write the file; the same records give the same bytes."""
        write_json(path, self.to_json())


def read_records(path: Path) -> Records:
    """Read a file of records; none when there is no file. Raises `InputError` for a damaged one."""
    try:
        content = read_json(path)
    except FileNotFoundError:
        return Records()
    try:
        if content["format"] != FORMAT:
            raise InputError(f"{path} was written by another version of Pathweave")
        rows = {name: Record.from_json(each) for name, each in content["rows"].items()}
        paper = {name: Record.from_json(each) for name, each in content["paper_size"].items()}
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path} is damaged: {error!r}") from error
    return Records(rows, paper)
