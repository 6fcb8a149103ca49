"""CPU time of the runs that verdicts rest on, as they say themselves in `timing.json`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pathweave.errors import InputError
from pathweave.results import layout
from pathweave.results.jsonfile import read_json

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pathweave.running.session import Session


@dataclass(frozen=True)
class CpuTime:
    """What runs took, each counted once however many rows share it."""

    runs: int
    total_s: float
    longest_s: float
    longest: str
    """The run that took longest: "xmp/tab1 XMP-4, seed 2"."""


def cpu_time(named: Iterable[tuple[str, Session]]) -> CpuTime | None:
    """The CPU time of the runs of these sessions that are on disk; None without any.

    Each session has the name that its runs are called by.
    """
    tasks: dict[Path, str] = {}
    for name, session in named:
        for task in session.plan.tasks:
            tasks.setdefault(task.folder, f"{name} {task.label}")
    found = [
        (took, label) for folder, label in tasks.items() if (took := _took(folder)) is not None
    ]
    if not found:
        return None
    longest_s, longest = max(found)
    return CpuTime(len(found), math.fsum(took for took, _ in found), longest_s, longest)


def _took(folder: Path) -> float | None:
    """CPU time of a run; None where it is not there or does not say."""
    try:
        return float(read_json(folder / layout.TIMING)["cpu_s"])
    except (OSError, InputError, KeyError, TypeError, ValueError):
        return None
