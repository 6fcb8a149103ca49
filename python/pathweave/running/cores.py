"""How runs share the processor's cores."""

from __future__ import annotations

import os
from dataclasses import dataclass


@dataclass(frozen=True)
class Cores:
    """How many runs go on at a time, and on how many threads each."""

    jobs: int
    """Runs at a time, at most."""
    threads: int | None = None
    """Threads of each run; None if the runs share all cores."""

    def threads_of(self, left: int) -> int:
        """Threads of a run that begins when `left` runs, itself included, are not over."""
        if self.threads is not None:
            return self.threads
        return max(1, available() // min(self.jobs, left))


def available() -> int:
    """Number of cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not every platform can say
        return os.cpu_count() or 1


def share(jobs: int | None = None, threads: int | None = None) -> Cores:
    """All cores, as far as nobody says how many runs go on at a time or how many threads each has.

    Who says how many runs go on at a time gets a thread for each, unless they say otherwise.
    """
    if jobs is not None:
        return Cores(jobs, threads or 1)
    if threads is not None:
        return Cores(max(1, available() // threads), threads)
    return Cores(available())
