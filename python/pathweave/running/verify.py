"""Whether stored results are what their manifests say, and what a run from the manifest gives."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pathweave.core import core
from pathweave.errors import InputError
from pathweave.results import layout
from pathweave.results.jsonfile import finite
from pathweave.results.read import read_about, read_timing
from pathweave.results.replay import controller_files, variant_of
from pathweave.results.schema import EXPLANATIONS
from pathweave.results.settings import Settings
from pathweave.results.shape import unknown_keys
from pathweave.results.stored import read_table, scan_table, sound
from pathweave.results.table_shape import check_types
from pathweave.results.write import frame

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import polars as pl

    from pathweave._core import Output, Scenario, Variant
    from pathweave.results.runs import StoredRun
    from pathweave.running.cores import Cores

_POLL_S = 0.02


@dataclass(frozen=True)
class Verdict:
    """What became of one run."""

    name: str
    differences: tuple[str, ...]
    """What is not the same, one text each; empty where all is."""
    note: str = ""
    """What a reader should know of how it was checked."""
    repeated: bool = True
    """Whether it was run again; else its files alone were checked."""
    has_own_controller: bool = False
    """Whether it was not run again because a controller in a file would have to be executed."""


def verify(
    runs: Sequence[tuple[str, StoredRun]],
    cores: Cores,
    interrupted: Callable[[], bool],
    *,
    hashes: bool = False,
    controllers: Controllers | None = None,
) -> Iterator[Verdict]:
    """Check runs, given with their names, one verdict for each as it is known.

    Their files have been checked against the digests in the manifests when they were read. Without
    `hashes` simulations are run again from the manifests, on these cores; runs of other backends
    cannot be. No file that the results name is opened or executed: a run whose controller is in a
    file is run again if `controllers` has that file, and is not otherwise. Ends early, with the
    runs under way cancelled, once `interrupted()` is true.
    """
    version = core().version()
    waiting = list(reversed(runs))
    active: list[tuple[str, StoredRun, Any, tuple[str, ...]]] = []
    try:
        while (waiting or active) and not interrupted():
            while waiting and len(active) < cores.jobs:
                name, stored = waiting.pop()
                beside = tuple(_as_written(stored))
                if hashes or stored.backend != "simulate":
                    note = "" if hashes else f"{stored.backend}: files checked only"
                    yield Verdict(name, beside, note, repeated=False)
                    continue
                wanted = controller_files(stored)
                files, lacking = (controllers or Controllers()).contents(wanted)
                if lacking:
                    note = f"files checked only: {_needs(lacking, controllers)}"
                    yield Verdict(name, beside, note, repeated=False, has_own_controller=True)
                    continue
                try:
                    variant = variant_of(stored, files=files)
                except InputError as error:
                    yield Verdict(name, (f"its manifest cannot be run: {error}",))
                    continue
                run = variant.prepare(stored.seed, cores.threads_of(len(active) + len(waiting) + 1))
                run.start()
                active.append((name, stored, run, (*_unlike_variant(stored, variant), *beside)))
            for entry in list(active):
                name, stored, run, before = entry
                state = run.poll()["state"]
                if state == "running":
                    continue
                active.remove(entry)
                yield _verdict(name, stored, run, version, before)
            if active:
                time.sleep(_POLL_S)
    finally:
        for _, _, run, _ in active:
            run.cancel()


class Controllers:
    """Files with controllers that a user's own scenarios name, by their content."""

    def __init__(self, scenarios: Sequence[Scenario] = ()) -> None:
        self._by_digest: dict[str, bytes] = {}
        for scenario in scenarios:
            for variant in scenario.variants:
                for content in variant.files.values():
                    self._by_digest[hashlib.sha256(content).hexdigest()] = content

    def contents(self, wanted: Mapping[str, str]) -> tuple[dict[str, bytes], list[str]]:
        """The contents of files, given by names and hashes, and the names of those it lacks."""
        known = self._by_digest
        files = {name: known[digest] for name, digest in wanted.items() if digest in known}
        return files, [name for name in wanted if name not in files]


def _needs(lacking: Sequence[str], controllers: Controllers | None) -> str:
    """Why a run with controllers in files is not run again."""
    names = ", ".join(lacking)
    if controllers is None:
        return f"running it would execute {names}, which --scenario can allow"
    what = "its contents" if len(lacking) == 1 else "their contents"
    return f"it needs {names}, and no scenario of --scenario has a controller with {what}"


def damaged_optimum(stored: StoredRun) -> str | None:
    """What is wrong with the optimum beside a run; None where it is whole, and without one."""
    path = stored.folder / layout.OPTIMUM
    if stored.optimum is not None or not path.exists():
        return None
    what = f"{path} or its tables are damaged, or of another run"
    return f"{what}; `pathweave run --optimum` solves it again"


def _as_written(stored: StoredRun) -> Iterator[str]:
    """What in the files of a run is not as a run writes it, one text each."""
    try:
        read_timing(stored.folder)
    except InputError as error:
        yield str(error)
    except OSError as error:
        yield f"{stored.folder / layout.TIMING} cannot be read: {error.strerror or error}"
    for key in unknown_keys(stored.manifest):
        yield f"{layout.MANIFEST}: the key {key} is none that runs have"
    about = stored.folder.parent / layout.SCENARIO
    if about.exists():  # a run may have been moved
        try:
            settings = Settings.from_json(read_about(stored.folder.parent)["settings"])
        except InputError as error:
            yield str(error)
        else:
            if not settings.is_sound():
                yield f"{about}: its hashes are not those of its settings"
            if settings.hash != stored.manifest["settings"]:
                yield f"settings: the hash in {layout.MANIFEST} is not that in {about}"
    for name, said in stored.manifest["tables"].items():
        try:
            yield from _unlike_schema(name, scan_table(stored.path(name)), said["rows"])
        except InputError as error:
            yield str(error)
    if found := damaged_optimum(stored):
        yield found


def _unlike_schema(name: str, table: pl.LazyFrame, rows: int) -> Iterator[str]:
    """How a table differs from what is written: its rows, the types of its columns."""
    import polars as pl

    with sound(Path(name)):
        schema = table.collect_schema()
        found = int(table.select(pl.len()).collect().item())
    if found != rows:
        yield f"{name}: {found} rows, {rows} in the manifest"
    # Other versions may have more columns or fewer.
    try:
        check_types(Path(name), name, schema)
    except InputError as error:
        yield str(error)


def _unlike_variant(stored: StoredRun, variant: Variant) -> Iterator[str]:
    """Which hashes of a manifest are not those of its scenario; other versions have others."""
    manifest = stored.manifest
    version = manifest.get("results_version") or manifest["pathweave"]
    if version != core().results_version():
        return
    if manifest["hash"] != variant.hash(stored.seed):
        yield "hash: it is not that of the scenario and the seed"
    if manifest["variant"]["hash"] != variant.settings_hash:
        yield "variant.hash: it is not that of the scenario"


def _verdict(
    name: str, stored: StoredRun, run: Any, version: str, beside: tuple[str, ...]
) -> Verdict:
    """What a repetition gives; `beside` is what is wrong with the files already."""
    made_by, results = stored.manifest["pathweave"], stored.manifest.get("results_version")
    notes = [] if made_by == version else [f"made by version {made_by}, checked by {version}"]
    if results not in (None, core().results_version()):
        notes.append(f"its hashes are of version {results} of results and were not computed again")
    if stored.optimum is not None:
        notes.append("its optimum was not solved again")
    note = "; ".join(notes)
    try:
        output = run.take()
    except RuntimeError as error:
        return Verdict(name, (f"it fails: {error}", *beside), note)
    before = stored.manifest["results_hash"]
    # A hash says nothing of the tables beside it: all of them are compared.
    both = {*stored.manifest["tables"], *output.tables}
    # Runs of before have no explanations.
    compared = {*stored.manifest["tables"], *(both - set(EXPLANATIONS))}
    differing = (
        *_unlike_manifest(stored, output),
        *_differences(stored, output, sorted(compared)),
    )
    if not _captures_equal(stored, output):
        differing += ("captures differ",)
    if output.results_hash != before and not differing:
        if len(output.results_hash) == len(before):
            differing = ("the hash of its results differs",)
        else:
            other = "its hash is computed otherwise now: tables and captures were compared"
            note = f"{note}; {other}" if note else other
    return Verdict(name, (*differing, *beside), note)


def _unlike_manifest(stored: StoredRun, output: Output) -> Iterator[str]:
    """What the manifest says otherwise than a repetition, key by key."""
    manifest = stored.manifest
    counters = finite({"packet_hops": output.packet_hops, **output.counters})
    for name in sorted({*manifest["counters"], *counters}):
        old, new = manifest["counters"].get(name), counters.get(name)
        if old != new:
            yield f"counters.{name}: {old}, {new} in the repetition"
    if manifest["verdict"] != output.verdict:
        yield f"verdict: {manifest['verdict']}, {output.verdict} in the repetition"
    if manifest["notes"] != list(output.notes):
        yield "notes differ"
    captures = {each["name"]: (each["flow"], each["packets"]) for each in output.captures}
    said = manifest["captures"]
    if {name: (each["flow"], each["packets"]) for name, each in said.items()} != captures:
        yield "captures: flows or numbers of packets differ"


def _differences(stored: StoredRun, output: Output, names: Iterable[str]) -> Iterator[str]:
    """What is not the same in these tables of a run and of its repetition."""
    for name in names:
        if name not in stored.manifest["tables"]:
            yield f"{name}: only in the repetition"
            continue
        if name not in output.tables:
            yield f"{name}: not in the repetition"
            continue
        # As it stands on disk, whatever the phases are called now.
        old, new = read_table(stored.path(name)), frame(output.tables[name])
        if old.height != new.height:
            yield f"{name}: {old.height} rows, {new.height} in the repetition"
        elif not old.equals(new):
            columns = [
                column
                for column in old.columns
                if column not in new.columns or not old[column].equals(new[column])
            ]
            yield f"{name}: {', '.join(columns) or 'columns'} differ"


def _captures_equal(stored: StoredRun, output: Output) -> bool:
    # The files have been found to be what the manifest says.
    return {name: about["sha256"] for name, about in stored.manifest["captures"].items()} == {
        capture["name"]: hashlib.sha256(capture["pcapng"]).hexdigest()
        for capture in output.captures
    }
