"""Finding runs on disk and reading what they are of."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pathweave.errors import InputError
from pathweave.results import layout
from pathweave.results.differences import differences
from pathweave.results.expected import Expected
from pathweave.results.jsonfile import read_json
from pathweave.results.runs import StoredRun, StoredScenario
from pathweave.results.settings import Settings
from pathweave.results.settings_compared import same_scenario
from pathweave.results.shape import check_about, check_manifest, check_optimum, check_timing
from pathweave.results.stored import digest
from pathweave.results.sweeps import Sweep, label_of
from pathweave.results.write import damage
from pathweave.shown import message

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

_NAMED = 3
"""Differences of a variant's settings that stand in its name, at most."""


@dataclass(frozen=True)
class Unusable:
    """A run's folder that cannot be used, or a folder of runs that cannot for one reason."""

    folder: Path
    reason: str


@dataclass(frozen=True)
class Found:
    """What a search came upon."""

    scenarios: list[StoredScenario]
    unusable: list[Unusable]
    """Runs that are damaged or of another version; the others do not depend on them."""


def find_runs(paths: Iterable[Path]) -> list[StoredScenario]:
    """All runs at or below `paths` that can be read: `search` without what it could not use."""
    return search(paths).scenarios


def _must_be_folder(path: Path) -> None:
    if path.is_file():
        raise InputError(f"{path} is a file, not a folder with results")
    if not path.is_dir():
        raise InputError(f"there is no folder {path}")


def search(paths: Iterable[Path]) -> Found:
    """All runs at or below `paths`, by scenario and settings, in the scenario file's order.

    Raises `InputError` when a path does not exist or no run can be used.
    """
    folders: dict[Path, None] = {}
    given = list(paths)
    unusable: list[Unusable] = []
    for path in given:
        _must_be_folder(path)
        folders.update(dict.fromkeys(run_folders(path, unusable)))
    scenarios: dict[tuple[Path, str], StoredScenario] = {}
    originals: dict[tuple[str, str, str], Path] = {}
    copies: dict[tuple[Path, Path], list[Path]] = {}
    for folder in folders:
        try:
            run = read_run(folder)
        except InputError as error:
            unusable.append(Unusable(folder, message(str(error))))
            continue
        except OSError as error:
            reason = f"{error.filename or folder} cannot be read: {error.strerror or error}"
            unusable.append(Unusable(folder, reason))
            continue
        settings, results = str(run.manifest["settings"]), str(run.manifest["results_hash"])
        original = originals.setdefault((settings, str(run.manifest["hash"]), results), folder)
        if original != folder:
            copies.setdefault((folder.parent, original.parent), []).append(folder)
            continue
        key = (folder.parent, settings)
        if key not in scenarios:
            scenarios[key] = _read_scenario(folder.parent, run)
        scenarios[key].runs.append(run)
    unusable += [_copies(runs, of) for (_, of), runs in copies.items()]
    if not scenarios:
        if unusable:
            raise InputError(_none_usable(unusable))
        where = ", ".join(str(path) for path in given)
        raise InputError(f"no finished run in {where}; `pathweave run` makes them")
    for scenario in scenarios.values():
        _rename_phases(scenario)
        _tell_variants_apart(scenario)
        _complete_axes(scenario)
        for run in scenario.runs:
            _order_axes(scenario, run)
        scenario.runs.sort(key=lambda run: _position(scenario, run))
    found = sorted(scenarios.values(), key=lambda scenario: str(scenario.folder))
    _tell_settings_apart(found)
    return Found(found, unusable)


def _copies(runs: Sequence[Path], of: Path) -> Unusable:
    """Runs of one folder that repeat those of another: counted twice they would feign precision."""
    if len(runs) == 1:
        return Unusable(runs[0], f"{runs[0]} is a copy of a run in {of}")
    return Unusable(
        runs[0].parent, f"{len(runs)} runs in {runs[0].parent} are copies of runs in {of}"
    )


def _none_usable(unusable: Sequence[Unusable]) -> str:
    more = f" (and {len(unusable) - 1} more)" if len(unusable) > 1 else ""
    return f"no run can be used: {unusable[0].reason}{more}"


def run_folders(path: Path, unusable: list[Unusable]) -> Iterator[Path]:
    """The folders of runs at or below `path`; `unusable` gets those that are not looked into.

    Links are followed within `path` alone: who has made the folder may have led them anywhere.
    """
    top = path.resolve()
    seen: set[Path] = set()  # a link may lead back
    waiting = [top]
    while waiting:
        folder = waiting.pop()
        if folder in seen:
            continue
        seen.add(folder)
        try:
            if (folder / layout.MANIFEST).exists():
                yield folder
                continue
            named = sorted(below for below in folder.iterdir() if not below.name.startswith("."))
        except OSError as error:
            unusable.append(Unusable(folder, f"{folder} cannot be read: {error.strerror}"))
            continue
        for below in reversed(named):
            if not _is_folder(below):
                continue
            target = below.resolve()
            if target.is_relative_to(top):
                waiting.append(target)
            else:
                reason = f"{below} is a link out of {path}: give {target} itself to read it"
                unusable.append(Unusable(below, reason))


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # a link into what cannot be read
        return False


def _refuse_links(folder: Path) -> None:
    """Raise `InputError` where a file of a run is a link: Pathweave makes none, others may."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_symlink() and entry.name.endswith((".json", ".parquet", ".pcapng")):
                raise InputError(f"{entry.path} is a link, and no file of a run is one: remove it")


def read_run(folder: Path) -> StoredRun:
    """The run in `folder`; raises `InputError` with why it cannot be used."""
    _refuse_links(folder)
    manifest = read_json(folder / layout.MANIFEST)
    found = manifest.get("format")
    if found != layout.FORMAT:
        raise InputError(
            f"{folder} was written by another version of Pathweave (layout {found}, not"
            f" {layout.FORMAT}): run the scenario again, then delete the folder"
        )
    check_manifest(folder / layout.MANIFEST, manifest)
    reason = damage(folder, manifest)
    if reason is not None:
        raise InputError(f"{reason}; `pathweave run` runs it again")
    try:
        timing = read_timing(folder)
    except (FileNotFoundError, InputError):
        timing = {}
    return StoredRun(folder, manifest, timing, read_optimum(folder, manifest))


def read_timing(folder: Path) -> dict[str, Any]:
    """What stands in `timing.json`; raises `InputError` where it is not as it is written."""
    path = folder / layout.TIMING
    timing = read_json(path)
    check_timing(path, timing)
    return timing


def read_optimum(folder: Path, manifest: dict[str, Any]) -> dict[str, Any] | None:
    """What stands in `optimum.json`, if it is of the run that the manifest is of."""
    try:
        optimum = read_json(folder / layout.OPTIMUM)
        check_optimum(folder / layout.OPTIMUM, optimum)
        whole = all(
            digest(folder / layout.table_file(name)) == optimum["tables"][name]["sha256"]
            for name in optimum["tables"]
        )
    # Damaged: as good as none, and solved again when asked for.
    except (OSError, InputError, KeyError, TypeError):
        return None
    return optimum if whole and optimum.get("results_hash") == manifest["results_hash"] else None


def _read_scenario(folder: Path, run: StoredRun) -> StoredScenario:
    said = run.manifest["scenario"]
    about, settings = said_of(folder, run)
    return StoredScenario(
        folder=folder,
        name=said["name"],
        title=about.get("title", said["title"]),
        size=said["size"],
        settings=settings,
        path=about.get("path"),
        command=about.get("command"),
        axes={axis: list(names) for axis, names in about.get("axes", [])},
        published=tuple(about.get("expected", [])),
        groups=list(about.get("groups", [])),
        report=about.get("report", {}),
        phases=about.get("phases", {}),
        sweeps=tuple(Sweep.from_json(each) for each in about.get("sweeps", [])),
    )


def said_of(folder: Path, run: StoredRun) -> tuple[dict[str, Any], Settings]:
    """What the folder says of its scenario, and its settings; what the run says where it cannot."""
    try:
        about = read_about(folder)
        settings = Settings.from_json(about["settings"])
        if settings.hash == run.manifest["settings"]:  # nobody has moved runs
            return about, settings
    except (OSError, InputError):
        pass
    return {}, _unknown(run)


def read_about(folder: Path) -> dict[str, Any]:
    """What stands in `scenario.json`; raises `InputError` where it is not as it is written."""
    path = folder / layout.SCENARIO
    if path.is_symlink():
        raise InputError(f"{path} is a link, and no file of results is one: remove it")
    about = read_json(path)
    check_about(path, about)
    for key, read in (("expected", Expected.from_json), ("sweeps", Sweep.from_json)):
        for place, each in enumerate(about.get(key, [])):
            try:
                read(each)
            except (TypeError, ValueError, KeyError, AttributeError) as error:
                raise InputError(f"{path}: {key}[{place}] is not as it is written") from error
    return about


def _unknown(run: StoredRun) -> Settings:
    """What a manifest alone says of the settings."""
    said = run.manifest["scenario"]
    shared = run.manifest["settings"]
    version = run.manifest.get("results_version") or run.manifest["pathweave"]
    backend = () if run.backend == "simulate" else (run.backend,)
    return Settings(shared, shared, {}, said["size"], tuple(said["set"]), version, backend)


def _rename_phases(scenario: StoredScenario) -> None:
    """Phases go by the names that the scenario has for them now."""
    names = scenario.phases
    for place, run in enumerate(scenario.runs):
        old = run.manifest["resolved"].get("measure", {}).get("phases", {})
        new = names.get(run.manifest["variant"]["hash"], {})
        by_time = {tuple(times): name for name, times in new.items()}
        if len(by_time) != len(new) or len(new) != len(old):  # two phases at one time
            continue
        renamed = {
            name: by_time[tuple(times)]
            for name, times in old.items()
            if by_time.get(tuple(times), name) != name
        }
        if renamed:
            scenario.runs[place] = replace(run, phases=renamed)


def _tell_variants_apart(scenario: StoredScenario) -> None:
    """Variants of one name and different settings get names that say what differs."""
    hashes: dict[str, dict[str, StoredRun]] = {}
    for run in scenario.runs:
        hashes.setdefault(run.label, {}).setdefault(run.manifest["variant"]["hash"], run)
    for runs in hashes.values():
        if len(runs) == 1:
            continue
        found = differences([_without_names(run) for run in runs.values()])
        texts: list[str] = []
        for place in range(len(runs)):
            words = [f"{name}={values[place]}" for name, values in found[:_NAMED]]
            words += [f"{len(found) - _NAMED} more"] if len(found) > _NAMED else []
            texts.append(", ".join(words))
        for variant_hash, text in zip(runs, texts, strict=True):
            # A file's distribution, or a difference that is not named, may be all that differs.
            short = variant_hash[: layout.SHORT_HASH]
            unique = text and texts.count(text) == 1
            _extend_name(scenario, variant_hash, text if unique else f"{text} {short}".strip())


def _without_names(run: StoredRun) -> dict[str, Any]:
    """The resolved scenario of a run without what no result depends on."""
    resolved = dict(run.manifest["resolved"])
    for name in ("title", "report"):
        resolved.pop(name, None)
    measure = dict(resolved.get("measure", {}))
    measure["phases"] = sorted(measure.get("phases", {}).values())
    return resolved | {"measure": measure}


def _extend_name(scenario: StoredScenario, variant_hash: str, words: str) -> None:
    for run in scenario.runs:
        variant = run.manifest["variant"]
        if variant["hash"] != variant_hash:
            continue
        label, axes = variant["label"], dict(variant["axes"])
        first = next((axis for axis in scenario.axes if axis in axes), next(iter(axes), None))
        if first is None:
            variant["label"] = f"{label} [{words}]".strip()
            continue
        old = axes[first]
        axes[first] = f"{old} [{words}]"
        variant["axes"] = axes
        order = [*scenario.axes, *(axis for axis in axes if axis not in scenario.axes)]
        ordered = {axis: axes[axis] for axis in order if axis in axes}
        variant["label"] = label_of(ordered, scenario.sweeps)
        names = scenario.axes.setdefault(first, [])
        if axes[first] not in names:
            names.insert(names.index(old) + 1 if old in names else len(names), axes[first])


def _tell_settings_apart(scenarios: Sequence[StoredScenario]) -> None:
    """Scenarios of one name say what tells their settings apart."""
    for group in same_scenario(scenarios):
        names = [scenario.folder.name for scenario in group]
        for scenario in group if len(group) > 1 else ():
            alone = names.count(scenario.folder.name) == 1
            scenario.apart = scenario.folder.name if alone else str(scenario.folder)


def _complete_axes(scenario: StoredScenario) -> None:
    """Names that only runs know (the file has changed since) come last."""
    for run in sorted(scenario.runs, key=lambda run: run.folder.name):
        for axis, name in run.axes.items():
            names = scenario.axes.setdefault(axis, [])
            if name not in names:
                names.append(name)
    for sweep in scenario.sweeps:
        names = scenario.axes.get(sweep.axis, [])
        place = list(sweep.values)
        if all(name in sweep.values for name in names):
            names.sort(key=place.index)


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
