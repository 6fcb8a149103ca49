"""Which runs a scenario asks for, where each goes, and which are already there."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pathweave.errors import InputError, PathweaveError
from pathweave.results import layout
from pathweave.results.jsonfile import read_json
from pathweave.results.settings import Settings, folder_for
from pathweave.results.write import Identity, clear_replaced, hash_of, is_current

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pathweave._core import Scenario
    from pathweave.running.playing import Playing
    from pathweave.running.shard import Shard


@dataclass(frozen=True, eq=False)
class Task:
    """One run: a variant and a seed, and the folder that its results go to."""

    identity: Identity
    folder: Path
    label: str
    """What a person calls it: the variant, and the seed when there are several."""


@dataclass(frozen=True)
class Plan:
    """All runs of a scenario, in the file's order."""

    scenario: Scenario
    settings: Settings
    folder: Path
    """Where the runs of these settings are."""
    missing: tuple[Task, ...]
    present: tuple[Task, ...]
    elsewhere: tuple[Task, ...] = ()
    """Runs that other shards do, present or missing."""

    @property
    def tasks(self) -> tuple[Task, ...]:
        """Every run of this command, present or missing."""
        return self.present + self.missing


def make_plan(
    scenario: Scenario,
    root: Path,
    *,
    version: str,
    results_version: str,
    sets: Sequence[str] = (),
    fresh: bool = False,
    utility: str | None = None,
    routing: bool = False,
    limit: int | None = None,
    playing: Playing | None = None,
    shard: Shard | None = None,
) -> Plan:
    """Compare what `scenario` asks for with what stands under `root`.

    A run is present when its manifest carries the same hash of resolved scenario, version and
    seed, and of the utility that it maximises when it is an optimum; one that ended after too many
    problems counts for a `limit` up to its own. So it is with how the testbed plays it, which is
    None for other backends. With `fresh` none is. The runs that are not of a `shard` are left to
    others. Runs of other settings are in folders of their
    own and stay as they are.
    """
    backend = _backend(utility, routing=routing, playing=playing)
    # The values of a sweep are variants, and no settings.
    shared = [text for text in sets if text.split(".")[0].split("=")[0].strip() != "sweep"]
    settings = Settings.of(scenario, shared, results_version, backend)
    folder = folder_for(root / scenario.name, settings)
    missing: list[Task] = []
    present: list[Task] = []
    elsewhere: list[Task] = []
    taken: dict[Path, str] = {}
    several = len(scenario.seeds) > 1
    played = None if playing is None else playing.key
    for at, variant in enumerate(scenario.variants):
        for turn, seed in enumerate(scenario.seeds):
            target = run_folder(folder, variant.slug, variant.settings_hash, seed)
            if target in taken:
                raise InputError(
                    f'variants "{taken[target]}" and "{variant.label}" would share the folder '
                    f"{target.name}; rename one of them"
                )
            taken[target] = variant.label
            identity = Identity(
                scenario=scenario.name,
                title=scenario.title,
                size=scenario.size,
                sets=tuple(sets),
                variant=variant,
                seed=seed,
                version=version,
                results_version=results_version,
                hash=_hash(variant.hash(seed), utility, routing=routing, played=played),
                settings=settings.hash,
                backend=_MANIFEST_BACKEND[backend[0] if backend else ""],
            )
            name = variant.label or scenario.name
            task = Task(identity, target, f"{name}, seed {seed}" if several else name)
            if shard is not None and not shard.has(at, turn, len(scenario.seeds)):
                elsewhere.append(task)
                continue
            done = not fresh and is_current(target, identity.hash, limit)
            (present if done else missing).append(task)
    return Plan(scenario, settings, folder, tuple(missing), tuple(present), tuple(elsewhere))


_MANIFEST_BACKEND = {"": "simulate", "optimum": "solve", "testbed": "testbed"}


def _backend(utility: str | None, *, routing: bool, playing: Playing | None) -> tuple[str, ...]:
    """The backend in the words of `Settings.backend`."""
    if playing is not None:
        return ("testbed", *playing.words)
    if utility is None:
        return ()
    words = ["optimum"]
    if utility != layout.DEFAULT_UTILITY:
        words.append(re.sub(r"[^A-Za-z0-9.]+", "-", utility).strip("-"))
    return (*words, "routing") if routing else tuple(words)


def not_written(tasks: Sequence[Task]) -> list[Task]:
    """Those of the tasks whose results are not there; files are not checked against digests."""
    return [task for task in tasks if hash_of(task.folder) != task.identity.hash]


def run_folder(folder: Path, slug: str, settings_hash: str, seed: int) -> Path:
    """The folder of a run: named by variant and seed, with a hash where that name is taken.

    `slug` and `settings_hash` are the variant's.
    """
    plain = folder / layout.run_name(slug, seed)
    hashed = folder / layout.run_name(slug, seed, settings_hash)
    if settings_hash in (owner := _owner(plain), _owner(hashed)):
        return plain if owner == settings_hash else hashed
    return plain if owner is None else hashed


def _owner(run: Path) -> str | None:
    """The hash of the variant that a run is of; None where there is no run."""
    try:
        return str(read_json(run / layout.MANIFEST)["variant"]["hash"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _hash(simulated: str, utility: str | None, *, routing: bool, played: str | None) -> str:
    if played is not None:
        words = f"{simulated} testbed stretch {played}"
    elif utility is not None:
        words = f"{simulated} {utility}{' routing' if routing else ''}"
    else:
        return simulated
    return hashlib.sha256(words.encode()).hexdigest()[: len(simulated)]


def prepare_folder(folder: Path) -> None:
    """Make the folder of these settings and sweep what dead processes left in it.

    Raises `PathweaveError` when nothing can be written there, before hours of work depend on it.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise PathweaveError(
            f"cannot make the folder {folder}: {error.strerror or error}"
        ) from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PathweaveError(f"cannot write to the folder {folder}: permission denied")
    for path, replaced in layout.leftovers(folder):
        if replaced is not None:
            clear_replaced(path, replaced)
        elif path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
