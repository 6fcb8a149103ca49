"""What goes between the client and the workers: no more than data, so that it can be pickled."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pathweave.results.output import Output
    from pathweave.results.write import Identity


@dataclass(frozen=True)
class Facts:
    """What must be the same on all machines for their results to be one."""

    pathweave: str
    """Version of the package."""
    core: str
    """Version of the compiled core."""
    results: str
    """Version of the results: the first of Pathweave that gives them."""
    layout: int
    """Version of the layout of their files."""
    probe: str
    """Hash of the results of a small run that all of them make."""


@dataclass(frozen=True)
class NamedVariant:
    """What results say of their variant."""

    label: str
    slug: str
    axes: Mapping[str, str]
    settings_hash: str
    resolved: str
    files: Mapping[str, bytes]
    """Contents of the files with controllers, by the scenario's names for them."""


@dataclass(frozen=True)
class Job:
    """One run that a worker is to do."""

    number: int
    """What the client calls it by."""
    identity: Identity
    folder: str
    """Absolute path of the folder of its results, for workers that see the client's disk."""


@dataclass(frozen=True)
class Batch:
    """Runs that a worker does one after the other, as one task of Dask."""

    topic: str
    """Name of the events by which the workers report."""
    jobs: tuple[Job, ...]
    threads: int
    """Threads of each run."""
    facts: Facts
    """What the client has."""
    polars: str
    """Version of the client's Polars, on which the bytes of Parquet files depend."""
    tokens: Mapping[str, str]
    """Files that only the client has written, with their content: who sees them sees its disk."""


@dataclass(frozen=True)
class ReturnedOutput:
    """The output of a run, as `results.output.Output` describes it."""

    tables: Mapping[str, Mapping[str, Any]]
    """Empty where the worker has written the results itself."""
    captures: Sequence[Any]
    counters: Mapping[str, int | float | str]
    results_hash: str
    packet_hops: int
    wall_s: float
    cpu_s: float
    peak_rss_mb: float
    verdict: str
    notes: Sequence[str] = field(default=())

    @classmethod
    def of(cls, output: Output, *, written: bool) -> ReturnedOutput:
        """What is to be known of an output; all of it unless it is `written` already."""
        return cls(
            tables={} if written else {name: dict(t) for name, t in output.tables.items()},
            captures=() if written else tuple(output.captures),
            counters=dict(output.counters),
            results_hash=output.results_hash,
            packet_hops=output.packet_hops,
            wall_s=output.wall_s,
            cpu_s=output.cpu_s,
            peak_rss_mb=output.peak_rss_mb,
            verdict=output.verdict,
            notes=tuple(output.notes),
        )


@dataclass(frozen=True)
class Done:
    """A run has ended well."""

    number: int
    worker: str
    """Address of the worker."""
    machine: str
    seconds: float
    """What it took, writing included."""
    output: ReturnedOutput
    written: bool
    """Whether the worker has written the results."""


@dataclass(frozen=True)
class Failed:
    """A run has ended without results."""

    number: int
    worker: str
    reason: str


@dataclass(frozen=True)
class Unwritten:
    """The results of a run could not be written."""

    number: int
    worker: str
    error: int
    """Number of the system's error."""
    said: str
    file: str


@dataclass(frozen=True)
class Different:
    """A worker that cannot give the client's results, and what it has."""

    worker: str
    machine: str
    facts: Facts


Result = Done | Failed | Unwritten | Different
