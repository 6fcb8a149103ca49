"""The first moments of a run, on this machine."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathweave._core import Variant

_POLL_S = 0.002
LONGEST_SETUP_S = 20.0
"""Wall time after which a run that has not begun to move packets is left alone."""
_BUSY = 4.0
"""Wall time of a trial at most, in its CPU time."""
_ENDING_S = 1.0
"""Wall time within which a run that is asked to end does so; it is not waited for longer."""
_HALF = 0.5
"""Part of the trial after which the growth of memory is measured: buffers find their size before.
"""


@dataclass(frozen=True)
class Beginning:
    """How far a run came."""

    ended: bool
    """Whether that was all of it."""
    fraction: float
    """Share of the run, as the engine estimates it."""
    setup_s: float
    """CPU time before packets moved."""
    moving_s: float
    """CPU time since then."""
    packet_hops: int
    memory_bytes: int
    """Memory that it took."""
    bytes_per_hop: float
    """Memory that each packet-hop added in the second half of the trial."""
    most_threads: int
    """Threads that are worth it."""


def begin(variant: Variant, seed: int, cpu_s: float, setup_s: float = LONGEST_SETUP_S) -> Beginning:
    """Run for about `cpu_s` of CPU time after its setup, and stop; nothing is written.

    Where no packet has moved after a wall time of `setup_s`, that is all.
    """
    before, began = _memory(), _engine_s()
    deadline = time.monotonic() + setup_s
    run = variant.prepare(seed)
    run.start()
    setup: float | None = None
    moved = time.monotonic()
    half: tuple[int, int] | None = None
    while True:
        progress = run.poll()
        spent = _engine_s() - began
        if setup is None and progress["packet_hops"]:
            setup, moved = spent, time.monotonic()
        if setup is not None and half is None and spent - setup >= _HALF * cpu_s:
            half = progress["packet_hops"], _memory()
        over = progress["state"] != "running"
        now = time.monotonic()
        # On a busy machine a trial takes longer, within limits.
        enough = setup is not None and (spent - setup >= cpu_s or now - moved >= _BUSY * cpu_s)
        if over or enough or now > deadline:
            break
        time.sleep(_POLL_S)
    after, hops = _memory(), progress["packet_hops"]
    run.cancel()
    latest = time.monotonic() + _ENDING_S
    while run.poll()["state"] == "running" and time.monotonic() < latest:
        time.sleep(_POLL_S)
    per_hop = (after - half[1]) / (hops - half[0]) if half is not None and hops > half[0] else 0.0
    return Beginning(
        ended=over,
        fraction=1.0 if over else progress["fraction"],
        setup_s=setup or 0.0,
        moving_s=spent - (setup or 0.0),
        packet_hops=hops,
        memory_bytes=max(0, after - before),
        bytes_per_hop=max(0.0, per_hop),
        most_threads=run.most_threads,
    )


def _engine_s() -> float:
    """CPU time of all threads of this process but this one."""
    return time.process_time() - time.thread_time()


def _memory() -> int:
    """Resident memory of this process (bytes)."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")
