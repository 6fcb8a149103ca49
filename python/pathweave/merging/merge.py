"""One folder of results from several, as one `pathweave run` would have left it."""

from __future__ import annotations

import shutil
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pathweave.errors import InputError, PathweaveError
from pathweave.merging.agree import check_results, check_versions
from pathweave.merging.sources import Gathered, about_in, read_sources
from pathweave.reading import JSON_LIMIT, read_text
from pathweave.results import layout
from pathweave.results.jsonfile import json_text, write_json
from pathweave.results.lock import locked
from pathweave.results.read import read_run
from pathweave.results.settings import folder_for, hash_in
from pathweave.results.write import damage, own_files, take_place
from pathweave.running.plan import prepare_folder, run_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pathweave.merging.sources import Sources
    from pathweave.results.read import Unusable
    from pathweave.results.runs import StoredRun
    from pathweave.results.settings import Settings


@dataclass(frozen=True)
class Copy:
    """A run that is to be copied, and where to."""

    run: StoredRun
    to: Path


@dataclass
class Part:
    """The runs of one scenario with the same settings."""

    name: str
    settings: Settings
    folder: Path
    """Where they go."""
    sources: list[Path]
    abouts: list[dict[str, Any]]
    copies: list[Copy] = field(default_factory=list)
    present: int = 0
    """Runs that are there already, with the same results."""


@dataclass(frozen=True)
class Merge:
    """What is to be done; nothing has been written."""

    parts: list[Part]
    unusable: list[Unusable]
    """Runs that are left out, with the reasons, where no other source has them whole."""
    empty: list[Path]

    @property
    def copies(self) -> list[Copy]:
        """All runs that are to be copied."""
        return [copy for part in self.parts for copy in part.copies]


def plan_merge(paths: Sequence[Path], into: Path) -> Merge:
    """Read all sources and what stands in `into`, and check that they go together.

    Raises `InputError` when they do not, or when `into` is one of the sources.
    """
    _check_apart(paths, into)
    found = read_sources(paths)
    check_versions(found.gathered.values())
    check_results(found.gathered.values())
    parts = [_part(each, into) for each in found.gathered.values()]
    return Merge(sorted(parts, key=lambda part: part.folder), _left_out(found), found.empty)


def carry_out(merge: Merge, interrupted: Callable[[], bool]) -> Iterator[Copy]:
    """Copy run by run; yields each when it is in its place. Ends early once `interrupted()`.

    A run appears when all of it is there, so that the same merge goes on from where one ended.
    Raises `PathweaveError` when something cannot be written, or a copy is not what was read.
    """
    for part in merge.parts:
        if interrupted():
            return
        prepare_folder(part.folder)
        with locked(part.folder):
            _claim(part)
        for copy in part.copies:
            if interrupted():
                return
            _copy(copy)
            yield copy


def _check_apart(paths: Sequence[Path], into: Path) -> None:
    target = into.resolve()
    for path in paths:
        source = path.resolve()
        if source == target:
            raise InputError(
                f"{path} is the folder that is merged into: leave it out of the sources, what is"
                " there stays"
            )
        if source in target.parents or target in source.parents:
            raise InputError(
                f"{path} and {into} are within each other: merge into a folder that is apart"
            )
    if into.exists() and not into.is_dir():
        raise InputError(f"{into} is not a folder")


def _part(gathered: Gathered, into: Path) -> Part:
    settings = gathered.settings
    folder = folder_for(into / gathered.name, settings)
    part = Part(gathered.name, settings, folder, list(gathered.sources), gathered.abouts)
    present = about_in(folder, settings)
    if present is not None:
        part.abouts = [present, *gathered.abouts]
    taken: dict[Path, str] = {}
    for run_hash, copies in gathered.runs.items():
        # An optimum beside a run is worth more than none.
        best = next((run for run in copies if run.optimum is not None), copies[0])
        variant = best.manifest["variant"]
        to = run_folder(folder, variant["slug"], variant["hash"], best.seed)
        if taken.setdefault(to, variant["hash"]) != variant["hash"]:
            to = folder / layout.run_name(variant["slug"], best.seed, variant["hash"])
        there = _there(to, run_hash)
        if there is not None:
            check_results([_both(gathered, run_hash, there)])
        if there is None or (there.optimum is None and best.optimum is not None):
            part.copies.append(Copy(best, to))
        else:
            part.present += 1
    return part


def _there(folder: Path, run_hash: str) -> StoredRun | None:
    """The run with this hash in `folder`; None where there is none that is whole."""
    try:
        run = read_run(folder)
    except (InputError, OSError):
        return None
    return run if run.manifest["hash"] == run_hash else None


def _both(gathered: Gathered, run_hash: str, there: StoredRun) -> Gathered:
    copies = [there, *gathered.runs[run_hash]]
    return Gathered(gathered.name, gathered.settings, {run_hash: copies})


def _left_out(found: Sources) -> list[Unusable]:
    """The runs that cannot be used and that no other source has whole."""
    whole = {
        (each.name, each.settings.hash, run.folder.name)
        for each in found.gathered.values()
        for copies in each.runs.values()
        for run in copies
    }
    kept: list[Unusable] = []
    for unusable in found.unusable:
        folder = unusable.folder
        key = (folder.parent.parent.name, hash_in(folder.parent), folder.name)
        if key not in whole:
            kept.append(unusable)
    return kept


def _claim(part: Part) -> None:
    """Say in the folder what was asked for, all sources together."""
    path = part.folder / layout.SCENARIO
    if hash_in(part.folder) not in (None, part.settings.hash):
        raise PathweaveError(
            f"{part.folder} has just been taken by results of other settings; give the command"
            " again, and it uses a folder beside it"
        )
    if not part.abouts:
        return
    about = _joined(part.abouts)
    if not path.exists() or read_text(path, JSON_LIMIT) != json_text(about):
        write_json(path, about)


def _joined(abouts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What all of them asked for; where they say different things, the first has it."""
    about = dict(abouts[0])
    asked: dict[str, set[int]] = {}
    axes: dict[str, list[str]] = {}
    phases: dict[str, Any] = {}
    for each in abouts:
        for label, seeds in each.get("asked", {}).items():
            asked.setdefault(label, set()).update(seeds)
        for axis, names in each.get("axes", []):
            known = axes.setdefault(axis, [])
            known += [name for name in names if name not in known]
        phases = {**each.get("phases", {}), **phases}
    about["asked"] = {label: sorted(seeds) for label, seeds in asked.items()}
    about["axes"] = [[axis, names] for axis, names in axes.items()]
    about["phases"] = phases
    return about


_NOTES = 100
"""Most files of others that are copied with a run."""
_NOTE_BYTES = 1 << 20
"""How large such a file may be."""


def _not_copied(run: Path) -> Callable[[str, list[str]], list[str]]:
    """What of a run's folder is not copied.

    A run's own files are, and small files beside them: notes. Pipes, devices and links are not.
    """
    own = own_files(run)

    def left_out(folder: str, names: list[str]) -> list[str]:
        found = {name: Path(folder, name).lstat() for name in sorted(names)}
        files = {name: each for name, each in found.items() if stat.S_ISREG(each.st_mode)}
        notes = [
            name for name, each in files.items() if name not in own and each.st_size <= _NOTE_BYTES
        ]
        copied = (own & files.keys()) | set(notes[:_NOTES])
        return [name for name in names if name not in copied]

    return left_out


def _copy(copy: Copy) -> None:
    """Copy a run under a hidden name, and give it its own when all of it is there."""
    partial = layout.partial_folder(copy.to)
    shutil.rmtree(partial, ignore_errors=True)
    try:
        shutil.copytree(copy.run.folder, partial, ignore=_not_copied(copy.run.folder))
        wrong = damage(partial, copy.run.manifest)
        if wrong is not None:
            raise PathweaveError(f"{copy.run.folder} was changed while it was copied: {wrong}")
        with locked(copy.to.parent):
            take_place(partial, copy.to)
    except shutil.Error as error:
        raise PathweaveError(f"cannot copy {copy.run.folder}: {error.args[0][0][2]}") from error
    except OSError as error:
        reason = error.strerror or error
        raise PathweaveError(f"cannot copy {copy.run.folder} to {copy.to}: {reason}") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
