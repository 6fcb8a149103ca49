"""From rows to runs, and from runs to records."""

from __future__ import annotations

import hashlib
import json
import shlex
import subprocess
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pathweave.core import core
from pathweave.errors import InputError, PathweaveError
from pathweave.reading import CONTROLLER_LIMIT, read_bytes
from pathweave.reproducing.paper import find_papers, read_paper
from pathweave.reproducing.paper_size import PAPER, QUICK, setups, sizes_of
from pathweave.reproducing.reasons import chosen_variants
from pathweave.reproducing.record import Ablation, Record
from pathweave.reproducing.sample import Sample, sample_of, samples, variants_of
from pathweave.results import layout
from pathweave.results.read import find_runs
from pathweave.running.loaded import tell_program
from pathweave.running.session import Request, open_session

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pathweave.reproducing.paper import Axes, Because, Paper, Row
    from pathweave.results.runs import StoredScenario
    from pathweave.running.session import Session

_DRAWN = 8
"""Flows of a group that tell what its seed drew: they are asked for before anything has ended."""
_SHORT = 12
"""Digits of a hash."""


@dataclass(frozen=True)
class Wanted:
    """What a user asked to be reproduced."""

    size: str = QUICK
    seeds: int | None = None
    """Seeds of each variant; each row's own number if None."""
    root: Path = field(default_factory=lambda: layout.DEFAULT_ROOT / "papers")


def read_papers(folder: Path, names: Sequence[str]) -> list[tuple[Paper, list[Row]]]:
    """The papers in `folder` with the rows that `names` ask for; all where there are no names.

    A name is a paper's, or a paper's and a row's: "xmp" or "xmp/tab1". Raises `InputError` for one
    that is not there, and for mistakes in `expected.toml`.
    """
    known = {path.name: path for path in find_papers(folder)}
    beside = f"{folder}/"
    if not known:
        raise InputError(
            f"no paper in {folder}: a paper is a folder with expected.toml. The papers are in "
            "Pathweave's source tree; run the command there"
        )
    wanted: dict[str, list[str] | None] = {}
    for name in names or list(known):
        paper, _, row = name.removeprefix(beside).strip("/").partition("/")
        if paper not in known:
            raise InputError(f'there is no paper "{paper}" in {folder}; there are {_list(known)}')
        rows = wanted.setdefault(paper, [] if row else None)
        if not row:
            wanted[paper] = None
        elif rows is not None:
            rows.append(row)
    found: list[tuple[Paper, list[Row]]] = []
    for name, rows in wanted.items():
        paper = read_paper(known[name], axes_of)
        with_setups = tuple(replace(row, paper_setups=setups(row)) for row in paper.rows)
        paper = replace(paper, rows=with_setups)
        by_name = {row.name: row for row in paper.rows}
        for row in rows or []:
            if row not in by_name:
                raise InputError(f'{name} has no row "{row}"; it has {_list(by_name)}')
        found.append((paper, [row for row in paper.rows if rows is None or row.name in rows]))
    return found


def check_size(rows: Sequence[Row], size: str) -> None:
    """Raise `InputError` for a size that none of these rows has."""
    known = {QUICK: None} | {
        name: None for row in rows if row.scenario is not None for name in sizes_of(row.scenario)
    }
    if size not in known:
        raise InputError(f'none of these rows has a size "{size}"; they have {_list(known)}')


def axes_of(scenario: Path) -> Axes:
    """The axes and names of a scenario file."""
    loaded = core().load(str(scenario), None, [], [], None)
    return {axis: list(names) for axis, names in loaded.axes.items()}


def open_row(row: Row, wanted: Wanted) -> Session | None:
    """The runs of a row; None where it has no scenario."""
    if row.scenario is None:
        return None
    return open_session(
        Request(
            path=row.scenario,
            size=_size(row.scenario, wanted.size),
            seeds=wanted.seeds or row.seeds,
            only=row.only,
            root=wanted.root / row.paper,
        )
    )


def open_ablation(row: Row, because: Because, wanted: Wanted) -> Session:
    """The runs that an explanation asks for: its settings, and the variants that it is about."""
    assert row.scenario is not None  # noqa: S101 - what it changes is a scenario
    path = row.scenario.parent / because.scenario
    if not path.is_file():
        raise InputError(f"{row.id}: there is no scenario file {because.scenario} to explain it")
    claim = row.claim(because.claim)
    assert claim is not None  # noqa: S101 - the row was read with it
    axes = axes_of(path)
    chosen = [each for each in chosen_variants(because, claim) if each.split("=")[0] in axes]
    named = {each.split("=")[0] for each in because.only}
    return open_session(
        Request(
            path=path,
            size=because.size or _size(path, wanted.size),
            seeds=because.seeds or wanted.seeds or row.seeds,
            sets=because.sets,
            only=(*because.only, *(each for each in chosen if each.split("=")[0] not in named)),
            root=wanted.root / row.paper,
        )
    )


def stored(session: Session) -> StoredScenario | None:
    """The runs of a session that are on disk; None without any."""
    folders = [
        task.folder for task in session.plan.tasks if (task.folder / layout.MANIFEST).exists()
    ]
    return find_runs(folders)[0] if folders else None


def record_row(row: Row, session: Session | None) -> Record | None:
    """What a row's runs gave, without ablations; None where nothing was run."""
    version = core().version()
    if row.program is not None:
        gave = _from_program(row)
        return Record(
            version, QUICK, "", f"python papers/{row.paper}/{row.program.name}", (), {}, gave
        )
    if session is None:
        return None
    found = stored(session)
    if found is None:
        return None
    size = session.request.size or QUICK
    return Record(
        version=version,
        size=size,
        settings=session.plan.settings.hash,
        command=_command(row, session),
        seeds=tuple(sorted({run.seed for run in found.runs})),
        workload=_workload(found),
        samples={claim.name: samples(claim, found) for claim in row.claims},
        setups=row.paper_setups if size == PAPER else {},
    )


def _workload(scenario: StoredScenario) -> dict[str, str]:
    """By seed, a hash of the first flows of each traffic group in the seed's first run."""
    found: dict[str, str] = {}
    for run in scenario.runs:
        if str(run.seed) in found or "flows" not in run.tables:
            continue
        flows = run.read("flows", ["id", "group", "source", "destination", "start_s", "size_bytes"])
        first = flows.sort("id").group_by("group", maintain_order=True).head(_DRAWN).drop("id")
        text = json.dumps(first.rows(), ensure_ascii=False)
        found[str(run.seed)] = hashlib.sha256(text.encode()).hexdigest()[:_SHORT]
    return found


def record_ablation(row: Row, because: Because, session: Session) -> Ablation | None:
    """What the runs of an explanation gave; None where nothing was run."""
    found = stored(session)
    if found is None:
        return None
    claim = row.claim(because.claim)
    assert claim is not None  # noqa: S101 - the row was read with it
    axes = set(session.axes)
    gave: list[Sample] = []
    for at in variants_of(claim):
        # A scenario made for the explanation may lack axes of the row's.
        here = {axis: name for axis, name in at.items() if axis in axes}
        gave.append(sample_of(claim, found, at, here, other_seed=because.other_seed))
    return Ablation(
        claim=because.claim,
        sets=because.sets,
        scenario=because.scenario,
        size=because.size,
        only=because.only,
        at=because.at,
        command=_command(row, session),
        seeds=len({run.seed for run in found.runs}),
        samples=tuple(gave),
    )


def with_ablations(record: Record, further: Sequence[Ablation]) -> Record:
    """The record with the ablations of its explanations."""
    return replace(record, ablations=(*record.ablations, *further))


def _from_program(row: Row) -> dict[str, tuple[Sample, ...]]:
    """The samples of a row whose numbers a program works out, without chance.

    It prints a list of JSON objects with `at` and `value`.
    """
    assert row.program is not None  # noqa: S101 - it was looked at before
    tell_program(row.program, read_bytes(row.program, CONTROLLER_LIMIT))
    done = subprocess.run(  # noqa: S603 - the program is the paper's
        [sys.executable, str(row.program), "--json"], capture_output=True, text=True, check=False
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise PathweaveError(f"{row.program} failed: {last}")
    values: dict[tuple[tuple[str, str], ...], float] = {
        tuple(sorted(each["at"].items())): float(each["value"]) for each in json.loads(done.stdout)
    }
    found: dict[str, tuple[Sample, ...]] = {}
    for claim in row.claims:
        several: list[Sample] = []
        for at in variants_of(claim):
            value = values.get(tuple(sorted(at.items())))
            # Twice, because there is no chance in it: the interval has no width.
            several.append(Sample(at, {} if value is None else {1: value, 2: value}))
        found[claim.name] = tuple(several)
    return found


def _command(row: Row, session: Session) -> str:
    """The command line that gives the same runs from the project's folder, wherever it is."""
    request = session.request
    here = replace(request, path=Path("papers", row.paper, request.path.name))
    chosen = "".join(f" --only {shlex.quote(each)}" for each in request.only)
    return here.command + chosen


def _size(scenario: Path, wanted: str) -> str | None:
    """The wanted size where the file has it; the file as it stands otherwise."""
    return wanted if wanted in sizes_of(scenario) else None


def _list(names: Mapping[str, object]) -> str:
    return ", ".join(names)
