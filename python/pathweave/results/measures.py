"""What the value of a run is: every quantity, over whom, and by which statistic.

A `Measure` names a column of a table (by its quantity), the rows that count, and a statistic. All
that shows or compares a value asks one: rankings, summaries, published values, `compare`,
`--until`, the survey, exports and charts. So a word stands for one number on a page, and where two
populations have a value of the same quantity their names differ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, Literal

from pathweave.errors import InputError
from pathweave.results.checks import CHECKS
from pathweave.results.completion import (
    COMPLETIONS,
    FEW_UNFINISHED,
    Completion,
    has_finished,
    together,
)
from pathweave.results.derived import table_of
from pathweave.results.quantities import QUANTITIES, parse_statistic
from pathweave.results.schema import IN_WINDOW
from pathweave.results.sizes import ALL_SIZES, Sizes, split_sizes
from pathweave.results.units import seconds

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from pathweave.results.quantities import Quantity
    from pathweave.results.runs import StoredRun

Where = dict[str, "str | int | float | bool | list[str]"]
"""Columns and the values that rows must have there; of a list, one."""
Unit = Literal["bit/s", "s", "ratio", "packets", "count"]

OF_GROUPS = (
    "flows", "flow_waits", "slowdowns", "jobs", "collectives", "optimum_collectives",
    "convergence", "fairness",
)  # fmt: skip
"""Tables whose rows belong to a traffic group."""
OF_SIZES = ("flows", "flow_waits", "slowdowns")
"""Tables whose rows have a flow size."""
OF_COLLECTIVES = ("bus_bandwidth", "collective_share")
"""Quantities that only collective operations have that finished."""
_NOUNS = {
    "flows": "flows", "flow_waits": "flows", "slowdowns": "flows", "subflows": "subflows",
    "jobs": "jobs",
    "collectives": "operations", "optimum_collectives": "operations", "links": "ports",
    "phases": "flows", "phase_subflows": "subflows", "phase_links": "ports",
    "convergence": "flows that start while others are under way",
    "recoveries": "flows that a failure hit", "fairness": "flows",
}  # fmt: skip
"""What the rows of a table are."""


class Population(Enum):
    """Which rows of a table a measure is over."""

    COUNTED = "counted"
    """Those that tables count (`in_window`): what starts in the measurement window, and flows
    without a size that are under way in it. All rows where a table has no such column."""
    FINISHED = "finished"
    """Of these, what finished."""


@dataclass(frozen=True)
class Value:
    """A number of one run, or the mean of several runs with one seed."""

    value: float
    at_least: bool = False
    """Whether it is only a lower bound, because too much of the run was unfinished."""


@dataclass(frozen=True)
class Measure:
    """What is taken of a run; values are in base units (bit/s, s, packets, ratio)."""

    quantity: str
    """A name in `QUANTITIES` or `CHECKS`, which says the table and the column."""
    statistic: str = "mean"
    """What is taken of it in a run, as `parse_statistic` reads it."""
    group: str | None = ""
    """The traffic group; empty for all of them. With None rows of any group count, also where a
    table has rows of their own for all groups together (`fairness`)."""
    sizes: Sizes = ALL_SIZES
    """Which flow sizes count."""
    population: Population = Population.COUNTED
    where: Where = field(default_factory=dict, hash=False)
    """What rows must have in other columns, of their flow or link as well."""
    during: str = ""
    """The phase that rows of a series must lie in; empty for the whole run."""
    by_bytes: bool = True
    """Whether a mean over ports weighs each by the bytes that it sent: what data meets, not what
    idle ports have."""
    close: float = 0.0
    """How far apart the bounds of a percentile may be, as a part of it, to take their middle."""

    @property
    def defined(self) -> Quantity:
        """Table, column, title and direction."""
        return quantity_of(self.quantity)

    @property
    def larger_is_better(self) -> bool:
        """Whether more of it is better."""
        return self.defined.larger_is_better

    @property
    def is_completion(self) -> bool:
        """Whether it is of times that flows, jobs or recoveries only have once they are done."""
        return self.quantity in COMPLETIONS

    @property
    def unit(self) -> Unit:
        """The base unit of the value."""
        return unit_of_column(self.defined.column)

    @property
    def written(self) -> str:
        """As `parse_measure` reads it: "p99 slowdown of bg under 100 KB"."""
        of = f" of {self.group}" if self.group else ""
        sizes = f" {self.sizes.text}" if self.sizes.text else ""
        return f"{self.statistic} {self.quantity}{of}{sizes}"

    @property
    def text(self) -> str:
        """In words: `mean goodput of "large"`, `mean goodput of finished flows of "large"`."""
        title = self.defined.title
        title = title[0].lower() + title[1:]
        words = title if title.startswith(f"{self.statistic} ") else f"{self.statistic} {title}"
        if self.population is Population.FINISHED:
            words += f" of finished {self.noun}"
        of = f' of "{self.group}"' if self.group else ""
        return words + of + (f" {self.sizes.text}" if self.sizes.text else "")

    @property
    def over(self) -> str:
        """Whom it is over, in words: "all flows of the window"."""
        table, noun = self.defined.table, self.noun
        if self.sizes.text:
            noun = f"{noun} {self.sizes.text}"
        if self.population is Population.FINISHED:
            return f"finished {noun} of the window"
        if self.quantity in OF_COLLECTIVES:
            return f"finished {noun} of the window"
        if self.is_completion:
            sized = " that have a size" if table == "flows" and not self.sizes.text else ""
            window = " of the window" if table in IN_WINDOW else ""
            return f"all {noun}{window}{sized}, unfinished ones at their age"
        if table in IN_WINDOW or table == "fairness":
            return f"all {noun} of the window"
        if table == "links" and self.by_bytes:
            return "all ports, by the bytes that they sent"
        return f"all {noun}" + (" of the run" if table == "subflows" else "")

    @property
    def noun(self) -> str:
        """What it is of: "flows", "jobs", "ports"."""
        return _NOUNS.get(self.defined.table, "values")

    def rows(self, run: StoredRun) -> pl.DataFrame | None:
        """The rows of a run that its value is over, unfinished flows and jobs included.

        None where the run has no table for it, or no such column.
        """
        if self.quantity in CHECKS:
            rows = CHECKS[self.quantity].table(run)
        else:
            rows = table_of(run, self.defined.table)
        return None if rows is None else self.chosen(run, rows)

    def chosen(self, run: StoredRun, rows: pl.DataFrame) -> pl.DataFrame | None:
        """Those of the rows of its table in a run that count."""
        import polars as pl

        if self.defined.column not in rows.columns:
            return None
        rows = counted(rows, self.defined.table)
        if any(column not in rows.columns for column in self.where):
            rows = _joined(run, rows, self.defined.table)
            if any(column not in rows.columns for column in self.where):
                return None
        # The fairness of all flows has rows of its own, under no group.
        if self.group or (self.group == "" and self.defined.table == "fairness"):
            rows = rows.filter(pl.col("group") == self.group)
        if not self.sizes.every:
            rows = rows.filter(self.sizes.holds())
        if self.population is Population.FINISHED:
            rows = finished(rows)
        rows = _selected(rows, self.where)
        return _during(rows, run, self.during) if self.during else rows

    def completion(self, run: StoredRun) -> Completion:
        """What the flows, jobs or recoveries of a run took that its value is over."""
        rows = self.rows(run)
        return Completion((), ()) if rows is None else COMPLETIONS[self.quantity](run, rows)

    def of(self, run: StoredRun) -> Value | None:
        """The value of a run; None where it has none."""
        rows = self.rows(run)
        return None if rows is None else self.pooled_rows([(run, rows)])

    def by_run(self, runs: Sequence[StoredRun]) -> list[tuple[StoredRun, Value]]:
        """The values of the runs of one variant that have one.

        Whether a mean over what finished is one of all is judged by all of these runs together, so
        that no run of a variant is a bound because one more of its few flows is unfinished.
        """
        if not self.is_completion:
            return [(run, value) for run in runs if (value := self.of(run)) is not None]
        parts = [(run, self.completion(run)) for run in runs]
        few = together([part for _, part in parts]).unfinished <= FEW_UNFINISHED
        found = [(run, of_completion(part, self.statistic, few=few)) for run, part in parts]
        return [(run, value) for run, value in found if value is not None]

    def pooled(self, runs: Sequence[StoredRun]) -> Value | None:
        """The value over what counts in several runs together."""
        found = [(run, rows) for run in runs if (rows := self.rows(run)) is not None]
        return self.pooled_rows(found)

    def pooled_rows(self, found: Sequence[tuple[StoredRun, pl.DataFrame]]) -> Value | None:
        """The value over rows of several runs that were chosen before."""
        if self.is_completion:
            parts = [COMPLETIONS[self.quantity](run, rows) for run, rows in found]
            return of_completion(together(parts), self.statistic, close=self.close)
        tables = [rows for _, rows in found]
        return plain(tables, self.defined, self.statistic, by_bytes=self.by_bytes)

    def started(self, found: Sequence[tuple[StoredRun, pl.DataFrame]]) -> int:
        """How many flows, jobs or recoveries were started, finished ones included."""
        parts = [COMPLETIONS[self.quantity](run, rows) for run, rows in found]
        return sum(len(part.times) + len(part.ages) for part in parts)

    def unfinished(self, runs: Sequence[StoredRun]) -> float:
        """Share of the flows with a size, or of the jobs, that did not finish in these runs."""
        measure = replace(self, population=Population.COUNTED)
        if self.quantity in OF_COLLECTIVES:
            measure = replace(measure, quantity="collective_time")
        elif not self.is_completion:
            sizes = self.sizes if self.defined.table in OF_SIZES else ALL_SIZES
            measure = Measure("fct", "mean", self.group, sizes)
        return together([measure.completion(run) for run in runs]).unfinished


def parse_measure(text: str, groups: Sequence[str], where: str = "report.quantity") -> Measure:
    """Read "goodput", "p99 fct", "mean fct of small" or "p99 slowdown of bg under 100 KB".

    Raises `InputError` with what is wrong in `where`.
    """
    rest, of, group = text.partition(" of ")
    sizes = ALL_SIZES
    if of and group.strip() not in groups:
        group, sizes = split_sizes(group.strip(), where)
    elif not of:
        rest, sizes = split_sizes(rest, where)
    *statistic, quantity = rest.split() or [""]
    group = group.strip()
    if quantity not in QUANTITIES:
        known = ", ".join(QUANTITIES)
        raise InputError(f'{where}: unknown quantity "{quantity}"; there are {known}')
    taken = " ".join(statistic) or "mean"
    if parse_statistic(taken).kind not in ("mean", "median", "quantile"):
        raise InputError(
            f'{where}: variants are ranked by a mean, a median or a percentile, not by "{taken}"'
        )
    table = QUANTITIES[quantity].table
    if group and table not in OF_GROUPS:
        raise InputError(f"{where}: {quantity} is not of a traffic group; leave out its name")
    if group and group not in groups:
        raise InputError(
            f'{where}: there is no traffic group "{group}"; there are {", ".join(groups)}'
        )
    if not sizes.every and table not in OF_SIZES:
        known = ", ".join(name for name, each in QUANTITIES.items() if each.table in OF_SIZES)
        raise InputError(
            f"{where}: {quantity} is not of flows with a size, so it cannot be {sizes.text};"
            f" what can be is {known}"
        )
    return Measure(quantity, taken, group, sizes)


def quantity_of(name: str) -> Quantity:
    """The quantity or check with this name."""
    return QUANTITIES[name] if name in QUANTITIES else CHECKS[name].quantity


def unit_of_column(column: str) -> Unit:
    """The base unit of a column, which its end says."""
    if column.endswith("_bps"):
        return "bit/s"
    if column.endswith("_s"):
        return "s"
    if column in ("utilisation", "share"):
        return "ratio"
    return "packets" if "queue" in column else "count"


def counted(rows: pl.DataFrame, table: str) -> pl.DataFrame:
    """The rows of a table that count: those in the measurement window, where it says which are."""
    import polars as pl

    return rows.filter(pl.col("in_window")) if table in IN_WINDOW else rows


def finished(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows of flows, jobs or operations that finished."""
    import polars as pl

    return rows.filter(has_finished() if "end" in rows.columns else pl.col("finished"))


def plain(
    tables: Sequence[pl.DataFrame], quantity: Quantity, statistic: str, *, by_bytes: bool = True
) -> Value | None:
    """A statistic of a column over all rows at once, in their order: equal tables give equal bits.

    A mean over ports is weighted by the bytes that they sent, with `by_bytes`.
    """
    import polars as pl

    column = quantity.column
    parts = [rows.drop_nulls(column) for rows in tables if column in rows.columns]
    if not parts:
        return None
    by_bytes = by_bytes and all("bytes" in rows.columns for rows in parts)
    if by_bytes and quantity.table == "links" and statistic == "mean":
        sent = math.fsum(float(rows["bytes"].sum()) for rows in parts)
        met = math.fsum(float((rows["bytes"] * rows[column]).sum()) for rows in parts)
        return Value(met / sent) if sent else None
    values = parts[0][column] if len(parts) == 1 else pl.concat([rows[column] for rows in parts])
    found = parse_statistic(statistic).of(values)
    return None if found is None else Value(found)


def of_completion(
    found: Completion, text: str, *, few: bool | None = None, close: float = 0.0
) -> Value | None:
    """A statistic of completion times over all that was started.

    What is unfinished leaves a percentile between two bounds: where these are as close as `close`,
    it is the middle. Where more than `FEW_UNFINISHED` did not finish (or `few` is false) a mean
    over what finished would be one of survivors: then the others count at their age, and it is a
    lower bound. There is no standard deviation then. A count is of what finished.
    """
    import polars as pl

    statistic = parse_statistic(text)
    if not found.times and not found.ages:
        return None
    if statistic.kind in ("median", "quantile"):
        at = 50.0 if statistic.kind == "median" else 100 * statistic.at
        percentile = found.percentile(at)
        if percentile is None or not percentile.at_least:
            return None if percentile is None else Value(percentile.value)
        most = _most(found, at)
        if close and most is not None and most - percentile.value <= close * percentile.value:
            return Value((percentile.value + most) / 2)
        return Value(percentile.value, at_least=True)
    if statistic.kind == "over":
        started = (*found.times, *found.ages)
        open_ = any(age <= statistic.at for age in found.ages)  # they may still pass it
        return Value(sum(time > statistic.at for time in started) / len(started), open_)
    if statistic.kind == "count":
        return Value(len(found.times))
    if statistic.kind == "range":  # what is unfinished can only widen it
        value = statistic.of(pl.Series(found.times, dtype=pl.Float64))
        return None if value is None else Value(value, bool(found.ages))
    few = found.unfinished <= FEW_UNFINISHED if few is None else few
    # One that is still under way can be the longest, and the sum is over all.
    if not found.ages or (few and statistic.kind not in ("max", "sum")):
        value = _taken(found.times, text)
        return None if value is None else Value(value)
    if statistic.kind == "std":
        return None  # ages bound it on neither side
    value = _taken((*found.times, *found.ages), text)
    return None if value is None else Value(value, at_least=True)


def share_of_sent(runs: Sequence[StoredRun], column: str) -> float | None:
    """A column of `links` (`drops`, `marks`) summed over the runs, as a share of packets sent."""
    part, whole = _total(runs, "links", column), _total(runs, "subflows", "sent_packets")
    return part / whole if part is not None and whole else None


def _total(runs: Sequence[StoredRun], table: str, column: str) -> float | None:
    found = [run.read(table, [column])[column].sum() for run in runs if table in run.tables]
    return math.fsum(found) if found else None


def _taken(values: Sequence[float], text: str) -> float | None:
    import polars as pl

    if text == "mean":
        return math.fsum(values) / len(values) if values else None
    return parse_statistic(text).of(pl.Series(values, dtype=pl.Float64))


def _most(found: Completion, percent: float) -> float | None:
    """The percentile if nothing unfinished ever finishes; None where it has no bound."""
    place = percent / 100 * (len(found.times) + len(found.ages) - 1)
    low, high = math.floor(place), math.ceil(place)
    if high >= len(found.times):
        return None
    ordered = sorted(found.times)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def _joined(run: StoredRun, rows: pl.DataFrame, table: str) -> pl.DataFrame:
    """The rows with what is known of their flow or link."""
    key = "link" if "link" in rows.columns else "flow"
    other = "links" if key == "link" else "flows"
    own = ("links", "convergence", "fairness", *IN_WINDOW)
    if not table or table in own or key not in rows.columns:  # rows of checks have all they need
        return rows
    about = run.read(other)
    identity = key if key in about.columns else "id"
    new = [column for column in about.columns if column not in (*rows.columns, identity)]
    return rows.join(about.select(identity, *new), left_on=key, right_on=identity, how="left")


def _selected(rows: pl.DataFrame, where: Where) -> pl.DataFrame:
    import polars as pl

    for column, value in where.items():
        wanted = pl.col(column)
        rows = rows.filter(wanted.is_in(value) if isinstance(value, list) else wanted == value)
    return rows


def _during(rows: pl.DataFrame, run: StoredRun, phase: str) -> pl.DataFrame:
    """The rows of a series in a phase; none where the run has no such phase."""
    import polars as pl

    phases = run.manifest["resolved"].get("measure", {}).get("phases", {})
    named = {run.phases.get(name, name): times for name, times in phases.items()}
    if phase not in named or "time_s" not in rows.columns:
        return rows.clear()
    begin, end = (seconds(text) for text in named[phase])
    return rows.filter((pl.col("time_s") > begin) & (pl.col("time_s") <= end))
