"""What one run has to say: a value for each quantity and each of its traffic groups or layers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pathweave.changes.span import Phase, Window
from pathweave.results.completion import (
    COMPLETIONS,
    Completion,
    has_size,
)
from pathweave.results.derived import table_of
from pathweave.results.measures import Unit, counted, plain, unit_of_column
from pathweave.results.quantities import QUANTITIES
from pathweave.results.schema import IN_WINDOW
from pathweave.results.units import seconds

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl

    from pathweave.changes.span import Span
    from pathweave.results.measures import Measure
    from pathweave.results.runs import StoredRun

COUNTS = ("timeouts", "retransmits")
"""Quantities that count events."""


@dataclass(frozen=True, order=True)
class Metric:
    """What a value of a run is of, as a comparison names it."""

    quantity: str
    """A name in `QUANTITIES`."""
    taken: str
    """The statistic over flows, jobs or links: "mean", "median", "p99"; or "unfinished", the share
    without a value, because they did not finish."""
    of: str = ""
    """The traffic group, or the layer of links."""
    phase: str = ""
    """The phase; empty for the measurement window."""
    sizes: str = ""
    """The range of flow sizes; empty for all."""

    @property
    def title(self) -> str:
        """What is measured, whatever it is measured of: "Goodput", "Median round-trip time"."""
        title = QUANTITIES[self.quantity].title
        lower = title[0].lower() + title[1:]
        words = {"mean": title, "unfinished": f"Share without {lower}"}
        return words.get(self.taken, f"{self.taken[0].upper()}{self.taken[1:]} {lower}")

    @property
    def whose(self) -> str:
        """What it is measured of: the traffic group or layer, the flow sizes and the phase."""
        of = " ".join(name for name in (self.of, self.sizes) if name)
        return ", ".join(name for name in (of, self.phase) if name)

    @property
    def text(self) -> str:
        """In words: `mean goodput of "large"`."""
        title = self.title if self.taken != "mean" else f"mean {self.title}"
        title = title.replace("mean Mean", "mean").replace(" in a phase", "")
        of = f' of "{self.of}"' if self.of else ""
        sizes = f" {self.sizes}" if self.sizes else ""
        phase = f' in "{self.phase}"' if self.phase else ""
        return f"{title.lower()}{of}{sizes}{phase}"

    @property
    def is_count(self) -> bool:
        """Whether the value is a number of events, divided by a number of flows or jobs."""
        return self.taken == "unfinished" or self.quantity in COUNTS

    @property
    def unit(self) -> Unit:
        """The base unit of the value."""
        if self.taken == "unfinished":
            return "ratio"
        return unit_of_column(QUANTITIES[self.quantity].column)


@dataclass(frozen=True)
class Observed:
    """What a run has to say."""

    values: dict[Metric, float] = field(default_factory=dict)
    """In base units: bit/s, s, packets, ratio."""
    completions: dict[tuple[str, str], Completion] = field(default_factory=dict)
    """By quantity and traffic group: what depends on how much of it is done, on both sides."""
    sizes: dict[Metric, int] = field(default_factory=dict)
    """Of each mean, how many flows or links it is over."""
    bounds: set[Metric] = field(default_factory=set)
    """Of which values only a lower bound is known, because too much is unfinished."""

    def size(self, metric: Metric) -> int:
        """How many flows, jobs or links a value is over."""
        if metric.taken == "unfinished":
            completion = self.completions[metric.quantity, metric.of]
            return len(completion.times) + len(completion.ages)
        return self.sizes.get(metric, 0)


def observe(run: StoredRun, span: Span) -> Observed:
    """Read a run's tables once and take every quantity that they have.

    Of a phase it takes what the tables of phases have. Of a window of time it takes what the series
    have, and flows and jobs that start in it. Raises `InputError` for a table that is damaged.
    """
    found = Observed()
    if isinstance(span, Window):
        _window(run, span, found)
        return found
    for table in dict.fromkeys(each.table for each in QUANTITIES.values()):
        rows = _rows(run, table)
        if rows is None:
            continue
        for phase, part in _parts(rows, "phase") if "phase" in rows.columns else [("", rows)]:
            if isinstance(span, Phase) and phase != span.name:
                continue
            for of, group in _parts(part, "of"):
                _take(run, table, group, of, phase, found)
    return found


def observe_asked(run: StoredRun, measures: Sequence[Measure]) -> Observed:
    """Take these measures of a run alone. Raises `InputError` for a table that is damaged."""
    found = Observed()
    for measure in measures:
        rows = measure.rows(run)
        value = None if rows is None else measure.pooled_rows([(run, rows)])
        if rows is None or value is None:
            continue
        metric = Metric(
            measure.quantity, measure.statistic, measure.group or "", sizes=measure.sizes.text
        )
        found.values[metric] = value.value
        found.sizes[metric] = rows[measure.defined.column].count()
        if value.at_least:
            found.bounds.add(metric)
    return found


def _take(
    run: StoredRun, table: str, rows: pl.DataFrame, of: str, phase: str, found: Observed
) -> None:
    """Take every quantity of `table` from `rows`, which are of one group and phase."""
    for name, quantity in QUANTITIES.items():
        if quantity.table != table or quantity.column not in rows.columns:
            continue
        if name in COMPLETIONS:
            completion = COMPLETIONS[name](run, rows)
            if completion.times or completion.ages:
                found.completions[name, of] = completion
            continue
        mean = plain([rows], quantity, "mean")
        if mean is not None:
            metric = Metric(name, "mean", of, phase)
            found.values[metric] = mean.value
            found.sizes[metric] = rows[quantity.column].count()


def _rows(run: StoredRun, table: str) -> pl.DataFrame | None:
    """The rows of a table that count, with a column `of`; None where the run has no such table."""
    import polars as pl

    rows = _read(run, table) if table in run.tables else table_of(run, table)
    if rows is None:
        return None
    if table in IN_WINDOW:
        return counted(rows, table).with_columns(of=pl.col("group"))
    if "group" in rows.columns:
        return rows.with_columns(of=pl.col("group"))
    if "flow" in rows.columns and "flows" in run.tables:
        flows = run.read("flows", ["id", "group", "in_window"])
        if "phase" not in rows.columns:
            flows = counted(flows, "flows")
        groups = flows.select(flow="id", of="group")
        return rows.join(groups, on="flow", how="inner", maintain_order="left")
    if "layer" in rows.columns:
        return rows.with_columns(of=pl.col("layer"))
    if "link" in rows.columns and "links" in run.tables:
        layers = run.read("links", ["link", "layer"]).rename({"layer": "of"})
        return rows.join(layers, on="link", how="inner", maintain_order="left")
    return rows.with_columns(of=pl.lit(""))


def _read(run: StoredRun, table: str) -> pl.DataFrame:
    """The columns of a table that a value can rest on."""
    wanted = {each.column for each in QUANTITIES.values() if each.table == table}
    wanted |= {"group", "in_window", "size_bytes", "end", "start_s", "end_s", "finished", "began_s"}
    wanted |= {"at_s", "flow", "layer", "link", "phase"} | (
        {"bytes"} if table == "links" else set()
    )
    there = run.scan(table).collect_schema().names()
    return run.read(table, [name for name in there if name in wanted])


def _parts(rows: pl.DataFrame, column: str) -> Iterator[tuple[str, pl.DataFrame]]:
    """The rows by the names in a column, in the order in which these come."""
    for part in rows.partition_by(column, maintain_order=True):
        yield str(part[column][0]), part


def _window(run: StoredRun, window: Window, found: Observed) -> None:
    """Take what happened in a window of time."""
    import polars as pl

    begins = (pl.col("start_s") >= window.begin_s) & (pl.col("start_s") < window.end_s)
    if "flows" in run.tables:
        flows = _read(run, "flows").filter(begins & has_size())
        # Goodput and round-trip times of a flow are of its life, which may go on after the window.
        kept = flows.drop("goodput_bps", "rtt_mean_s", strict=False)
        for of, group in _parts(kept, "group"):
            _take(run, "flows", group, of, "", found)
    for table in ("jobs", "collectives"):
        if table in run.tables:
            for of, group in _parts(_read(run, table).filter(begins), "group"):
                _take(run, table, group, of, "", found)
    for table, quantity, column in (
        ("rates", "goodput", "rate_bps"),
        ("rtts", "rtt", "rtt_s"),
        ("queues", "queue", "packets"),
    ):
        rows = _samples(run, table, window)
        if rows is None:
            continue
        for of, group in _parts(rows, "of"):
            mean = _flow_rates(group)[column].mean() if table == "rates" else group[column].mean()
            if isinstance(mean, int | float):
                found.values[Metric(quantity, "mean", of)] = float(mean)


def _samples(run: StoredRun, table: str, window: Window) -> pl.DataFrame | None:
    """The samples of a series in the window; of rates, those whose whole interval lies in it."""
    import polars as pl

    if table not in run.tables:
        return None
    rows = _rows_of_series(run, table)
    first = window.begin_s
    if table == "rates":
        # Rounding puts the end of an interval a little before its time.
        first += 0.999 * seconds(run.manifest["resolved"]["record"]["rates"])
    return rows.filter((pl.col("time_s") >= first) & (pl.col("time_s") <= window.end_s))


def _rows_of_series(run: StoredRun, table: str) -> pl.DataFrame:
    rows = run.read(table)
    if "flow" in rows.columns:
        groups = run.read("flows", ["id", "group"]).rename({"id": "flow", "group": "of"})
        return rows.join(groups, on="flow", how="inner", maintain_order="left")
    layers = run.read("links", ["link", "layer"]).rename({"layer": "of"})
    return rows.join(layers, on="link", how="inner", maintain_order="left")


def _flow_rates(rows: pl.DataFrame) -> pl.DataFrame:
    """Rates of whole flows: those of their subflows at one time, together."""
    import polars as pl

    return (
        rows.sort("time_s", "flow", "subflow")
        .group_by("time_s", "flow", maintain_order=True)
        .agg(pl.col("rate_bps").sum())
    )
