"""The same scenario on several backends: simulated, played on the testbed, solved."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pathweave.results import layout
from pathweave.results.measures import counted
from pathweave.statistics.interval import half_width

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import polars as pl

    from pathweave.results.runs import StoredRun, StoredScenario

Key = tuple[str, str, int]
"""A phase (empty for the measurement window), what is measured in it, a subflow (-1 for none)."""

SIMULATION = "simulation"
FEW = 12
"""Flows of a run up to which each is compared by name; more are by traffic group."""
_ORDER = {"simulate": 0, "testbed": 1, "solve": 2}


@dataclass(frozen=True)
class Column:
    """One backend's results."""

    name: str
    """"simulation", "testbed, stretch 10", "optimum"."""
    scenario: StoredScenario
    """Its valid runs."""
    whole: StoredScenario
    """All of its runs."""
    alongside: bool = False
    """Whether it is the optimum that stands beside the runs of a simulation."""

    @property
    def played(self) -> bool:
        """Whether it is the testbed's."""
        return any(run.testbed is not None for run in self.scenario.runs)

    def runs(self, label: str) -> list[StoredRun]:
        """The valid runs of one variant."""
        return [run for run in self.scenario.runs if run.label == label]


@dataclass(frozen=True)
class Comparison:
    """One scenario and what its backends gave: simulations first, then testbeds, then optima."""

    columns: tuple[Column, ...]

    @property
    def first(self) -> StoredScenario:
        """The scenario of the first backend."""
        return self.columns[0].scenario

    @property
    def heading(self) -> str:
        """Title or name, without a backend."""
        return self.first.title or self.first.name

    def labels(self) -> list[str]:
        """Variants that at least two backends have valid runs of."""
        labels = dict.fromkeys(run.label for column in self.columns for run in column.scenario.runs)
        return [
            label
            for label in labels
            if sum(bool(column.runs(label)) for column in self.columns) > 1
        ]

    def axes(self) -> dict[str, list[str]]:
        """The scenario's axes, and one more for the backends that have runs of their own."""
        names = [column.name for column in self.columns if not column.alongside]
        return {**self.first.axes, "backend": names}

    def merged(self) -> StoredScenario:
        """All runs as one scenario with the backend as the last axis, for charts."""
        runs = [
            _with_backend(run, column.name)
            for column in self.columns
            if not column.alongside
            for run in column.scenario.runs
        ]
        return replace(self.first, axes=self.axes(), runs=runs, published=())


@dataclass(frozen=True)
class Value:
    """A mean over the seeds of one backend, and half its 95 % interval."""

    mean: float
    half: float | None = None


def comparisons(scenarios: Iterable[StoredScenario]) -> list[Comparison]:
    """Scenarios that stand there from several backends, of which one is a simulation or testbed.

    Those of one name with the same settings belong together.
    """
    together: dict[tuple[str, str], list[StoredScenario]] = {}
    for scenario in scenarios:
        together.setdefault((scenario.name, scenario.settings.scenario_hash), []).append(scenario)
    found: list[Comparison] = []
    for group in together.values():
        columns = [column for scenario in group for column in _columns(scenario)]
        names = {column.name for column in columns}
        own = [column for column in columns if not column.alongside]
        if len(own) < 2 or len(names) < 2:  # shares of the optimum alongside have their own tables
            continue
        columns.sort(key=lambda column: (_place(column), column.name))
        found.append(Comparison(tuple(_one_optimum(columns))))
    return [comparison for comparison in found if comparison.labels()]


def flows(run: StoredRun, *, few: bool) -> pl.DataFrame:
    """Goodput in bit/s of flows and, of those that have several, of subflows.

    Columns: phase, item, subflow (as in `Key`), value. Without `few` items are traffic groups, and
    values are means over their flows.
    """
    import polars as pl

    known = run.read("flows")
    parts = [_part(counted(known, "flows").select(flow="id", value="goodput_bps"))]
    if "phases" in run.tables:
        phases = run.read("phases")
        parts.append(_part(phases.rename({"goodput_bps": "value"})))
    if few:
        for table in ("subflows", "phase_subflows"):
            if table in run.tables:
                part = run.read(table).rename({"goodput_bps": "value"})
                parts.append(_part(_several(part)))
    return _named(pl.concat(parts), known, few=few)


def optimum(run: StoredRun, *, few: bool) -> pl.DataFrame:
    """The same of the optimum that was solved beside a run."""
    import polars as pl

    known = run.read("flows")
    parts = [_part(run.read("optimum").rename({"optimum_bps": "value"}))]
    if few:
        part = run.read("optimum_subflows").rename({"optimum_bps": "value"})
        parts.append(_part(_several(part)))
    return _named(pl.concat(parts), known, few=few)


def queues(run: StoredRun) -> pl.DataFrame:
    """Mean queues of links in packets; the same columns."""
    import polars as pl

    links = run.read("links")
    parts = [links.select(phase=pl.lit(""), item="link", value="queue_mean")]
    if "phase_links" in run.tables:
        phases = run.read("phase_links")
        parts.append(phases.select("phase", item="link", value="queue_mean"))
    queues = pl.concat(parts).drop_nulls("value")
    return queues.select("phase", "item", pl.lit(-1).alias("subflow"), "value")


def means(tables: Sequence[pl.DataFrame]) -> dict[Key, Value]:
    """Means over the tables of a variant's runs."""
    import polars as pl

    keys = ("phase", "item", "subflow")
    together = pl.concat(tables).group_by(keys, maintain_order=True).agg("value")
    return {
        (phase, item, subflow): Value(sum(values) / len(values), half_width(values))
        for phase, item, subflow, values in together.select(*keys, "value").iter_rows()
    }


def is_few(comparison: Comparison) -> bool:
    """Whether the flows of the runs are few enough to be compared one by one."""
    first = comparison.columns[0].scenario.runs[0]
    return first.read("flows", ["id"]).height <= FEW


def _columns(scenario: StoredScenario) -> list[Column]:
    valid = scenario.counted()
    if not valid.runs:
        return []
    columns = [Column(scenario.backend or SIMULATION, valid, scenario)]
    beside = [run for run in valid.runs if run.optimum is not None]
    for utility in dict.fromkeys((run.optimum or {})["utility"] for run in beside):
        of_it = [run for run in beside if (run.optimum or {})["utility"] == utility]
        name = "optimum" if utility == layout.DEFAULT_UTILITY else f"optimum, {utility}"
        columns.append(Column(name, replace(valid, runs=of_it), scenario, alongside=True))
    return columns


def _place(column: Column) -> tuple[int, bool]:
    if column.alongside:
        return _ORDER["solve"], True
    return _ORDER.get(column.scenario.runs[0].backend, len(_ORDER)), False


def _one_optimum(columns: Sequence[Column]) -> list[Column]:
    """An optimum that was solved alone makes the one beside the simulation needless."""
    own = {column.name for column in columns if not column.alongside}
    return [column for column in columns if not (column.alongside and column.name in own)]


def _with_backend(run: StoredRun, name: str) -> StoredRun:
    variant = run.manifest["variant"]
    axes = {**variant["axes"], "backend": name}
    label = ", ".join(text for text in (variant["label"], name) if text)
    return replace(
        run, manifest={**run.manifest, "variant": {**variant, "axes": axes, "label": label}}
    )


def _part(table: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    if "phase" not in table.columns:
        table = table.with_columns(phase=pl.lit(""))
    if "subflow" not in table.columns:
        table = table.with_columns(subflow=pl.lit(-1))
    return table.select("phase", "flow", pl.col("subflow").cast(pl.Int64), "value")


def _several(table: pl.DataFrame) -> pl.DataFrame:
    """Only subflows of flows that have several."""
    import polars as pl

    return table.filter(pl.col("subflow").max().over("flow") > 0)


def _named(table: pl.DataFrame, known: pl.DataFrame, *, few: bool) -> pl.DataFrame:
    import polars as pl

    item = "name" if few else "group"
    named = (
        table.drop_nulls("value")
        .join(
            counted(known, "flows").select(flow="id", item=item),
            on="flow",
            how="inner",
            maintain_order="left",
        )
        .group_by("phase", "item", "subflow", maintain_order=True)
        .agg(pl.col("value").mean())
    )
    return named.select("phase", "item", "subflow", "value")
