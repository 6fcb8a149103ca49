"""The place that a command line's runs go to, and what is said of a cluster."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from pathweave.cli.console import messages, say
from pathweave.running.cores import Cores, share
from pathweave.running.place import Place, place

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def reached(dask: str | None, jobs: int | None, threads: int | None, runs: int) -> Iterator[Place]:
    """The cluster of `--dask`, once it can be used, or this machine's cores without it."""
    console = messages()
    status = console.status("waiting for the workers of Dask")
    if dask is not None and runs:
        status.start()
    try:
        with place(dask, jobs, threads, runs) as found:
            status.stop()
            if not found.here:
                say(console, f"{dask}: room for {found.cores.jobs} runs at a time")
            yield found
    finally:
        status.stop()


def cores_of(dask: str | None, jobs: int | None, threads: int | None) -> Cores:
    """The cores that runs would have, of a cluster as far as it can be reached."""
    from pathweave.running.dask.cluster import LOCAL

    if dask is None:
        return share(jobs, threads)
    if dask == LOCAL:
        return Cores(share(jobs, threads).jobs, threads or 1)
    with reached(dask, jobs, threads, 1) as found:
        return found.cores
