"""One number of a run: a statistic of a quantity over some rows, perhaps as a ratio."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from pathweave.errors import InputError
from pathweave.results.checks import CHECKS
from pathweave.results.completion import (
    COMPLETIONS,
    FEW_UNFINISHED,
    Completion,
)
from pathweave.results.derived import table_of
from pathweave.results.quantities import QUANTITIES, parse_statistic
from pathweave.results.schema import IN_WINDOW, TABLES
from pathweave.results.units import scale, seconds

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from pathweave.results.quantities import Quantity
    from pathweave.results.read import StoredRun, StoredScenario

Where = dict[str, "str | int | float | bool | list[str]"]


_CLOSE = 0.05
"""How far apart the bounds of a percentile may be, as a part of it, to take the middle."""


@dataclass(frozen=True)
class Value:
    """A number of one run, or the mean of several runs with one seed."""

    value: float
    at_least: bool = False
    """Whether it is only a lower bound, because too much of the run was unfinished."""


@dataclass(frozen=True)
class Measured:
    """What is measured of a run."""

    quantity: str
    """A name in `QUANTITIES` or `CHECKS`."""
    statistic: str = "mean"
    where: Where = field(default_factory=dict)
    """Columns of the quantity's table, and the values that rows must have; of a list, one."""
    over: Where = field(default_factory=dict)
    """The rows of the same run over whose statistic it is divided; empty for no ratio."""
    during: str = ""
    """The phase that rows of a series must lie in; empty for the whole run."""
    relative_to: Mapping[str, str] = field(default_factory=dict[str, str])
    """Axis to name of the variant over whose value, with the same seed, it is divided."""
    unit: str = ""

    @property
    def title(self) -> str:
        """In words: "Goodput, mean, large, Mbps"."""
        parts = [_quantity(self.quantity).title, self.statistic]
        parts += [_text(value) for value in self.where.values()]
        parts += [self.during] if self.during else []
        divisors = [_text(value) for value in self.over.values()]
        divisors += list(self.relative_to.values())
        parts += [f"over that of {', '.join(divisors)}"] if divisors else []
        return ", ".join([*parts, self.unit] if self.unit else parts)

    @property
    def column(self) -> str:
        """The column that it is taken from; its end says what it is: `_bps`, `_s`."""
        return _quantity(self.quantity).column

    @property
    def is_ratio(self) -> bool:
        """Whether it is one value over another."""
        return bool(self.over or self.relative_to)

    def of_run(self, run: StoredRun) -> Value | None:
        """The value of one run in base units, not relative to another; None where it has none."""
        own = self._taken(run, self.where)
        if own is None or not self.over:
            return own
        other = self._taken(run, self.over)
        if other is None or not other.value or other.at_least:
            return None
        return Value(own.value / other.value, own.at_least)

    def by_seed(
        self, scenario: StoredScenario, at: Mapping[str, str], *, other_seed: bool = False
    ) -> dict[int, Value]:
        """The value of each seed, in `unit`.

        `at` names the variant: axes that are not in it are averaged over, within each seed. A seed
        has no value unless all of these runs have one. Invalid runs do not count. What a value is
        relative to has the same seed or, with `other_seed`, the next one: the last seed's is the
        first.
        """
        scenario = scenario.counted()
        seeds = sorted({run.seed for run in scenario.runs})
        partners = dict(zip(seeds, [*seeds[1:], *seeds[:1]] if other_seed else seeds, strict=True))
        found: dict[int, list[Value | None]] = {}
        for run in scenario.runs:
            if any(run.axes.get(axis) != name for axis, name in at.items()):
                continue
            found.setdefault(run.seed, []).append(self._relative(scenario, run, partners[run.seed]))
        one = scale(self.unit)
        return {
            seed: Value(
                math.fsum(value.value for value in values) / len(values) / one,
                any(value.at_least for value in values),
            )
            for seed, several in sorted(found.items())
            if len(values := [value for value in several if value is not None]) == len(several)
        }

    def _relative(self, scenario: StoredScenario, run: StoredRun, seed: int) -> Value | None:
        own = self.of_run(run)
        if own is None or not self.relative_to:
            return own
        axes = {**run.axes, **self.relative_to}
        same = (each for each in scenario.runs if each.seed == seed and each.axes == axes)
        partner = next(same, None)
        base = None if partner is None else self.of_run(partner)
        if base is None or not base.value or base.at_least:
            return None
        return Value(own.value / base.value, own.at_least)

    def _taken(self, run: StoredRun, where: Where) -> Value | None:
        """The statistic over the rows of `where`."""
        quantity = _quantity(self.quantity)
        rows = _basis(run, self.quantity)
        if rows is None or quantity.column not in rows.columns:
            return None
        if any(column not in rows.columns for column in where):
            return None
        rows = _selected(rows, where)
        if self.during:
            rows = _during(rows, run, self.during)
        statistic = parse_statistic(self.statistic)
        if self.quantity in COMPLETIONS:
            return _of_completion(COMPLETIONS[self.quantity](run, rows), self.statistic)
        found = statistic.of(rows[quantity.column])
        return None if found is None else Value(found)

    def to_json(self) -> dict[str, Any]:
        """As a JSON object; `from_json` reads it."""
        return {
            "quantity": self.quantity,
            "statistic": self.statistic,
            "where": dict(self.where),
            "over": dict(self.over),
            "during": self.during,
            "relative_to": dict(self.relative_to),
            "unit": self.unit,
        }

    @staticmethod
    def from_json(value: Mapping[str, Any]) -> Measured:
        """The inverse of `to_json`."""
        name = str(value["quantity"])
        if name not in QUANTITIES and name not in CHECKS:
            raise ValueError("quantity")
        parse_statistic(str(value["statistic"]))
        scale(str(value["unit"]))
        return Measured(
            quantity=name,
            statistic=str(value["statistic"]),
            where=_table(value, "where", "columns and values"),
            over=_table(value, "over", "columns and values"),  # earlier versions have none
            during=str(value.get("during", "")),
            relative_to=_table(value, "relative_to", "axes and names"),
            unit=str(value["unit"]),
        )


_COLUMNS = {column for columns in TABLES.values() for column in columns} | {"after", "until"}
"""Columns that rows can be chosen by: those of all tables, and of checks."""

MEASURED_KEYS = {
    "quantity", "check", "statistic", "where", "over", "during", "relative_to", "unit",
}  # fmt: skip
"""Keys of an entry of `expected.toml` that say what is measured."""


def parse_measured(entry: Mapping[str, Any], axes: Mapping[str, Sequence[str]]) -> Measured:
    """Read what an entry of `expected.toml` says is measured; `axes` are the scenario's.

    Raises `InputError` with what is wrong.
    """
    if ("quantity" in entry) == ("check" in entry):
        raise InputError("give either quantity or check")
    kind, known = ("quantity", QUANTITIES) if "quantity" in entry else ("check", CHECKS)
    name = entry[kind]
    if not isinstance(name, str) or name not in known:
        raise InputError(f"{kind} must be one of {', '.join(known)}, not {name!r}")
    statistic = str(entry.get("statistic", "mean"))
    parse_statistic(statistic)
    unit = str(entry.get("unit", ""))
    scale(unit)
    where, over = (_table(entry, key, "columns and values") for key in ("where", "over"))
    for column in (*where, *over):
        if column not in _COLUMNS:
            close = get_close_matches(column, sorted(_COLUMNS), n=1)
            instead = f'; did you mean "{close[0]}"?' if close else ""
            raise InputError(f'no table has a column "{column}"{instead}')
    relative_to = _table(entry, "relative_to", "axes and names")
    for axis, variant in relative_to.items():
        check_name(axis, variant, axes)
    if (relative_to or over) and unit not in ("", "%"):
        raise InputError(f'a ratio has the unit "%" or none, not "{unit}"')
    return Measured(
        quantity=str(name),
        statistic=statistic,
        where=where,
        over=over,
        during=str(entry.get("during", "")),
        relative_to=relative_to,
        unit=unit,
    )


def check_axis(axis: str, axes: Mapping[str, Sequence[str]]) -> None:
    """Raise `InputError` for an axis that the scenario does not have."""
    if axis not in axes:
        known = ", ".join(axes) if axes else "none"
        raise InputError(f'the scenario has no axis "{axis}"; it has {known}')


def check_name(axis: str, name: str, axes: Mapping[str, Sequence[str]]) -> None:
    """Raise `InputError` for a name that the scenario does not have on an axis."""
    check_axis(axis, axes)
    if name not in axes[axis]:
        raise InputError(f'axis "{axis}" has no "{name}"; it has {", ".join(axes[axis])}')


def _table(entry: Mapping[str, Any], key: str, of: str) -> dict[str, Any]:
    value = entry.get(key, {})
    if not isinstance(value, dict):
        raise InputError(f"{key} must be a table of {of}")
    return value


def check_axes(axes: Any, known: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """A list of axes of the scenario. Raises `InputError` for anything else."""
    if not isinstance(axes, list):
        raise InputError(f"axes must be a list of names, not {axes!r}")
    for axis in axes:
        check_axis(str(axis), known)
    return tuple(map(str, axes))


def _quantity(name: str) -> Quantity:
    return QUANTITIES[name] if name in QUANTITIES else CHECKS[name].quantity


def _text(value: object) -> str:
    return " or ".join(map(str, value)) if isinstance(value, list) else str(value)


def _basis(run: StoredRun, name: str) -> pl.DataFrame | None:
    """All rows that a value may be over, with what is known of their flow or link."""
    import polars as pl

    if name in CHECKS:
        return CHECKS[name].table(run)
    table = QUANTITIES[name].table
    rows = table_of(run, table)
    if rows is None:
        return None
    if table in IN_WINDOW:
        return rows.filter(pl.col("in_window"))
    key = "link" if "link" in rows.columns else "flow"
    other = "links" if key == "link" else "flows"
    if table in ("links", "convergence", "fairness") or key not in rows.columns:
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


def _most(found: Completion, percent: float) -> float | None:
    """The percentile (s) if nothing unfinished ever finishes; None where it has no bound."""
    place = percent / 100 * (len(found.times) + len(found.ages) - 1)
    low, high = math.floor(place), math.ceil(place)
    if high >= len(found.times):
        return None
    ordered = sorted(found.times)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def _of_completion(found: Completion, text: str) -> Value | None:
    """A statistic of completion times over all that was started.

    What is unfinished leaves a percentile between two bounds: where these are close, it is the
    middle. Above `FEW_UNFINISHED` a mean over what finished would be one of survivors: then the
    others count at their age, and it is a lower bound. There is no standard deviation then. A count
    is of what finished.
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
        if most is not None and most - percentile.value <= _CLOSE * percentile.value:
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
    few = found.unfinished <= FEW_UNFINISHED
    # One that is still under way can be the longest, and the sum is over all.
    if not found.ages or (few and statistic.kind not in ("max", "sum")):
        value = statistic.of(pl.Series(found.times, dtype=pl.Float64))
        return None if value is None else Value(value)
    if statistic.kind == "std":
        return None  # ages bound it on neither side
    value = statistic.of(pl.Series((*found.times, *found.ages), dtype=pl.Float64))
    return None if value is None else Value(value, at_least=True)
