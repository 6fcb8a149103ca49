"""Two jumps in the distribution of completion times, a retransmission timeout apart."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pathweave.results.units import seconds

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from pathweave.results.runs import StoredRun

_PART = 0.1
"""Width of the window that is moved over the times, as a part of the timeout."""


@dataclass(frozen=True)
class Jumps:
    """Where a distribution rises most, and where it rises most half a timeout or more later."""

    first_s: float
    second_s: float
    share: float
    """Share of all times in the second jump."""
    sharpness: float
    """Density of times in the second jump over their mean density around it."""


def find_jumps(times: Sequence[float], timeout_s: float) -> Jumps | None:
    """The two jumps of `times` (s); None where nothing lies beyond half a timeout.

    The first is the narrow window with most times. The second is such a window at least half a
    timeout after the first. Around it means from a half to one and a half timeouts after the first.
    """
    ordered = sorted(times)
    width = _PART * timeout_s
    first = _densest(ordered, width)
    if first is None:
        return None
    begin, end, _ = first
    middle = _median(ordered[begin:end])
    later = [time for time in ordered if time >= middle + timeout_s / 2]
    second = _densest(later, width)
    if second is None:
        return None
    begin, end, count = second
    around = sum(time < middle + 1.5 * timeout_s for time in later)
    mean = max(around, count) * width / timeout_s
    return Jumps(
        first_s=middle,
        second_s=_median(later[begin:end]),
        share=count / len(ordered),
        sharpness=count / mean,
    )


def completion_jumps(run: StoredRun) -> pl.DataFrame | None:
    """One row per traffic group that has jobs.

    Columns: group, first_s, second_s, share, sharpness (at most 10), apart_rto: the distance of the
    two jumps as a multiple of the smallest retransmission timeout. Jobs that start
    outside the measurement window or did not finish do not count. Source: the XMP paper, Figure 9.
    """
    import polars as pl

    if "jobs" not in run.tables:
        return None
    timeouts = {
        str(group["name"]): seconds(group["transport"]["minimum_rto"])
        for group in run.manifest["resolved"]["traffic"]
    }
    rows: list[dict[str, object]] = []
    jobs = run.read("jobs").filter(pl.col("in_window") & pl.col("finished"))
    for (group,), own in jobs.group_by("group", maintain_order=True):
        timeout_s = timeouts[str(group)]
        found = find_jumps(own["jct_s"].to_list(), timeout_s)
        if found is None:
            continue
        rows.append(
            {
                "group": group,
                "first_s": found.first_s,
                "second_s": found.second_s,
                "share": found.share,
                "sharpness": found.sharpness,
                "apart_rto": (found.second_s - found.first_s) / timeout_s,
            }
        )
    columns = ("first_s", "second_s", "share", "sharpness", "apart_rto")
    return pl.DataFrame(rows, schema={"group": pl.String, **dict.fromkeys(columns, pl.Float64)})


def _densest(ordered: Sequence[float], width: float) -> tuple[int, int, int] | None:
    """Begin, end and number of the times in the window of this width that holds most."""
    best: tuple[int, int, int] | None = None
    for begin, time in enumerate(ordered):
        end = bisect_right(ordered, time + width, lo=begin)
        if best is None or end - begin > best[2]:
            best = (begin, end, end - begin)
    return best


def _median(ordered: Sequence[float]) -> float:
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
