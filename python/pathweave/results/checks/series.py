"""Samples of recorded queues, windows and round-trip times as rows to take statistics of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pathweave.results.units import seconds

if TYPE_CHECKING:
    import polars as pl

    from pathweave.results.runs import StoredRun


def queue_samples(run: StoredRun) -> pl.DataFrame | None:
    """One row per sample of a recorded queue in the measurement window.

    Columns: time_s, link, packets.
    """
    import polars as pl

    if "queues" not in run.tables:
        return None
    rows = run.read("queues", ["time_s", "link", "packets"])
    return rows.filter(pl.col("time_s") >= window_begin_s(run))


def window_samples(run: StoredRun) -> pl.DataFrame | None:
    """One row per sample of a subflow's congestion window.

    Columns: time_s, flow, name, group, subflow, window_packets, which is the least since the
    sample before.
    """
    import polars as pl

    if not {"windows", "flows"} <= set(run.tables):
        return None
    rows = run.read("windows", ["time_s", "flow", "subflow", "window_min_packets"])
    rows = rows.rename({"window_min_packets": "window_packets"})
    return with_flows(run, rows.filter(pl.col("window_packets").is_not_null()))


def rtt_samples(run: StoredRun) -> pl.DataFrame | None:
    """One row per sample of a subflow's round-trip time, over the whole run.

    Columns: time_s, flow, name, group, subflow, rtt_s, which is the mean of the RTTs measured since
    the sample before. Intervals in which none was measured have no rows.
    """
    import polars as pl

    if not {"rtts", "flows"} <= set(run.tables):
        return None
    rows = run.read("rtts", ["time_s", "flow", "subflow", "rtt_mean_s"])
    rows = rows.rename({"rtt_mean_s": "rtt_s"})
    return with_flows(run, rows.filter(pl.col("rtt_s").is_not_null()))


def with_flows(run: StoredRun, rows: pl.DataFrame) -> pl.DataFrame:
    """The rows, which have a column `flow`, with each flow's name and group."""
    flows = run.read("flows", ["id", "name", "group"])
    return rows.join(flows.rename({"id": "flow"}), on="flow", how="left", maintain_order="left")


def window_begin_s(run: StoredRun) -> float:
    """When the measurement window begins (s)."""
    text = run.manifest["resolved"].get("measure", {}).get("from")
    return seconds(text) if isinstance(text, str) else 0.0


def phases_s(run: StoredRun) -> dict[str, tuple[float, float]]:
    """When each phase begins and ends (s), by the name that it has now."""
    phases = run.manifest["resolved"].get("measure", {}).get("phases", {})
    return {
        run.phases.get(name, name): (seconds(begin), seconds(end))
        for name, (begin, end) in phases.items()
    }
