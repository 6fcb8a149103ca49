"""What a run of any backend gives back, for writing to disk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pathweave._core import Capture, Column


class Output(Protocol):
    """Tables and what is to be known of them; the core's `Output` is one."""

    @property
    def tables(self) -> Mapping[str, Mapping[str, Column]]:
        """Columns by name, by table."""
        ...

    @property
    def captures(self) -> Sequence[Capture]:
        """Captured packets."""
        ...

    @property
    def counters(self) -> Mapping[str, int | float | str]:
        """Sums over the run."""
        ...

    @property
    def results_hash(self) -> str:
        """A hash of tables and captures."""
        ...

    @property
    def packet_hops(self) -> int:
        """Packets that reached the far end of a link."""
        ...

    @property
    def wall_s(self) -> float:
        """Seconds that the run took."""
        ...

    @property
    def cpu_s(self) -> float:
        """Seconds of processor time that it took."""
        ...

    @property
    def peak_rss_mb(self) -> float:
        """Most memory that its process held."""
        ...

    @property
    def verdict(self) -> str:
        """How it ended: "stopped", "finished" or "stalled"."""
        ...

    @property
    def notes(self) -> Sequence[str]:
        """What was unusual."""
        ...
