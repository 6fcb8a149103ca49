"""Results of many runs as polars frames."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pathweave.errors import InputError
from pathweave.results import layout
from pathweave.results.axis_columns import axis_columns
from pathweave.results.read import search
from pathweave.results.schema import TABLES
from pathweave.results.settings_compared import what_differs_in

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    import polars as pl

    from pathweave.results.runs import StoredRun, StoredScenario
    from pathweave.results.sweeps import Sweep


class Results:
    """Runs, and their tables across variants and seeds.

    Every table has the columns `scenario`, `settings` (the name of their folder), `backend`,
    `variant`, one per axis, and `seed` before its own. No mean should be over rows of different
    settings: `where(settings=...)` picks some. An axis whose name is also a column of the table
    goes by `axis_<name>` there. Runs on the testbed that are invalid stand in `runs` and `stored`;
    tables have their rows only with `invalid`.
    """

    def __init__(self, scenarios: Iterable[StoredScenario], *, invalid: bool = False) -> None:
        self.scenarios: tuple[StoredScenario, ...] = tuple(scenarios)
        self._invalid = invalid
        self._tables: dict[str, pl.DataFrame] = {}

    @property
    def stored(self) -> list[StoredRun]:
        """The runs, scenario by scenario, in the order of the scenario file."""
        return [run for scenario in self.scenarios for run in scenario.runs]

    @property
    def tables(self) -> list[str]:
        """Names of the tables that at least one run has."""
        return list(dict.fromkeys(name for _, run in self._counted() for name in run.tables))

    def _counted(self) -> list[tuple[StoredScenario, StoredRun]]:
        return [
            (scenario, run)
            for scenario in self.scenarios
            for run in scenario.runs
            if self._invalid or run.invalid is None
        ]

    def scan(self, name: str) -> pl.LazyFrame:
        """Table `name` across all runs, not yet read; raises `KeyError` when no run has it."""
        import polars as pl

        parts = self.parts(name)
        if not parts:
            known = ", ".join(self.tables)
            raise KeyError(f"no run has a table {name!r}; there are {known}")
        return pl.concat(parts, how="diagonal_relaxed")

    def parts(self, name: str) -> list[pl.LazyFrame]:
        """Table `name` run by run, not yet read; runs without it are left out."""
        import polars as pl

        parts: list[pl.LazyFrame] = []
        for scenario, run in self._counted():
            if name not in run.tables:
                continue
            part = run.scan(name)
            own = part.collect_schema().names()
            parts.append(part.select(*_tags(scenario, run, own), pl.all()))
        return parts

    def table(self, name: str) -> pl.DataFrame:
        """Table `name` across all runs; empty when no run has it.

        Raises `InputError` for a name that no table has.
        """
        import polars as pl

        if name not in (*self.tables, *TABLES, *layout.OPTIMUM_TABLES):
            raise InputError(f'there is no table "{name}"; {_near(name, [*TABLES])}')
        if name not in self._tables:
            self._tables[name] = self._read(name) if name in self.tables else pl.DataFrame()
        return self._tables[name]

    def _read(self, name: str) -> pl.DataFrame:
        """Table `name` across all runs; raises `InputError` with the file that is damaged."""
        import polars as pl

        try:
            return self.scan(name).collect()
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
            for _, run in self._counted():
                if name in run.tables:
                    run.read(name)
            raise

    @property
    def runs(self) -> pl.DataFrame:
        """One row per run: variant, seed, verdict, counters, time (s) and memory (MB), folder.

        `invalid` says why a run on the testbed does not count.
        """
        import polars as pl

        rows: list[dict[str, Any]] = []
        for scenario in self.scenarios:
            for run in scenario.runs:
                about = {
                    "scenario": scenario.name,
                    "settings": scenario.folder.name,
                    "size": scenario.size,
                    "backend": scenario.backend or "simulation",
                    "variant": run.label,
                }
                found = {
                    "seed": run.seed,
                    "verdict": run.manifest["verdict"],
                    "invalid": run.invalid,
                    **run.manifest["counters"],
                    **run.timing,
                    "results_hash": run.manifest["results_hash"],
                    "folder": str(run.folder),
                }
                rows.append(about | axis_columns(run.axes, {*about, *found}) | found)
        return pl.DataFrame(rows, infer_schema_length=None)

    @property
    def flows(self) -> pl.DataFrame:
        """One row per flow: sizes in bytes, times in seconds, goodput in bit/s."""
        return self.table("flows")

    @property
    def subflows(self) -> pl.DataFrame:
        """One row per subflow."""
        return self.table("subflows")

    @property
    def links(self) -> pl.DataFrame:
        """One row per link and direction: capacity in bit/s, queues in packets."""
        return self.table("links")

    @property
    def jobs(self) -> pl.DataFrame:
        """One row per job; completion times in seconds."""
        return self.table("jobs")

    @property
    def phases(self) -> pl.DataFrame:
        """Goodput in bit/s of each flow in each named phase."""
        return self.table("phases")

    @property
    def rates(self) -> pl.DataFrame:
        """Samples of rates in bit/s, per subflow."""
        return self.table("rates")

    @property
    def windows(self) -> pl.DataFrame:
        """Samples of windows and ssthresh in packets and RTT in seconds, per subflow."""
        return self.table("windows")

    @property
    def queues(self) -> pl.DataFrame:
        """Samples of waiting packets, per link."""
        return self.table("queues")

    @property
    def rtts(self) -> pl.DataFrame:
        """Round-trip times in seconds, latest sample and smoothed, per subflow."""
        return self.table("rtts")

    @property
    def sweeps(self) -> dict[str, Sweep]:
        """The axes that are sweeps, by name, with the numbers that their names stand for.

        `frame.with_columns(pl.col("k").replace_strict(results.sweeps["k"].values))` makes numbers
        of a column of names, in base units. Of scenarios with the same axis it is the first's.
        """
        found: dict[str, Sweep] = {}
        for scenario in self.scenarios:
            for sweep in scenario.sweeps:
                found.setdefault(sweep.axis, sweep)
        return found

    def where(self, **axes: str | float) -> Results:
        """The runs that have these names on these axes, as in `results.where(scheme="XMP-4")`.

        On a sweep a value does as well, in base units: `results.where(load=0.5)`. `scenario`,
        `settings` and `backend` are asked for in the same way.
        """
        from dataclasses import replace

        kept: list[StoredScenario] = []
        for scenario in self.scenarios:
            of_all = _tags_of(scenario)
            runs = [
                run
                for run in scenario.runs
                if all(
                    _is_called(scenario, axis, (of_all | run.axes).get(axis), name)
                    for axis, name in axes.items()
                )
            ]
            if runs:
                kept.append(replace(scenario, runs=runs))
        if not kept:
            asked = ", ".join(f"{axis}={name}" for axis, name in axes.items())
            there = {axis for scenario in self.scenarios for axis in scenario.axes}
            raise InputError(f"no run with {asked}; the axes are {', '.join(sorted(there))}")
        return Results(kept, invalid=self._invalid)

    def summary(self) -> pl.DataFrame:
        """The summary table of a report: one row per scenario, traffic group and variant."""
        import polars as pl

        from pathweave.results.summary import summarise

        return pl.concat(
            [summarise(scenario) for scenario in self.scenarios], how="diagonal_relaxed"
        )

    def rankings(self, baseline: str | None = None) -> pl.DataFrame:
        """The variants in order of merit, one row per scenario, workload and variant.

        With the paired difference to the baseline, its interval and the verdict; the columns are
        those of `pathweave.results.ranked.ranked`. Raises `InputError` for an unknown baseline.
        """
        from pathweave.results.ranked import ranked

        return ranked(self.scenarios, baseline)

    def values(self, quantity: str) -> pl.DataFrame:
        """The value of one quantity, such as "p99 slowdown of bg under 100 KB": one row per run.

        Columns: scenario, settings, backend, variant, one per axis, seed; quantity, over (whose
        values they are), unit, value (in that base unit; null where a run has none) and at_least
        (whether it is only a lower bound). Raises `InputError` for a quantity that is not there.
        """
        import polars as pl

        from pathweave.results.measures import parse_measure

        groups = list(dict.fromkeys(name for each in self.scenarios for name in each.groups))
        measure = parse_measure(quantity, groups, "quantity")
        own = ("quantity", "over", "unit", "value", "at_least")
        rows: list[dict[str, Any]] = []
        for scenario, run in self._counted():
            found = measure.of(run)
            about = {**_tags_of(scenario), "variant": run.label}
            values = {
                "quantity": measure.written,
                "over": measure.over,
                "unit": measure.unit,
                "value": None if found is None else found.value,
                "at_least": found is not None and found.at_least,
            }
            axes = axis_columns(run.axes, {*about, *own, "seed"})
            rows.append({**about, **axes, "seed": run.seed, **values})
        return pl.DataFrame(rows, infer_schema_length=None)

    def report(
        self,
        out: str | os.PathLike[str] | None = None,
        *,
        baseline: str | None = None,
        pictures: bool = True,
    ) -> Path:
        """Write the report of these runs' folders, as `pathweave report` does; the page's path."""
        from pathweave.report.build import build_report

        folders = list(dict.fromkeys(scenario.folder for scenario in self.scenarios))
        place = None if out is None else Path(out)
        return build_report(folders, place, baseline=baseline, pictures=pictures)

    def _repr_html_(self) -> str:
        """What a notebook shows of them: the answer of each scenario."""
        from pathweave.report.fragment import fragment

        return fragment(self.scenarios)

    def published(self) -> pl.DataFrame:
        """Published values beside ours, one row per value; empty when the scenario has none."""
        import polars as pl

        from pathweave.results.published import compare

        parts = [compare(scenario) for scenario in self.scenarios if scenario.published]
        return pl.concat(parts, how="diagonal_relaxed") if parts else pl.DataFrame()

    def __len__(self) -> int:
        return len(self.stored)

    def __repr__(self) -> str:
        names = ", ".join(
            f"{scenario.name}: {len(scenario.runs)} runs" for scenario in self.scenarios
        )
        return f"<pathweave.Results {names}; tables {', '.join(self.tables)}>"


def load(*folders: str | os.PathLike[str], invalid: bool = False) -> Results:
    """Read the results at or below `folders` (of runs, settings, scenarios or all results).

    With `invalid` tables also have the rows of runs on the testbed that do not count. Warns of runs
    that cannot be used, and where runs of one scenario have different settings. Raises `InputError`
    when there are no results.
    """
    found = search([Path(folder) for folder in folders or ("results",)])
    for unusable in found.unusable:
        warnings.warn(f"left out: {unusable.reason}", stacklevel=2)
    for name, lines in what_differs_in(found.scenarios):
        said = "; ".join(lines)
        warnings.warn(
            f"the runs of {name} have different settings, which where(settings=...) takes apart:"
            f" {said}",
            stacklevel=2,
        )
    return Results(found.scenarios, invalid=invalid)


def _near(name: str, known: list[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, known, n=1)
    return f'did you mean "{near[0]}"?' if near else f"there are {', '.join(known)}"


def _is_called(scenario: StoredScenario, axis: str, name: str | None, asked: str | float) -> bool:
    """Whether a name on an axis is the one that is asked for, by itself or by its value."""
    if isinstance(asked, str):
        return name == asked
    found = (sweep.values.get(name or "") for sweep in scenario.sweeps if sweep.axis == axis)
    return asked in found


def _tags_of(scenario: StoredScenario) -> dict[str, str]:
    return {
        "scenario": scenario.name,
        "settings": scenario.folder.name,
        "backend": scenario.backend or "simulation",
    }


def _tags(scenario: StoredScenario, run: StoredRun, own: list[str]) -> list[pl.Expr]:
    import polars as pl

    tags = [pl.lit(text).alias(name) for name, text in _tags_of(scenario).items()]
    tags.append(pl.lit(run.label).alias("variant"))
    taken = {*own, "scenario", "settings", "backend", "variant", "seed"}
    for column, name in axis_columns(run.axes, taken).items():
        tags.append(pl.lit(name).alias(column))
    tags.append(pl.lit(run.seed, dtype=pl.Int64).alias("seed"))
    return [tag for tag in tags if tag.meta.output_name() not in own]
