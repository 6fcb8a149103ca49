"""Finding runs on disk and reading what they are of."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pathweave.errors import InputError
from pathweave.results import layout
from pathweave.results.expected import Expected
from pathweave.results.jsonfile import read_json
from pathweave.results.testbed import invalid

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path


@dataclass(frozen=True)
class StoredRun:
    """One run on disk."""

    folder: Path
    manifest: dict[str, Any]
    timing: dict[str, float]
    optimum: dict[str, Any] | None = None
    """What the optimum that was solved alongside rests on; None without one."""

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
        alongside = layout.OPTIMUM_TABLES if self.optimum is not None else ()
        return (*self.manifest["tables"], *alongside)

    @property
    def captures(self) -> dict[str, Path]:
        """The pcapng files of captured packets, by the names of their flows."""
        names = self.manifest.get("captures", {})
        return {name: self.folder / layout.capture_file(name) for name in names}

    def path(self, table: str) -> Path:
        """The Parquet file of `table`."""
        return self.folder / f"{table}.parquet"


@dataclass
class StoredScenario:
    """The runs of one scenario at one size, and what its file said about them."""

    folder: Path
    name: str
    title: str
    size: str
    path: str | None
    """Path of the scenario file as it was given to `pathweave run`; None when not known."""
    command: str | None
    axes: dict[str, list[str]]
    """Axes and their names, in the file's order: the order of tables and colours."""
    expected: tuple[Expected, ...]
    groups: list[str]
    runs: list[StoredRun] = field(default_factory=list)

    @property
    def heading(self) -> str:
        """Title, or the name when there is none, and the backend where it is not simulation."""
        backend = self.backend
        return f"{self.title or self.name} ({backend})" if backend else self.title or self.name

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
            return ", ".join(parts)
        if run.backend == "solve":
            utility = run.manifest.get("optimum", {}).get("utility", layout.DEFAULT_UTILITY)
            return "optimum" if utility == layout.DEFAULT_UTILITY else f"optimum, {utility}"
        return ""

    def counted(self) -> StoredScenario:
        """The same without the runs that are invalid, which no mean or chart may be of."""
        return replace(self, runs=[run for run in self.runs if run.invalid is None])

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


def find_runs(paths: Iterable[Path]) -> list[StoredScenario]:
    """All runs at or below `paths`, grouped by scenario, in the scenario file's order.

    Raises `InputError` when a path does not exist or no run is found.
    """
    folders: dict[Path, None] = {}
    given = list(paths)
    for path in given:
        if not path.is_dir():
            raise InputError(f"there is no folder {path}")
        folders.update(dict.fromkeys(_run_folders(path)))
    scenarios: dict[Path, StoredScenario] = {}
    for folder in folders:
        run = _read_run(folder)
        parent = folder.parent
        if parent not in scenarios:
            scenarios[parent] = _read_scenario(parent, run)
        scenarios[parent].runs.append(run)
    if not scenarios:
        where = ", ".join(str(path) for path in given)
        raise InputError(f"no finished run in {where}; `pathweave run` makes them")
    for scenario in scenarios.values():
        _complete_axes(scenario)
        for run in scenario.runs:
            _order_axes(scenario, run)
        scenario.runs.sort(key=lambda run: _position(scenario, run))
    return list(scenarios.values())


def _run_folders(path: Path) -> Iterator[Path]:
    if (path / layout.MANIFEST).is_file():
        yield path.resolve()
        return
    for below in sorted(path.iterdir()):
        if below.is_dir() and not below.name.startswith("."):
            yield from _run_folders(below)


def _read_run(folder: Path) -> StoredRun:
    manifest = read_json(folder / layout.MANIFEST)
    if manifest.get("format") != layout.FORMAT:
        raise InputError(f"{folder} was written by another version of Pathweave; run it again")
    try:
        timing = read_json(folder / layout.TIMING)
    except FileNotFoundError:
        timing = {}
    run = StoredRun(folder, manifest, timing, read_optimum(folder, manifest))
    for table in run.tables:
        _check_whole(run.path(table))
    return run


def read_optimum(folder: Path, manifest: dict[str, Any]) -> dict[str, Any] | None:
    """What stands in `optimum.json`, if it is of the run that the manifest is of."""
    try:
        optimum = read_json(folder / layout.OPTIMUM)
    except (OSError, InputError):  # damaged: as good as none, and solved again when asked for
        return None
    if not all(layout.is_whole(folder / f"{name}.parquet") for name in layout.OPTIMUM_TABLES):
        return None
    return optimum if optimum.get("results_hash") == manifest["results_hash"] else None


def _check_whole(path: Path) -> None:
    if not layout.is_whole(path):
        raise InputError(f"{path} is missing or damaged; `pathweave run --fresh` runs it again")


def _read_scenario(folder: Path, run: StoredRun) -> StoredScenario:
    try:
        about = read_json(folder / layout.SCENARIO)
    except FileNotFoundError:
        about = {}
    said = run.manifest["scenario"]
    return StoredScenario(
        folder=folder,
        name=said["name"],
        title=said["title"],
        size=said["size"],
        path=about.get("path"),
        command=about.get("command"),
        axes={axis: list(names) for axis, names in about.get("axes", [])},
        expected=tuple(Expected.from_json(entry) for entry in about.get("expected", [])),
        groups=list(about.get("groups", [])),
    )


def _complete_axes(scenario: StoredScenario) -> None:
    """Names that only runs know (the file has changed since) come last."""
    for run in sorted(scenario.runs, key=lambda run: run.folder.name):
        for axis, name in run.axes.items():
            names = scenario.axes.setdefault(axis, [])
            if name not in names:
                names.append(name)


def _order_axes(scenario: StoredScenario, run: StoredRun) -> None:
    """A manifest's keys are sorted; put the axes back into the order of the scenario file."""
    axes = run.axes
    run.manifest["variant"]["axes"] = {axis: axes[axis] for axis in scenario.axes if axis in axes}


def _position(scenario: StoredScenario, run: StoredRun) -> tuple[tuple[int, ...], int]:
    places = tuple(
        names.index(run.axes[axis]) if axis in run.axes else -1
        for axis, names in scenario.axes.items()
    )
    return places, run.seed
