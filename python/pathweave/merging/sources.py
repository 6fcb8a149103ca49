"""What stands in the folders that are to be merged: runs, and what was asked for beside them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pathweave.core import core
from pathweave.errors import InputError
from pathweave.results import layout
from pathweave.results.read import Unusable, read_about, read_run, run_folders, said_of
from pathweave.shown import message

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pathweave.results.runs import StoredRun
    from pathweave.results.settings import Settings

Key = tuple[str, str]
"""Name of a scenario, hash of its settings."""


@dataclass
class Gathered:
    """The runs of one scenario with the same settings, from all sources."""

    name: str
    settings: Settings
    runs: dict[str, list[StoredRun]] = field(default_factory=dict)
    """Copies of each run, in the order of the sources, by the run's hash."""
    abouts: list[dict[str, Any]] = field(default_factory=list)
    """What the sources' folders say was asked for."""
    sources: dict[Path, None] = field(default_factory=dict)
    """The sources that have runs of it."""


@dataclass
class Sources:
    """All that was found."""

    gathered: dict[Key, Gathered]
    unusable: list[Unusable]
    empty: list[Path]
    """Sources without a run."""


def read_sources(paths: Sequence[Path]) -> Sources:
    """Read every run at or below `paths`, its files checked against the digests in its manifest.

    Raises `InputError` when a path is not a folder or there is no run at all.
    """
    found = Sources({}, [], [])
    for path in paths:
        if not path.is_dir():
            raise InputError(f"there is no folder {path}")
        folders = list(run_folders(path, found.unusable))
        for folder in folders:
            _read_into(found, path, folder)
        if not folders:
            found.empty.append(path)
    if not found.gathered:
        if found.unusable:
            more = f" (and {len(found.unusable) - 1} more)" if len(found.unusable) > 1 else ""
            raise InputError(f"no run can be used: {found.unusable[0].reason}{more}")
        raise InputError(f"no finished run in {', '.join(map(str, paths))}")
    return found


def _read_into(found: Sources, source: Path, folder: Path) -> None:
    try:
        run = read_run(folder)
        _check_hash(run)
    except (InputError, OSError) as error:
        found.unusable.append(Unusable(folder, message(str(error))))
        return
    about, settings = said_of(folder.parent, run)
    key = (str(run.manifest["scenario"]["name"]), settings.hash)
    gathered = found.gathered.setdefault(key, Gathered(key[0], settings))
    if not gathered.settings.scenario:  # a manifest alone does not say all of them
        gathered.settings = settings
    gathered.runs.setdefault(str(run.manifest["hash"]), []).append(run)
    gathered.sources[source] = None
    if about and about not in gathered.abouts:
        gathered.abouts.append(about)


def _check_hash(run: StoredRun) -> None:
    """Refuse a run whose manifest says one scenario and carries the hash of another."""
    manifest = run.manifest
    version = manifest.get("results_version") or manifest["pathweave"]
    if manifest["backend"] != "simulate" or version != core().results_version():
        return  # how other versions and backends come to their hashes is not known here
    try:
        # Of the text alone: nothing that the scenario names is opened.
        expected = core().hash_of_resolved(json.dumps(manifest["resolved"]), run.seed)
    except core().ScenarioError as error:
        reason = str(error).strip().splitlines()[0]
        raise InputError(f"{run.folder / layout.MANIFEST}: {reason}") from error
    if expected != manifest["hash"]:
        raise InputError(
            f"the hash of {run.folder / layout.MANIFEST} is not that of its scenario and seed: it"
            " was changed, or made by another build of this version"
        )


def about_in(folder: Path, settings: Settings) -> dict[str, Any] | None:
    """What the folder of these settings says was asked for; None where it says nothing of them."""
    try:
        about = read_about(folder)
        same = about["settings"]["hash"] == settings.hash
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return about if same else None
