"""What every link of a run did over time, as bytes that a page can hold."""

from __future__ import annotations

import base64
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from pathweave.results.linkmap import begins, intervals, map_interval

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pathweave.results.runs import StoredRun

    Grid = NDArray[np.float64]

_COLUMNS = {
    "utilisation": "utilisation", "queue": "queue_mean", "marks": "marks", "drops": "drops"
}  # fmt: skip
METRICS = tuple(_COLUMNS)
COUNTED = ("marks", "drops")
"""Metrics in packets a millisecond."""
DOWN = 255
"""The byte of the utilisation of a link that is down."""
FULL = 250
"""The byte of the largest value."""


@dataclass(frozen=True)
class LinkValues:
    """What the links of one run did, in bins of a time that several runs share."""

    grids: dict[str, Grid]
    """By metric: a row for each link, a column for each bin. Utilisation is NaN where it was down.
    """

    @staticmethod
    def read(run: StoredRun, links: list[str], bins: int, end_s: float) -> LinkValues:
        """Means over `bins` equal parts of the time up to `end_s`; 0 after the run's own end.

        Each interval that was recorded counts in the bin that has its middle.
        """
        rows = run.read("map")
        interval = map_interval(run)
        place = {link: number for number, link in enumerate(links)}
        link = rows["link"].cast(pl.String).replace_strict(place, return_dtype=pl.Int64).to_numpy()
        times = rows["time_s"].to_numpy()
        ends = rows["time_s"].unique().sort()
        starts = np.array([begins(end, interval) for end in ends], dtype=np.float64)
        start = starts[np.searchsorted(ends.to_numpy(), times)]
        at = _bin(start + interval / 2, bins, end_s)
        flat = link * bins + at
        every = (np.arange(intervals(run), dtype=np.float64) + 0.5) * interval
        count = np.maximum(1, np.bincount(_bin(every, bins, end_s), minlength=bins))
        grids: dict[str, Grid] = {}
        shape = (len(links), bins)
        for metric, column in _COLUMNS.items():
            values = rows[column].cast(pl.Float64).fill_null(np.nan).to_numpy()
            if metric in COUNTED:
                values = values / (1e3 * np.maximum(times - start, 1e-12))
            known = ~np.isnan(values)
            sums = np.bincount(flat[known], values[known], minlength=len(links) * bins)
            missing = np.bincount(flat[~known], minlength=len(links) * bins).reshape(shape)
            left = count - missing
            with np.errstate(invalid="ignore", divide="ignore"):
                grids[metric] = np.where(left > 0, sums.reshape(shape) / left, np.nan)
        return LinkValues(grids)

    def largest(self, metric: str) -> float:
        """The largest value of a metric."""
        return float(np.nan_to_num(self.grids[metric]).max(initial=0.0))

    def packed(self, largest: dict[str, float]) -> str:
        """All values as bytes, metric by metric and link by link, compressed, in base64."""
        parts = [_quantised(self.grids["utilisation"], 1.0, root=False)]
        parts += [
            _quantised(self.grids[metric], largest[metric], root=True)
            for metric in METRICS[1:]
            if largest[metric] > 0
        ]
        raw = b"".join(part.tobytes() for part in parts)
        return base64.b64encode(zlib.compress(raw, 6)).decode("ascii")


def _bin(times: Grid, bins: int, end_s: float) -> NDArray[np.int64]:
    return np.clip((times / end_s * bins).astype(np.int64), 0, bins - 1)


def _quantised(grid: Grid, top: float, *, root: bool) -> NDArray[np.uint8]:
    share = np.clip(np.nan_to_num(grid) / top, 0.0, 1.0)
    if root:
        share = np.sqrt(share)
    # What is not zero does not look like it.
    levels = np.where(share > 0, np.maximum(1, np.rint(share * FULL)), 0)
    return np.where(np.isnan(grid), DOWN, levels).astype(np.uint8)
