"""Runs on disk, one by one and by scenario: what everything that is worked out of results is of."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from pathweave.results import layout
from pathweave.results.stored import read_table, scan_table, sound
from pathweave.results.table_shape import check_keys, check_types, check_values
from pathweave.results.testbed import invalid

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import polars as pl

    from pathweave.results.settings import Settings
    from pathweave.results.sweeps import Sweep

    Frame = TypeVar("Frame", pl.DataFrame, pl.LazyFrame)


@dataclass(frozen=True)
class StoredRun:
    """One run on disk."""

    folder: Path
    manifest: dict[str, Any]
    timing: dict[str, Any]
    """Seconds, megabytes and the machine, as `timing.json` says; empty where there is none."""
    optimum: dict[str, Any] | None = None
    """What the optimum that was solved alongside rests on; None without one."""
    phases: Mapping[str, str] = field(default_factory=dict)
    """Names of phases that the scenario has changed since: the new ones by the old ones."""

    @property
    def label(self) -> str:
        """The variant's label, as in "XMP-4, Permutation"; empty without variants."""
        return self.manifest["variant"]["label"]

    @property
    def axes(self) -> dict[str, str]:
        """The variant's name on each axis."""
        return self.manifest["variant"]["axes"]

    @property
    def seed(self) -> int:
        """Seed of the run."""
        return self.manifest["seed"]

    @property
    def backend(self) -> str:
        """What made the results: "simulate", "testbed" or "solve"."""
        return self.manifest["backend"]

    @property
    def machine(self) -> str:
        """Name of the machine that made it; "an unknown machine" where nothing says it."""
        return str(self.timing.get("machine", "an unknown machine"))

    @property
    def ended_s(self) -> float:
        """When the run ended (s of its own time)."""
        return float(self.manifest["counters"].get("ended_s", 0.0))

    @property
    def testbed(self) -> dict[str, Any] | None:
        """How the run on the testbed went; None of other backends."""
        return self.manifest.get("testbed")

    @property
    def invalid(self) -> str | None:
        """Why the run does not count; None when it does, as all but some of the testbed do."""
        return None if self.testbed is None else invalid(self.testbed)

    @property
    def tables(self) -> tuple[str, ...]:
        """Names of the tables that the run has."""
        alongside = () if self.optimum is None else tuple(self.optimum["tables"])
        return (*self.manifest["tables"], *alongside)

    @property
    def captures(self) -> dict[str, Path]:
        """The pcapng files of captured packets, by the names of their flows."""
        names = self.manifest.get("captures", {})
        return {name: self.folder / layout.capture_file(name) for name in names}

    def path(self, table: str) -> Path:
        """The Parquet file of `table`."""
        return self.folder / layout.table_file(table)

    def read(self, table: str, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """A table of the run: these columns, or all; raises `InputError` when it is damaged."""
        path = self.path(table)
        frame = read_table(path, columns)
        check_types(path, table, frame.schema)
        if columns is None:
            check_keys(path, table, frame.schema)
        check_values(path, table, frame)
        return self._with_new_names(frame) if "phase" in frame.columns else frame

    def scan(self, table: str) -> pl.LazyFrame:
        """A table of the run, not yet read; raises `InputError` when it is damaged."""
        frame = scan_table(self.path(table))
        with sound(self.path(table)):
            columns = frame.collect_schema()
        check_types(self.path(table), table, columns)
        check_keys(self.path(table), table, columns)
        return self._with_new_names(frame) if "phase" in columns else frame

    def _with_new_names(self, frame: Frame) -> Frame:
        """The table with the names that the phases have now."""
        import polars as pl

        return frame.with_columns(pl.col("phase").replace(dict(self.phases)))


@dataclass
class StoredScenario:
    """The runs of one scenario with the same settings, and what its file said about them."""

    folder: Path
    name: str
    title: str
    size: str
    settings: Settings
    path: str | None
    """Path of the scenario file as it was given to `pathweave run`; None when not known."""
    command: str | None
    axes: dict[str, list[str]]
    """Axes and their names, in the file's order: the order of tables and colours."""
    published: tuple[Mapping[str, Any], ...]
    """Published values as the folder has them; `expected.expected_of` reads them."""
    groups: list[str]
    report: dict[str, str] = field(default_factory=dict)
    """What the scenario's `[report]` says."""
    phases: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    """Names and times of the phases as the scenario has them now, by the hash of the variant."""
    runs: list[StoredRun] = field(default_factory=list)
    sweeps: tuple[Sweep, ...] = ()
    """Which axes are sweeps, and what their names stand for."""
    apart: str = ""
    """What tells these settings from others of the scenario that were read with them."""

    @property
    def heading(self) -> str:
        """Title or name, the backend where it is not simulation, and what sets it apart."""
        words = ", ".join(word for word in (self.backend, self.apart) if word)
        return f"{self.title or self.name} ({words})" if words else self.title or self.name

    @property
    def backend(self) -> str:
        """What made the results, in words: "testbed, stretch 10"; empty for the simulation."""
        if not self.runs:
            return ""
        run = self.runs[0]
        if run.testbed is not None:
            stretch = run.testbed["stretch"]
            parts = ["testbed"]
            parts += [f"stretch {stretch:g}"] if stretch != 1 else []
            parts += [] if run.testbed.get("gso", True) else ["no GSO"]
            over_quic = run.testbed.get("quic", [])
            parts += [f"{' and '.join(over_quic)} over QUIC"] if over_quic else []
            return ", ".join(parts)
        if run.backend == "solve":
            utility = run.manifest.get("optimum", {}).get("utility", layout.DEFAULT_UTILITY)
            return "optimum" if utility == layout.DEFAULT_UTILITY else f"optimum, {utility}"
        return ""

    def counted(self) -> StoredScenario:
        """The same without the runs that are invalid, which no mean or chart may be of."""
        return replace(self, runs=[run for run in self.runs if run.invalid is None])

    def numeric_sweep(self) -> Sweep | None:
        """The first sweep over numbers of which runs have two values or more."""
        for sweep in self.sweeps:
            names = {run.axes.get(sweep.axis) for run in self.runs}
            if len(names & set(sweep.values)) > 1:
                return sweep
        return None

    def labels(self) -> list[str]:
        """Labels of the variants that have runs, in order."""
        return list(dict.fromkeys(run.label for run in self.runs))

    def with_optimum_of(self, utility: str) -> StoredScenario:
        """The same, with the optima beside the runs only where they are of this utility."""
        runs = [
            run if run.optimum and run.optimum["utility"] == utility else replace(run, optimum=None)
            for run in self.runs
        ]
        return replace(self, runs=runs)
