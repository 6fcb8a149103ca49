"""Where runs go: to this machine's cores, or to the workers of a Dask cluster."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pathweave.running.cores import Cores, share
from pathweave.running.pool import run_all

if TYPE_CHECKING:
    from collections.abc import Iterator

    from distributed import Client

    from pathweave.running.session import RunAll


@dataclass(frozen=True)
class Place:
    """What runs the runs, and how many at a time."""

    cores: Cores
    run: RunAll = run_all
    here: bool = True
    """Whether they use this machine's memory."""


@contextmanager
def place(
    dask: str | Client | None, jobs: int | None, threads: int | None, runs: int
) -> Iterator[Place]:
    """The cluster that `dask` names, once its workers agree with this machine; else this machine.

    Without any of the `runs` to do it is this machine, and nothing is started. See
    `running.dask.cluster.connected` for what `dask` may be, and what is raised.
    """
    if dask is None or not runs:
        yield Place(share(jobs, threads))
        return
    from pathweave.running.dask.cluster import LOCAL, connected
    from pathweave.running.dask.spread import Spread

    if dask == LOCAL:
        jobs = min(share(jobs, threads).jobs, runs)
    with connected(dask, jobs) as client:
        spread = Spread.over(client)
        cores = Cores(max(1, spread.places), threads or 1)
        yield Place(cores, spread.run_all, here=dask == LOCAL)
