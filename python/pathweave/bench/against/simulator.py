"""What is known of a simulator that Pathweave is compared with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from pathweave.bench.against.cases import Case


@dataclass(frozen=True)
class Job:
    """One run of the other simulator's program."""

    case: Case
    paths: Path
    """The file with the paths of all subflows."""
    until_ns: int
    """Simulated time, nanoseconds."""
    count_hops: bool
    """Whether packet-hops are counted, which costs time: not in runs that are timed."""


@dataclass(frozen=True)
class Simulator:
    """A simulator, its program, and the settings under which Pathweave does the same work."""

    name: str
    """As `--against` takes it and as the program says it."""
    title: str
    """As its authors write it."""
    program: str
    """The file in the folder that the user names."""
    build: str
    """The command that builds the program, from the root of the source tree."""
    folder: str
    """Where that command leaves it."""
    counted: str
    """A sentence: how packet-hops are counted."""
    arguments: Callable[[Job], list[str]]
    """The program's options for a run."""
    controllers: Mapping[str, str]
    """Pathweave's controllers that it has, and the TOML for each with the same settings."""
    transport: str
    """TOML of Pathweave's [transport] with the same settings."""
    lacks: str
    """Why a controller is not there: "has no multipath TCP"."""

    def left_out(self, case: Case) -> str | None:
        """Why it cannot run a case; None if it can."""
        return None if case.controller in self.controllers else f"{self.title} {self.lacks}"
