"""Advice about flows that a dead path held up, and about flows that did not finish."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pathweave.results.advice.case import Advice, Case, Setting, Side, of_difference, percent
from pathweave.results.advice.profile import counted_flows, counted_waits

if TYPE_CHECKING:
    from collections.abc import Iterator

_LEAST = 0.01
"""Share of flows that is worth a sentence."""
_OF_DEAD_PATHS = ("handshake", "timeout", "recovery")
"""Waits that a dead path makes longer."""


def dead_paths(case: Case) -> Iterator[Advice]:
    """Flows that began on a path that was down before routing had noticed."""
    born = [_born_dead(side, case) for side in case.sides]
    (count, added), (other_count, other_added) = born
    side = case.variant if count >= other_count else case.baseline
    most = max(count, other_count)
    if most < 1 or case.difference == 0 or case.measure.quantity == "goodput":
        return
    # What percentiles are made of is not a sum over all flows.
    is_part = case.is_split and case.measure.statistic == "mean"
    part = (added - other_added) / case.difference if is_part else 0.0
    beside = f", {of_difference(part)}" if part >= 0.05 else ""
    text = (
        f"{most:,.0f} of {side.name}'s flows in a run began on a path that was down before"
        f" routing noticed{beside} (`routing.detection_delay`; a link that is down from the start"
        " belongs in `fabric.down`)"
    )
    setting = Setting("routing.detection_delay", "0 s")
    yield Advice(text, max(part, 0.2), case, "dead path", setting)


def _born_dead(side: Side, case: Case) -> tuple[float, float]:
    """Flows per run that began on a dead path, and what its repair adds to the mean of all."""
    import polars as pl

    counts: list[float] = []
    added: list[float] = []
    for run in side.runs:
        if "recoveries" not in run.tables or "waits" not in run.tables:
            return 0.0, 0.0
        flows = counted_flows(run, case.measure)
        if flows.is_empty():
            continue
        hits = run.read("recoveries").join(flows, left_on="flow", right_on="id", how="inner")
        born = hits.filter(pl.col("start_s") >= pl.col("at_s"))["flow"].unique()
        waits = counted_waits(run, case.measure).filter(
            pl.col("flow").is_in(born.implode()) & pl.col("wait").is_in(_OF_DEAD_PATHS)
        )
        if case.measure.quantity == "slowdown":
            waits = waits.with_columns(pl.col("waited_s") / pl.col("fct_ideal_s"))
        counts.append(float(born.len()))
        added.append(float(waits["waited_s"].sum()) / flows.height)
    runs = max(1, len(counts))
    return math.fsum(counts) / runs, math.fsum(added) / runs


def unfinished(case: Case) -> Iterator[Advice]:
    """Flows that the end of the run cut off."""
    import polars as pl

    shares: list[float] = []
    for side in case.sides:
        flows = pl.concat([counted_flows(run, case.measure) for run in side.runs])
        sized = flows.filter(pl.col("size_bytes").is_not_null())
        cut = sized.filter(pl.col("end") == "unfinished").height
        shares.append(cut / sized.height if sized.height else 0.0)
    if max(shares) < _LEAST:
        return
    side = case.sides[shares.index(max(shares))]
    text = f"{percent(max(shares))} of {side.name}'s flows did not finish before the run ended"
    stop = side.runs[0].manifest["resolved"].get("stop", {})
    may_drain = "at" in stop and not stop.get("drain")
    setting = Setting("stop.drain", "true") if may_drain else None
    yield Advice(text, max(shares), case, "unfinished", setting)
