"""Which part of the runs is compared: everything, one named phase, or a window of time."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from pathweave.errors import InputError
from pathweave.results.units import scale

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pathweave.results.runs import StoredRun

_TIME = r"([0-9]+(?:\.[0-9]+)?) ?(ps|ns|us|ms|s)"
_WINDOW = re.compile(rf"\s*{_TIME}\s*\.\.\s*{_TIME}\s*")


@dataclass(frozen=True)
class Phase:
    """A phase that the scenario's [measure] names."""

    name: str

    @property
    def text(self) -> str:
        """As it was asked for."""
        return self.name


@dataclass(frozen=True)
class Window:
    """The time from `begin_s` to `end_s`, in seconds from the start of the run."""

    begin_s: float
    end_s: float
    text: str
    """As it was asked for."""


Span = Phase | Window | None
"""None is all that the tables cover."""


def parse_span(text: str, phases: Sequence[str]) -> Phase | Window:
    """Read the name of a phase, or a window such as "10 s..15 s"; a phase of that name goes first.

    `phases` are those that both sides have. Raises `InputError` with what there is.
    """
    if text in phases:
        return Phase(text)
    found = _WINDOW.fullmatch(text)
    if found is not None:
        begin, end = (float(found[at]) * scale(found[at + 1]) for at in (1, 3))
        if begin >= end:
            raise InputError(f'--at "{text}" ends before it begins; write "10 s..15 s"')
        return Window(begin, end, text.strip())
    near = get_close_matches(text, phases, n=3)
    if near:
        hint = "did you mean " + " or ".join(f'"{name}"' for name in near) + "?"
    elif phases:
        hint = "both sides have " + ", ".join(f'"{name}"' for name in phases)
    else:
        hint = "no phase is in the results of both sides"
    raise InputError(f'--at: there is no phase "{text}"; {hint}; a time is written "10 s..15 s"')


def phases_of(runs: Iterable[StoredRun]) -> list[str]:
    """Names of the phases that the runs measured, in the order in which they come."""
    names: dict[str, None] = {}
    for run in runs:
        measured = run.manifest["resolved"].get("measure", {}).get("phases", {})
        if "phases" in run.tables:
            names.update(dict.fromkeys(run.phases.get(name, name) for name in measured))
    return list(names)
