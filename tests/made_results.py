"""Results of a scenario made up run by run in memory, for tests of what compares them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from pathweave.changes.side import Side
from pathweave.results.runs import StoredRun, StoredScenario
from pathweave.results.settings import Settings

TRAFFIC: dict[str, Any] = {
    "name": "g",
    "pattern": "poisson",
    "size": {"kind": "fixed", "bytes": "1 MB"},
    "controller": {"name": "dctcp"},
}
SETTINGS: dict[str, Any] = {
    "fabric": {"kind": "star", "senders": 4, "queue": {"mark": {"k": 10}}},
    "jitter": "rtt",
    "measure": {"phases": {}},
    "traffic": [TRAFFIC],
}


@dataclass(frozen=True)
class MadeRun(StoredRun):
    """A run whose tables are in memory."""

    frames: Mapping[str, pl.DataFrame] = field(default_factory=dict)

    def read(self, table: str, columns: Sequence[str] | None = None) -> pl.DataFrame:
        frame = self.frames[table]
        return frame if columns is None else frame.select(columns)

    def scan(self, table: str) -> pl.LazyFrame:
        return self.frames[table].lazy()


def made_run(
    seed: int,
    frames: Mapping[str, pl.DataFrame],
    *,
    label: str = "DCTCP",
    resolved: Mapping[str, Any] = SETTINGS,
    digest: str = "",
) -> MadeRun:
    """A run with these tables; `digest` spares the work of hashing what is known to be unique."""
    tables = {
        name: {"rows": frame.height, "sha256": digest or _digest(frame)}
        for name, frame in frames.items()
    }
    whole = hashlib.sha256(json.dumps(tables).encode()).hexdigest()
    manifest = {
        "backend": "simulate",
        "pathweave": "0",
        "variant": {"label": label, "axes": {"scheme": label}, "hash": "v", "slug": label},
        "seed": seed,
        "tables": tables,
        "results_hash": whole,
        "resolved": resolved,
        "counters": {"ended_s": 1.0},
        "verdict": "stopped",
        "notes": [],
        "scenario": {"name": "s", "title": "", "size": "quick", "set": []},
    }
    return MadeRun(Path(f"/{label}-s{seed}"), manifest, {}, frames=frames)


def _digest(frame: pl.DataFrame) -> str:
    return hashlib.sha256(repr(frame.to_dict(as_series=False)).encode()).hexdigest()


def made_side(
    name: str,
    runs: Sequence[StoredRun],
    *,
    scenario: str = "s",
    settings: Mapping[str, Any] = SETTINGS,
    version: str = "0",
) -> Side:
    """These runs as one side of a comparison."""
    labels = list(dict.fromkeys(run.label for run in runs))
    stored = StoredScenario(
        folder=Path(f"/results/{scenario}/{name}"),
        name=scenario,
        title="",
        size="quick",
        settings=Settings("h", "h", settings, "quick", (), version),
        path=None,
        command=None,
        axes={"scheme": labels},
        published=(),
        groups=["g"],
        runs=list(runs),
    )
    return Side(name, Path(name), stored, ())


def flows(
    goodput_bps: Sequence[float] | np.ndarray,
    *,
    fct_s: Sequence[float] | np.ndarray | None = None,
    timeouts: Sequence[int] | np.ndarray | None = None,
    sizes: Sequence[float] | np.ndarray | None = None,
) -> pl.DataFrame:
    """A table of flows of the group "g"; those whose `fct_s` is not a number are unfinished."""
    count = len(goodput_bps)
    took = np.array(fct_s if fct_s is not None else np.full(count, 0.1), dtype=float)
    done = np.isfinite(took)
    start = np.zeros(count)
    return pl.DataFrame(
        {
            "id": np.arange(count),
            "group": ["g"] * count,
            "source": [f"S{each % 4 + 1}" for each in range(count)],
            "destination": ["D1"] * count,
            "start_s": start,
            "end_s": pl.Series(np.where(done, took, np.nan), nan_to_null=True),
            "size_bytes": np.array(sizes if sizes is not None else np.full(count, 1e6)),
            "delivered_bytes": np.full(count, 1000),
            "end": ["finished" if each else "unfinished" for each in done],
            "in_window": np.ones(count, dtype=bool),
            "fct_s": pl.Series(took, nan_to_null=True),
            "goodput_bps": np.array(goodput_bps, dtype=float),
            "timeouts": np.array(timeouts if timeouts is not None else np.zeros(count), dtype=int),
        }
    )
