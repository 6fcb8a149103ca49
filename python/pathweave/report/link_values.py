"""What every link of a run did over time, as bytes that a page can hold."""

from __future__ import annotations

import base64
import math
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from pathweave.results.linkmap import map_interval

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pathweave.results.read import StoredRun

    Bytes = NDArray[np.uint8]
    Grid = NDArray[np.float64]

METRICS = ("utilisation", "queue", "marks", "drops")
COUNTED = ("marks", "drops")
"""Metrics in packets a millisecond."""
DOWN = 255
"""The byte of a link that is down."""
FULL = 250
"""The byte of the largest value."""


@dataclass(frozen=True)
class LinkValues:
    """What the links of one run did, by link and interval."""

    table: pl.DataFrame
    """The table of links."""
    links: list[str]
    intervals: int
    end_s: float
    values: dict[str, Grid]
    """By metric: a row for each link, a column for each interval; NaN where it was down."""

    @staticmethod
    def read(run: StoredRun) -> LinkValues:
        """The tables `links` and `map` of a run."""
        table = run.read("links")
        links = table["link"].to_list()
        rows = run.read("map")
        interval = map_interval(run) or run.ended_s
        end_s = max(run.ended_s, interval)
        intervals = max(1, math.ceil(end_s / interval - 1e-9))
        place = {link: number for number, link in enumerate(links)}
        link = rows["link"].cast(pl.String).replace_strict(place, return_dtype=pl.Int64).to_numpy()
        at = np.ceil(rows["time_s"].to_numpy() / interval - 1e-9).astype(np.int64) - 1
        at = np.clip(at, 0, intervals - 1)
        columns = {
            "utilisation": "utilisation", "queue": "queue_mean", "marks": "marks", "drops": "drops"
        }  # fmt: skip
        values: dict[str, Grid] = {}
        for metric, column in columns.items():
            grid = np.zeros((len(links), intervals))
            grid[link, at] = rows[column].cast(pl.Float64).fill_null(np.nan).to_numpy()
            values[metric] = grid / (1e3 * interval) if metric in COUNTED else grid
        return LinkValues(table, links, intervals, end_s, values)

    def packed(self, bins: int, largest: dict[str, float]) -> str:
        """All values as bytes, metric by metric and link by link, compressed, in base64."""
        parts = [_quantised(_binned(self.values["utilisation"], bins), 1.0, root=False)]
        for metric in METRICS[1:]:
            if largest[metric] > 0:
                binned = _binned(self.values[metric], bins)
                parts.append(_quantised(binned, largest[metric], root=True))
        raw = b"".join(part.tobytes() for part in parts)
        return base64.b64encode(zlib.compress(raw, 6)).decode("ascii")


def _binned(grid: Grid, bins: int) -> Grid:
    """Means of the columns in `bins` groups; NaN where a link was down in all of a group."""
    intervals = grid.shape[1]
    if bins >= intervals:
        return grid
    starts = -(-np.arange(bins) * intervals // bins)
    known = ~np.isnan(grid)
    sums = np.add.reduceat(np.where(known, grid, 0.0), starts, axis=1)
    counts = np.add.reduceat(known.astype(np.float64), starts, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return sums / counts


def _quantised(grid: Grid, top: float, *, root: bool) -> Bytes:
    share = np.clip(np.nan_to_num(grid) / top, 0.0, 1.0)
    if root:
        share = np.sqrt(share)
    # What is not zero does not look like it.
    levels = np.where(share > 0, np.maximum(1, np.rint(share * FULL)), 0)
    return np.where(np.isnan(grid), DOWN, levels).astype(np.uint8)
