"""All figures of a scenario, in the order of a report."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from pathweave.plots.cdf import FEWEST, cdf_figure
from pathweave.plots.few_values import few_values
from pathweave.plots.series import KINDS, series_figure
from pathweave.plots.slowdown import slowdown_figure
from pathweave.plots.spread import means_figure, spread_figure
from pathweave.plots.swept import swept_figures
from pathweave.results.completion import age, has_finished, has_size
from pathweave.results.directions import carries_data
from pathweave.results.measures import counted
from pathweave.results.units import rate_unit, scale, time_unit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pathweave.plots.figure import Figure
    from pathweave.plots.frames import Source

_FLOWS = (
    "id", "group", "size_bytes", "start_s", "end_s", "end", "in_window", "fct_s", "fct_ideal_s",
    "goodput_bps", "location", "rtt_mean_s",
)  # fmt: skip
_LARGE = 1_000_000
"""Bytes from which the goodput of a flow, not only its completion time, is of interest."""
_OPEN_LOOPS = ("flows", "bursts", "many-to-many", "poisson")
"""Patterns in which a flow's start does not depend on the end of others."""


def figures(source: Source) -> list[Figure]:
    """Every figure for which there are results."""
    return [figure for figure in _all(source) if figure is not None]


def _all(source: Source) -> Iterator[Figure | None]:
    yield from swept_figures(source)
    few, note = few_values(source)
    for figure in _of_variants(few):
        if figure is not None and note:
            figure = replace(figure, caption=f"{figure.caption} {note}".strip())  # noqa: PLW2901
        yield figure


def _of_variants(source: Source) -> Iterator[Figure | None]:
    """The figures that show variants one by one."""
    flows = source.table("flows", _FLOWS, optional=["name"])
    if flows is not None:
        flows = counted(flows, "flows")
        groups = source.groups(flows)
        parts = [(group, flows.filter(pl.col("group") == group)) for group in groups]
        several = len(groups) > 1
        large = [group for group, part in parts if _is_large(part)] or groups
        for group, part in parts:
            suffix, words = (f"-{group}", f' of "{group}"') if several else ("", "")
            if group in large:
                yield _goodput(source, part, suffix, words)
        for group, part in parts:
            suffix, words = (f"-{group}", f' of "{group}"') if several else ("", "")
            independent = source.pattern(group) in _OPEN_LOOPS
            yield _completion(source, part, suffix, words, independent=independent)
        yield slowdown_figure(source, flows)
        for group, part in parts:
            suffix, words = (f"-{group}", f' of "{group}"') if several else ("", "")
            if group in large:
                yield _by_location(source, part, suffix, words)
                yield _rtt_by_location(source, part, suffix, words)
    yield _optimum(source)
    yield _jobs(source)
    yield _phases(source)
    for kind in KINDS:
        yield series_figure(source, kind)
        if not kind.averaged:
            yield series_figure(source, kind, close_up=True)
    yield _rtts(source)
    yield from _links(source)


def _is_large(flows: pl.DataFrame) -> bool:
    unlimited = flows.select((~has_size()).any()).item()
    median = flows["size_bytes"].median()
    return unlimited or (isinstance(median, int | float) and median >= _LARGE)


def _in_unit(flows: pl.DataFrame, column: str, *, rate: bool) -> tuple[pl.DataFrame, str]:
    middle = float(flows[column].median() or 0.0)  # pyright: ignore[reportArgumentType]
    unit = rate_unit(middle) if rate else time_unit(middle)
    return flows.with_columns((pl.col(column) / scale(unit)).alias("value")), unit


def _goodput(source: Source, flows: pl.DataFrame, suffix: str, words: str) -> Figure | None:
    frame, unit = _in_unit(flows, "goodput_bps", rate=True)
    axis = f"goodput ({unit})"
    if frame.group_by("variant", "seed").len()["len"].max() in range(1, FEWEST):
        frame, names = _named(frame)
        return means_figure(
            source, frame, f"goodput-by-flow{suffix}", f"Goodput by flow{words}", axis, names
        )
    return cdf_figure(
        source,
        frame,
        f"goodput-cdf{suffix}",
        f"Goodput{words}",
        axis,
        log=False,
        what="flows",
    )


def _completion(
    source: Source, flows: pl.DataFrame, suffix: str, words: str, *, independent: bool
) -> Figure | None:
    sized = flows.filter(has_size()).with_columns(
        finished=has_finished(),
        time_s=pl.when(has_finished()).then("fct_s").otherwise(age(pl.col("run_end_s"))),
    )
    if sized.filter(pl.col("finished")).is_empty():
        return None
    frame, unit = _in_unit(sized, "time_s", rate=False)
    return cdf_figure(
        source,
        frame,
        f"fct-cdf{suffix}",
        f"Flow completion time{words}",
        f"flow completion time ({unit})",
        log=True,
        what="flows",
        independent=independent,
    )


def _locations(flows: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    known = ["inter-pod", "inter-rack", "inner-rack"]
    frame = flows.drop_nulls("location").filter(pl.col("location") != "")
    frame = frame.with_columns(pl.col("location").alias("category"))
    here = frame["category"].unique(maintain_order=True).to_list()
    return frame, [name for name in known if name in here] + [
        name for name in here if name not in known
    ]


def _by_location(source: Source, flows: pl.DataFrame, suffix: str, words: str) -> Figure | None:
    frame, places = _locations(flows)
    if len(places) < 2:
        return None
    frame, unit = _in_unit(frame, "goodput_bps", rate=True)
    return spread_figure(
        source,
        frame,
        f"goodput-by-location{suffix}",
        f"Goodput by location{words}",
        f"goodput ({unit})",
        places,
    )


def _rtt_by_location(source: Source, flows: pl.DataFrame, suffix: str, words: str) -> Figure | None:
    frame, places = _locations(flows.drop_nulls("rtt_mean_s"))
    if len(places) < 2 or frame.is_empty():
        return None
    frame, unit = _in_unit(frame, "rtt_mean_s", rate=False)
    return spread_figure(
        source,
        frame,
        f"rtt-by-location{suffix}",
        f"Round-trip time by location{words}",
        f"mean RTT of a flow ({unit})",
        places,
    )


def _optimum(source: Source) -> Figure | None:
    optimum = source.table("optimum", ["phase", "flow", "share"])
    if optimum is None:
        return None
    whole = optimum.filter(pl.col("phase") == "").drop_nulls("share")
    whole = whole.with_columns((pl.col("share") * 100).alias("value"))
    return cdf_figure(
        source,
        whole,
        "optimum-share-cdf",
        "Goodput as a share of the optimum",
        "share of the optimum (%)",
        log=False,
        what="flows",
    )


def _jobs(source: Source) -> Figure | None:
    jobs = source.table("jobs", ["start_s", "end_s", "in_window", "finished", "jct_s"])
    jobs = None if jobs is None else counted(jobs, "jobs")
    if jobs is None or not jobs["finished"].any():
        return None
    jobs = jobs.with_columns(
        time_s=pl.when("finished").then("jct_s").otherwise(age(pl.col("run_end_s")))
    )
    frame, unit = _in_unit(jobs, "time_s", rate=False)
    return cdf_figure(
        source,
        frame,
        "jct-cdf",
        "Job completion time",
        f"job completion time ({unit})",
        log=True,
        what="jobs",
    )


def _phases(source: Source) -> Figure | None:
    phases = source.table("phases", ["phase", "flow", "goodput_bps"])
    if phases is None:
        return None
    frame, unit = _in_unit(phases, "goodput_bps", rate=True)
    axis = f"goodput ({unit})"
    names = frame["phase"].unique(maintain_order=True).to_list()
    frame = frame.with_columns(pl.col("phase").alias("category"))
    return spread_figure(
        source, frame, "goodput-by-phase", "Goodput of flows by phase", axis, names
    )


def _rtts(source: Source) -> Figure | None:
    rtts = source.table("rtts", ["rtt_s"])
    if rtts is None:
        return None
    frame, unit = _in_unit(rtts, "rtt_s", rate=False)
    axis = f"round-trip time ({unit})"
    # A slow start's overshoot is much longer than what follows.
    return cdf_figure(
        source,
        frame,
        "rtt-cdf",
        "Round-trip times",
        axis,
        log=False,
        what="recorded samples",
        shown=0.99,
    )


def _links(source: Source) -> Iterator[Figure | None]:
    links = source.table("links", ["layer", "utilisation", "queue_mean", "bytes", "packets"])
    if links is None:
        return
    every = links.height
    links = links.filter(carries_data(source.scenario))
    if links.is_empty():
        return
    caption = ""
    if links.height < every:
        caption = "Links that carry acknowledgements alone are left out."
    layers = links["layer"].unique(maintain_order=True).to_list()
    frame = links.with_columns(pl.col("layer").alias("category"))
    yield spread_figure(
        source,
        frame.with_columns(pl.col("utilisation") * 100).rename({"utilisation": "value"}),
        "utilisation-by-layer",
        "Link utilisation by layer",
        "utilisation (%)",
        layers,
        top=100,
        caption=caption,
    )
    yield spread_figure(
        source,
        frame.rename({"queue_mean": "value"}),
        "queue-by-layer",
        "Mean queue of links by layer",
        "mean queue (packets)",
        layers,
        caption=caption,
    )


def _named(flows: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """The column `category`: names of flows, in their order."""
    number = pl.concat_str(pl.lit("flow "), (pl.col("id") + 1).cast(pl.String))
    name = pl.col("name") if "name" in flows.columns else pl.lit("")
    named = flows.with_columns(
        pl.when(name.fill_null("") != "").then(name).otherwise(number).alias("category")
    )
    return named, named.sort("id")["category"].unique(maintain_order=True).to_list()
