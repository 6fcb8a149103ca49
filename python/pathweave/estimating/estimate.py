"""Estimates of all runs of a session that are missing."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pathweave.estimating.beginning import begin
from pathweave.estimating.flowing import flowing
from pathweave.running.cores import available

if TYPE_CHECKING:
    from collections.abc import Callable

    from pathweave._core import Variant
    from pathweave.estimating.beginning import Beginning
    from pathweave.running.cores import Cores
    from pathweave.running.session import Session

TRIAL_S = 0.4
"""CPU time of a trial. A run's first moments are not like the rest, however long they are watched.
"""
_SHORT_SETUP_S = 1.0
"""Wall time for which the setup of a run is watched before the run itself."""
THREAD_GAIN = 0.6
"""What each further thread adds to the speed of a run; docs/performance.md has measured it."""
WORKER_BYTES = 45e6
"""Memory of a process that runs one run, without the run."""


@dataclass(frozen=True)
class Estimate:
    """What the missing runs of one variant take."""

    label: str
    runs: int
    cpu_s: float
    """CPU time of one run; infinite where the trial saw nothing of it."""
    packet_hops: float
    """Packet-hops of one run."""
    memory_bytes: float
    """Memory of the process of one run."""
    most_threads: int = 1
    """Threads that are worth it."""


def estimates(
    session: Session, trial_s: float = TRIAL_S, watch: Callable[[str], None] | None = None
) -> list[Estimate]:
    """The variants that have missing runs, each by the beginning of its first one.

    `watch` hears which variant is tried.
    """
    first: dict[str, tuple[Variant, list[int]]] = {}
    for task in session.plan.missing:
        variant = task.identity.variant
        first.setdefault(variant.label, (variant, []))[1].append(task.identity.seed)
    found: list[Estimate] = []
    for label, (variant, own) in first.items():
        if watch is not None:
            watch(label)
        trial = begin(variant, own[0], trial_s)
        found.append(estimate_of(label, len(own), variant, own[0], trial))
    return found


def foresee(session: Session, trial_s: float) -> Estimate | None:
    """All missing runs, taken to be like the first one; None where none is missing."""
    if not session.plan.missing:
        return None
    task = session.plan.missing[0]
    variant, seed = task.identity.variant, task.identity.seed
    # Whoever wants to run does not wait for a large fabric to be set up twice.
    trial = begin(variant, seed, trial_s, _SHORT_SETUP_S)
    return estimate_of(task.label, len(session.plan.missing), variant, seed, trial)


def estimate_of(label: str, runs: int, variant: Variant, seed: int, trial: Beginning) -> Estimate:
    """The estimate of `runs` runs of a variant, of which one began so."""
    hops = trial.packet_hops if trial.ended else _packet_hops(variant, seed, trial)
    rest = max(0.0, hops - trial.packet_hops)
    moved = trial.packet_hops > 0 and trial.moving_s > 0
    left_s = rest * trial.moving_s / trial.packet_hops if moved else (math.inf if rest else 0.0)
    return Estimate(
        label=label,
        runs=runs,
        cpu_s=trial.setup_s + trial.moving_s + left_s,
        packet_hops=hops,
        memory_bytes=WORKER_BYTES + trial.memory_bytes + _known(rest * trial.bytes_per_hop),
        most_threads=trial.most_threads,
    )


def _packet_hops(variant: Variant, seed: int, trial: Beginning) -> float:
    """Those of a whole run: by its traffic, or else by how far its beginning came."""
    whole = flowing(variant, seed)
    if whole is not None:
        return max(whole, float(trial.packet_hops))
    return trial.packet_hops / trial.fraction if trial.fraction > 0 else math.inf


def _known(value: float) -> float:
    return value if math.isfinite(value) else 0.0


def wall_s(found: list[Estimate], cores: Cores) -> float:
    """Wall time (s) of all runs, on cores that are free."""
    threads = cores.threads_of(max(1, sum(each.runs for each in found)))
    alone = [each.cpu_s / _gain(min(threads, each.most_threads)) for each in found]
    total = sum(each.runs * one for each, one in zip(found, alone, strict=True))
    return max(total / min(cores.jobs, max(1, available() // threads)), *alone, 0.0)


def _gain(threads: int) -> float:
    """How much sooner a run is over on this many threads."""
    return 1 + THREAD_GAIN * (threads - 1)


def available_bytes() -> int:
    """Memory that this machine has to give."""
    for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
        name, _, value = line.partition(":")
        if name == "MemAvailable":
            return int(value.split()[0]) * 1024
    return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
