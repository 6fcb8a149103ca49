"""What the flows of a variant waited for, in the unit of the question's quantity.

The account of a run (table `waits`) charges every instant of a flow to one thing, so that the
amounts add up to its completion time. Means of them add up to the mean completion time, and a
difference of means is the sum of the differences of its parts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pathweave.results.completion import FEW_UNFINISHED, has_size
from pathweave.results.quantities import parse_statistic

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from pathweave.results.measures import Measure
    from pathweave.results.quantities import Statistic
    from pathweave.results.runs import StoredRun

EXPLAINED = ("fct", "slowdown", "goodput", "jct")
"""Quantities that the account of time says something about."""
_TAIL = 0.75
"""From this percentile on, only the flows beyond it are looked at."""


@dataclass(frozen=True)
class Profile:
    """The waits of a variant's flows, as means over its runs."""

    waits: dict[str, float]
    """By what they waited for: seconds, parts of the slowdown, or (of goodput) shares of time."""
    flows: float
    """Flows per run that it is of."""

    @property
    def total(self) -> float:
        """All waits together."""
        return math.fsum(self.waits.values())

    def share(self, wait: str) -> float:
        """The part of the time that is of `wait`."""
        return self.waits.get(wait, 0.0) / self.total if self.total > 0 else 0.0


def profile(runs: Sequence[StoredRun], measure: Measure) -> Profile | None:
    """What the flows that `measure` is of waited for; None where nobody kept account of it.

    Of a high percentile these are the flows at and beyond it.
    """
    found = [each for run in runs if (each := _of_run(run, measure)) is not None]
    if not found or len(found) < len(runs):
        return None
    names = dict.fromkeys(name for each in found for name in each.waits)
    mean = {
        name: math.fsum(each.waits.get(name, 0.0) for each in found) / len(found) for name in names
    }
    return Profile(mean, math.fsum(each.flows for each in found) / len(found))


def is_tail(statistic: Statistic) -> bool:
    """Whether a statistic is a percentile of which only the flows beyond it are looked at."""
    return statistic.kind == "quantile" and statistic.at >= _TAIL


def counted_flows(run: StoredRun, measure: Measure) -> pl.DataFrame:
    """The flows of a run that `measure` is over: but for goodput, those with a size."""
    import polars as pl

    flows = run.read("flows")
    of_group = pl.col("group") == measure.group if measure.group else pl.lit(value=True)
    counted = pl.lit(value=True) if measure.quantity == "jct" else pl.col("in_window")
    flows = flows.filter(of_group & counted & measure.sizes.holds())
    if measure.quantity != "goodput":
        flows = flows.filter(has_size())
    if measure.quantity == "slowdown":
        flows = flows.filter(pl.col("fct_ideal_s") > 0)
    return flows


def counted_waits(run: StoredRun, measure: Measure) -> pl.DataFrame:
    """The rows of `waits` of these flows."""
    flows = counted_flows(run, measure).select("id", "fct_ideal_s")
    return run.read("waits").join(flows, left_on="flow", right_on="id", how="inner")


def _of_run(run: StoredRun, measure: Measure) -> Profile | None:
    import polars as pl

    if "waits" not in run.tables or measure.quantity not in EXPLAINED:
        return None
    waits = counted_waits(run, measure)
    statistic = parse_statistic(measure.statistic)
    if statistic.kind == "mean" and measure.is_completion:
        # A mean is over finished flows where few are not.
        flows = counted_flows(run, measure)
        cut = flows.filter(pl.col("end") == "unfinished")["id"]
        if cut.len() <= FEW_UNFINISHED * flows.height:
            waits = waits.filter(~pl.col("flow").is_in(cut.implode()))
    if measure.quantity == "slowdown":
        waits = waits.with_columns(pl.col("waited_s") / pl.col("fct_ideal_s"))
    if is_tail(statistic):
        totals = waits.group_by("flow").agg(pl.col("waited_s").sum().alias("total"))
        bound = totals["total"].quantile(statistic.at)
        waits = waits.join(totals.filter(pl.col("total") >= bound), on="flow", how="semi")
    count = waits["flow"].n_unique()
    if not count:
        return None
    sums = waits.group_by("wait").agg(pl.col("waited_s").sum())
    by_wait = dict(zip(sums["wait"].to_list(), sums["waited_s"].to_list(), strict=True))
    divisor = math.fsum(by_wait.values()) if measure.quantity == "goodput" else float(count)
    if divisor <= 0:
        return None
    return Profile({name: value / divisor for name, value in sorted(by_wait.items())}, count)
