"""Runs on the workers of a Dask cluster give what they give at home, whatever becomes of workers.

With the compiled core, on two worker processes. `faulty_workers` says which runs go wrong there.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import distributed
import pytest

import pathweave
from conftest import environment
from pathweave.errors import InputError, PathweaveError
from pathweave.results import layout
from pathweave.results.jsonfile import read_json
from pathweave.running.cores import Cores
from pathweave.running.dask import agree, cluster, keeping, spread
from pathweave.running.dask.batches import TARGET_S, Batches
from pathweave.running.dask.facts import facts
from pathweave.running.dask.keeping import Keeping
from pathweave.running.dask.payload import Done, Failed, ReturnedOutput
from pathweave.running.dask.spread import Spread
from pathweave.running.quiet import Quiet
from pathweave.running.session import Request, Session, execute, open_session

if TYPE_CHECKING:
    from pathweave.running.plan import Task
    from pathweave.running.pool import Outcome

ROOT = Path(__file__).resolve().parent.parent

SCENARIO = """
title = "On workers"
seeds = {seeds}

[fabric]
kind = "dumbbell"
left = 2
bottleneck_rate = "1 Gbps"
bottleneck_delay = "20 us"
host_rate = "1 Gbps"
host_delay = "20 us"
queue = {{ limit = 50, mark = {{ kind = "step", k = 10 }} }}

[transport]
minimum_rto = "10 ms"
initial_rto = "10 ms"

[[traffic]]
name = "large"
pattern = "permutation"
controller = "dctcp"
size = "unlimited"

[stop]
at = "2 ms"

"""
Client = Any
"""A `distributed.Client` whose methods are typed as if they might be asynchronous."""
ENDLESS = '"stop.at" = "100000 s"'
"""Some hours of a core."""

pytestmark = pytest.mark.xdist_group("dask")


@pytest.fixture(scope="module")
def restarting_workers() -> Iterator[Client]:
    """A client of a cluster of two workers, which starts new ones for those that are killed."""
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            silence_logs=logging.CRITICAL,
            memory_limit=0,
            preload=[str(Path(__file__).with_name("faulty_workers.py"))],
            scheduler_kwargs={
                "allowed_failures": 1,
                "dashboard": False,
                "dashboard_address": ":0",
            },
        ) as local,
        distributed.Client(local, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture
def client(restarting_workers: Client) -> Client:
    """The same, with both workers there: the test before may have killed them."""
    restarting_workers.wait_for_workers(2, timeout=300)
    return restarting_workers


def scenario(folder: Path, seeds: int = 2, **variants: str) -> Path:
    """A scenario file with these variants, each with what it changes."""
    path = folder / "work.toml"
    text = SCENARIO.format(seeds=seeds)
    for name, change in variants.items():
        text += f'[variants.scheme."{name.replace("_", " ")}"]\n{change}\n'
    path.write_text(text)
    return path


def opened(path: Path, root: Path) -> Session:
    return open_session(Request(path=path, root=root))


def contents(root: Path) -> dict[str, bytes]:
    """All files but those that say what runs have cost."""
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file()
        and path.name != layout.TIMING
        and not any(part.startswith(".") for part in path.relative_to(root).parts)
    }


class Heard(Quiet):
    """Keeps what becomes of the runs."""

    def __init__(self) -> None:
        self.begun: list[Task] = []
        self.done: list[Task] = []
        self.notes: list[str] = []
        self.stopped: list[Task] = []

    def started(self, task: Task) -> None:
        self.begun.append(task)

    def finished(self, task: Task, output: Any) -> None:
        self.done.append(task)

    def noted(self, notes: Sequence[str]) -> None:
        self.notes += notes

    def cancelled(self, task: Task) -> None:
        self.stopped.append(task)


def run_on(
    client: Client,
    session: Session,
    heard: Heard,
    interrupted: Callable[[], bool] = lambda: False,
) -> Outcome:
    def run(
        tasks: Sequence[Task], cores: Cores, watcher: Any, signalled: Callable[[], bool]
    ) -> Outcome:
        return Spread.over(client).run_all(tasks, cores, watcher, interrupted)

    return execute(session, Cores(2), heard, run=run)


def other_disk(monkeypatch: pytest.MonkeyPatch, content: str | None) -> None:
    """Let the workers find another content, or nothing, where the client put its token."""
    tokens = spread._tokens

    class Changed:
        def __init__(self, folders: set[Path]) -> None:
            self._manager: Any = tokens(folders)

        def __enter__(self) -> dict[str, str]:
            there = self._manager.__enter__()
            return dict.fromkeys(there, content) if content else {"/nowhere/token": "1"}

        def __exit__(self, *error: object) -> None:
            self._manager.__exit__(*error)

    monkeypatch.setattr(spread, "_tokens", Changed)


@pytest.mark.parametrize("disk", ["shared", "none", "another at the same path"])
def test_results_are_those_of_this_machine(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, disk: str
) -> None:
    path = scenario(tmp_path, 4, DCTCP="", Twin="", XMP='"traffic.large.controller" = "xmp"')
    home = pathweave.run(path, out=tmp_path / "home", jobs=2, progress=False)
    written: list[Path] = []
    here = keeping.write_run
    monkeypatch.setattr(
        keeping,
        "write_run",
        lambda folder, *rest, **named: (written.append(folder), here(folder, *rest, **named)),
    )
    if disk != "shared":
        other_disk(monkeypatch, None if disk == "none" else "another")
    away = pathweave.run(path, out=tmp_path / "away", dask=client, progress=False)
    assert contents(tmp_path / "away") == contents(tmp_path / "home")
    assert len(written) == (0 if disk == "shared" else 12)
    assert not list((tmp_path / "away").rglob(".*"))
    assert away.runs["results_hash"].to_list() == home.runs["results_hash"].to_list()
    assert away.runs["machine"].to_list() == home.runs["machine"].to_list()
    # A second start runs nothing.
    again = opened(path, tmp_path / "away")
    assert not again.plan.missing


def test_a_controller_in_a_file_goes_with_its_scenario(client: Client, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_bytes((ROOT / "examples/controllers/lia.py").read_bytes())
    path = scenario(tmp_path, 2, LIA='"traffic.large.controller" = { python = "mine.py:Lia" }')
    pathweave.run(path, out=tmp_path / "home", jobs=2, progress=False)
    session = opened(path, tmp_path / "away")
    file.unlink()
    outcome = run_on(client, session, Heard())
    assert not outcome.failed
    assert contents(tmp_path / "away") == contents(tmp_path / "home")


def test_what_a_killed_worker_had_goes_elsewhere(client: Client, tmp_path: Path) -> None:
    path = scenario(tmp_path, 3, DCTCP="", Victim='"traffic.large.controller" = "xmp"')
    heard = Heard()
    outcome = run_on(client, opened(path, tmp_path / "away"), heard)
    assert len(outcome.finished) == 6
    assert not outcome.failed
    died = list((tmp_path / "away/work/quick").glob(".victim-s*.died"))
    assert len(died) == 3
    pathweave.run(path, out=tmp_path / "home", jobs=2, progress=False)
    assert contents(tmp_path / "away") == contents(tmp_path / "home")


def test_results_that_die_with_their_worker_are_made_again(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed: list[int] = []
    over = spread._Work._over

    def kill_first(work: Any, future: distributed.Future) -> None:
        if not killed and future.status == "finished":
            killed.extend(client.run(os.getpid).values())
            for process in killed:
                os.kill(process, signal.SIGKILL)
            deadline = time.monotonic() + 60
            while future.status == "finished":  # until the scheduler has said that they are lost
                assert time.monotonic() < deadline
        over(work, future)

    monkeypatch.setattr(spread._Work, "_over", kill_first)
    path = scenario(tmp_path, 3, DCTCP="", XMP='"traffic.large.controller" = "xmp"')
    outcome = run_on(client, opened(path, tmp_path / "away"), Heard())
    assert killed
    assert len(outcome.finished) == 6
    assert not outcome.failed
    monkeypatch.undo()
    pathweave.run(path, out=tmp_path / "home", jobs=2, progress=False)
    assert contents(tmp_path / "away") == contents(tmp_path / "home")


def test_results_that_die_on_their_way_are_made_again_even_if_that_kills_more_workers(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The batch has ended when its future is looked at, and has failed when it is fetched."""
    fetch = distributed.Future.result
    killed: list[int] = []

    def kill_first(future: distributed.Future, timeout: float | None = None) -> Any:
        if not killed:
            killed.extend(client.run(os.getpid).values())
            for process in killed:
                os.kill(process, signal.SIGKILL)
            deadline = time.monotonic() + 60
            while future.status != "error":
                assert time.monotonic() < deadline
        return fetch(future, timeout)

    monkeypatch.setattr(distributed.Future, "result", kill_first)
    other_disk(monkeypatch, None)
    path = scenario(tmp_path, 1, Relapse="")
    outcome = run_on(client, opened(path, tmp_path / "away"), Heard())
    assert killed
    assert len(outcome.finished) == 1
    assert not outcome.failed
    assert len((tmp_path / "away/work/quick/.relapse-s1.died").read_text()) == 4


def test_a_run_that_kills_its_workers_fails_alone(client: Client, tmp_path: Path) -> None:
    path = scenario(tmp_path, 1, DCTCP="", Poison='"traffic.large.controller" = "xmp"')
    heard = Heard()
    outcome = run_on(client, opened(path, tmp_path / "away"), heard)
    assert [task.label for task in outcome.finished] == ["DCTCP"]
    ((task, reason),) = outcome.failed
    assert task.label == "Poison"
    assert reason.startswith(
        "the process of its worker was killed each of the last 2 times that it ran, the last time"
        " on tcp://127.0.0.1:"
    )
    assert reason.endswith("; most often its machine has too little memory")


def test_a_run_that_fails_does_so_alone(client: Client, tmp_path: Path) -> None:
    path = scenario(tmp_path, 2, Broken="", DCTCP='"transport.minimum_rto" = "5 ms"')
    heard = Heard()
    outcome = run_on(client, opened(path, tmp_path / "away"), heard)
    assert [reason for _, reason in outcome.failed] == [
        "packets are not conserved on link h0->s0"
    ] * 2
    assert {task.label for task, _ in outcome.failed} == {"Broken, seed 1", "Broken, seed 2"}
    assert len(outcome.finished) == 2
    with pytest.raises(PathweaveError, match="2 runs failed; Broken, seed"):
        pathweave.run(path, out=tmp_path / "away", dask=client, progress=False)


def all_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let one batch have all runs."""

    def everything(batches: Batches, places: int) -> list[Task]:
        taken = list(batches.waiting)
        batches.waiting.clear()
        return taken

    monkeypatch.setattr(Batches, "next", everything)


@pytest.mark.parametrize("disk", ["shared", "none"])
def test_an_interruption_keeps_what_is_finished(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, disk: str
) -> None:
    path = scenario(tmp_path, 2, DCTCP="", Long=ENDLESS)
    if disk == "none":
        other_disk(monkeypatch, None)
    all_at_once(monkeypatch)
    heard = Heard()
    session = opened(path, tmp_path / "away")
    outcome = run_on(
        client,
        session,
        heard,
        lambda: any(task.label.startswith("Long") for task in heard.begun),
    )
    # The finished runs of a batch under way are kept, also where they come back with its end.
    assert [task.label for task in outcome.finished] == ["DCTCP, seed 1", "DCTCP, seed 2"]
    assert [task.label for task in outcome.cancelled] == ["Long, seed 1", "Long, seed 2"]
    assert [task.label for task in heard.stopped] == ["Long, seed 1"]
    assert [task.label for task in opened(path, tmp_path / "away").plan.missing] == [
        "Long, seed 1",
        "Long, seed 2",
    ]
    assert not any(client.run(_under_way).values())


def _under_way(dask_worker: Any) -> int:
    return len(dask_worker.state.executing)


def test_workers_of_other_versions_are_named_and_nothing_begins(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = scenario(tmp_path, 1, DCTCP="")
    mine = replace(facts(), pathweave="9.9", core="9.8", results="9.7", layout=99)
    monkeypatch.setattr(agree, "facts", lambda: mine)
    with pytest.raises(PathweaveError) as refused:
        pathweave.run(path, out=tmp_path / "away", dask=client, progress=False)
    lines = str(refused.value).splitlines()
    theirs = facts()
    for line, address in zip(lines, sorted(client.nthreads()), strict=False):
        assert line.startswith(f"the worker {address} on ")
        assert line.endswith(
            f": Pathweave's version is {theirs.pathweave}, and here it is 9.9; the version of the"
            f" compiled core is {theirs.core}, and here it is 9.8; the version of its results is"
            f" {theirs.results}, and here it is 9.7; the version of their layout is"
            f" {theirs.layout}, and here it is 99"
        )
    assert lines[2] == "All machines must have the same Pathweave, so that their results are one"
    assert not (tmp_path / "away").exists()


def test_workers_that_compute_otherwise_are_named(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = replace(facts(), probe="1234")
    monkeypatch.setattr(agree, "facts", lambda: mine)
    with pytest.raises(
        PathweaveError, match=r"a probe run has the results [0-9a-f]+, and here 1234"
    ):
        Spread.over(client)


def test_a_worker_that_comes_later_is_compared_too(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The comparison before the start is left out, as if the workers had not been there yet."""
    mine = replace(facts(), core="9.8")
    monkeypatch.setattr(spread, "facts", lambda: mine)
    monkeypatch.setattr(agree, "facts", lambda: mine)
    session = opened(scenario(tmp_path, 1, DCTCP=""), tmp_path / "away")
    with pytest.raises(PathweaveError, match=r"compiled core is .*, and here it is 9\.8"):
        execute(session, Cores(2), Heard(), run=Spread(client).run_all)


def test_a_worker_without_pathweave_is_named() -> None:
    missing = ModuleNotFoundError("No module named 'pathweave'", name="pathweave")
    client: Any = SimpleNamespace(run=lambda *_, **__: {"tcp://node1:4": missing})
    with pytest.raises(PathweaveError, match="the worker tcp://node1:4 cannot import pathweave"):
        agree.check_workers(client)


def done(number: int, results_hash: str, worker: str, *, written: bool = True) -> Done:
    output = ReturnedOutput({}, (), {}, results_hash, 0, 0.0, 0.0, 0.0, "finished")
    return Done(number, worker, "node", 0.1, output, written=written)


def test_different_bits_of_a_run_are_named(tmp_path: Path) -> None:
    (task,) = opened(scenario(tmp_path, 1, DCTCP=""), tmp_path / "away").plan.missing
    kept = Keeping(Heard())
    kept.settled[0] = done(0, "aa", "tcp://one:1")
    kept.settle(task, done(0, "aa", "tcp://two:2"))
    with pytest.raises(PathweaveError) as refused:
        kept.settle(task, done(0, "bb", "tcp://two:2"))
    assert str(refused.value) == (
        "DCTCP has different results on two workers: aa on tcp://one:1, bb on tcp://two:2; the same"
        " scenario, seed and version must give the same bits"
    )


def test_what_a_worker_wrote_is_waited_for_until_it_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a network file system, which may show a new folder late."""
    path = scenario(tmp_path, 2, DCTCP="")
    first, second = opened(path, tmp_path / "away").plan.missing
    pathweave.run(path, seeds=1, out=tmp_path / "home", progress=False)
    made = tmp_path / "home/work/quick" / first.folder.name
    results = str(read_json(made / layout.MANIFEST)["results_hash"])
    first.folder.parent.mkdir(parents=True)
    now = [0.0]
    monkeypatch.setattr(keeping.time, "monotonic", lambda: now[0])
    kept = Keeping(heard := Heard())
    kept.settle(first, done(0, results, "tcp://one:1"))
    kept.settle(second, done(1, "bb", "tcp://one:1"))
    kept.look_again()
    assert not kept.settled
    made.rename(first.folder)
    kept.look_again()
    assert list(kept.settled) == [0]
    assert heard.done == [first]
    now[0] = 100.0
    with pytest.raises(PathweaveError, match="and they are not there"):
        kept.look_again()


def test_short_runs_go_together_and_long_ones_alone(tmp_path: Path) -> None:
    session = opened(scenario(tmp_path, 260, Short="", Long=ENDLESS), tmp_path / "away")
    tasks = [*session.plan.missing]
    batches = Batches.of(tasks)
    taken: list[Task] = []
    sizes: dict[str, list[int]] = {"Short": [], "Long": []}
    while batch := batches.next(2):
        taken += batch
        labels = {task.identity.variant.label for task in batch}
        for label in labels if len(labels) == 1 else ():
            sizes[label].append(len(batch))
        for task in batch:
            seconds = 0.01 if task.identity.variant.label == "Short" else 30.0
            batches.took(task, seconds)
        batches.ended(len(batch))
    assert taken == tasks
    assert sizes["Short"][0] == 1  # nothing is known yet
    assert max(sizes["Short"]) == pytest.approx(TARGET_S / 0.01, rel=0.02)
    # The first is taken for as short as the others.
    assert sizes["Long"].count(1) >= len(sizes["Long"]) - 1


def test_the_last_batches_are_short(tmp_path: Path) -> None:
    session = opened(scenario(tmp_path, 60, Short=""), tmp_path / "away")
    batches = Batches(deque(session.plan.missing))
    batches.took(session.plan.missing[0], 0.01)
    batches.ended(100)
    sizes: list[int] = []
    while batch := batches.next(2):
        sizes.append(len(batch))
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] <= 15  # a quarter of them for each of two places, twice
    assert sizes[-1] == 1


def test_places_that_are_none_are_refused(tmp_path: Path) -> None:
    path = scenario(tmp_path, 1, DCTCP="")
    with pytest.raises(InputError, match=r'not "somewhere"'):
        pathweave.run(path, out=tmp_path / "away", dask="somewhere", progress=False)
    with pytest.raises(InputError, match=r"there is no file .*gone\.json"):
        pathweave.run(path, out=tmp_path / "a", dask=str(tmp_path / "gone.json"), progress=False)
    with pytest.raises(InputError, match="--jobs says how many workers --dask local has"):
        pathweave.run(path, out=tmp_path / "a", dask="tcp://a:1", jobs=2, progress=False)
    with pytest.raises(InputError, match=r"or a dask\.distributed\.Client, not int"):
        pathweave.run(path, out=tmp_path / "away", dask=3, progress=False)  # pyright: ignore[reportArgumentType]


def test_a_scheduler_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "_CONNECT_S", 0.2)
    with (
        pytest.raises(PathweaveError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9"),
        cluster.connected("tcp://127.0.0.1:9"),
    ):
        pass
    with (
        pytest.raises(PathweaveError, match=r"the name nobody\.invalid cannot be resolved"),
        cluster.connected("tcp://nobody.invalid:8786"),
    ):
        pass


def test_an_address_and_a_file_lead_to_a_scheduler(client: Client, tmp_path: Path) -> None:
    file = tmp_path / "scheduler.json"
    # As a scheduler writes it, without measurements of workers: some of them are no JSON.
    identity = client.scheduler_info(n_workers=0) | {"workers": {}}
    file.write_text(json.dumps(identity))
    for where in (client.scheduler.address, str(file)):
        with cluster.connected(where) as other:
            threads: Any = other.nthreads()
            assert sorted(threads) == sorted(client.nthreads())
            assert Spread.over(other).places == 2


def test_the_command_line_starts_workers_and_ends_them(tmp_path: Path) -> None:
    path = scenario(tmp_path, 1, DCTCP="", Long=ENDLESS)
    process = subprocess.Popen(
        [sys.executable, "-m", "pathweave", "run", str(path), "--dask", "local", "--jobs", "2"],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stderr is not None
    seen: list[str] = []
    for line in process.stderr:
        seen.append(line)
        begun = {text.split()[1] for text in seen if text.startswith("started")}
        if "Long" in begun and any(text.startswith("done") for text in seen):
            break
    os.killpg(process.pid, signal.SIGINT)  # as a terminal's Ctrl-C does, which workers get as well
    _, rest = process.communicate(timeout=60)
    assert process.returncode == 1
    assert rest == (
        "stopped  Long\ninterrupted: 1 of 2 runs are kept; the same command goes on from there\n"
    )
    # Nothing but what is said at home.
    assert {line.split()[0] for line in seen} == {"started", "done"}
    assert [run.name for run in sorted((tmp_path / "results/work/quick").iterdir())] == [
        "dctcp-s1",
        "scenario.json",
    ]


def test_pathweave_does_without_dask(tmp_path: Path) -> None:
    """Dask is imported when it is asked for, and said to be missing where it is."""
    path = scenario(tmp_path, 1, DCTCP="")
    (tmp_path / "distributed.py").write_text("raise ImportError('there is none')")
    program = (
        "import sys, pathweave\n"
        "from pathweave.cli import app\n"
        f"pathweave.run({str(path)!r}, progress=False)\n"
        "assert 'dask' not in sys.modules and 'distributed' not in sys.modules\n"
        "try:\n"
        f"    pathweave.run({str(path)!r}, progress=False, dask='local', fresh=True)\n"
        "except pathweave.PathweaveError as error:\n"
        "    print(error)\n"
    )
    home = environment()
    result = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env=home | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{home['PYTHONPATH']}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout == ("--dask needs Dask (there is none): pip install 'pathweave[dask]'\n")


def test_a_failed_run_is_heard_of_once(tmp_path: Path) -> None:
    (task,) = opened(scenario(tmp_path, 1, DCTCP=""), tmp_path / "away").plan.missing
    kept = Keeping(Heard())
    for _ in range(2):
        kept.settle(task, Failed(0, "tcp://one:1", "no"))
    assert kept.outcome.failed == [(task, "no")]
