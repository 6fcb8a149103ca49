"""Runs of controllers in Python: what fails, is cancelled, is run again, is left."""

from __future__ import annotations

import gc
import json
import signal
import subprocess
import sys
import time
import weakref
from pathlib import Path
from typing import TYPE_CHECKING

from conftest import environment
from controller_scenario import RENO, broken, command, finished, scenario
from pathweave.controller import loading
from pathweave.core import core

if TYPE_CHECKING:
    import pytest


def test_a_run_that_fails_is_alone(tmp_path: Path) -> None:
    text = broken(tmp_path, "1 / 0")
    text += '\n[variants.c.broken]\n[variants.c.sound]\n"traffic.web.controller" = "reno"\n'
    (tmp_path / "test.toml").write_text(text)
    done = command(tmp_path, "run", "test.toml")
    assert done.returncode == 1
    assert "mine.py, line 11, in on_ack: ZeroDivisionError: division by zero" in " ".join(
        done.stderr.split()
    )
    assert (tmp_path / "results/test/quick/sound-s1/manifest.json").exists()
    assert not (tmp_path / "results/test/quick/broken-s1/manifest.json").exists()


def test_editing_the_file_makes_results_missing_and_verify_names_it(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(RENO)
    (tmp_path / "test.toml").write_text(
        scenario('{ python = "mine.py:Reno" }').replace("150 ms", "95 ms")
    )
    assert command(tmp_path, "run", "test.toml").returncode == 0
    runs = list((tmp_path / "results/test").rglob("manifest.json"))
    assert len(runs) == 1
    before = json.loads(runs[0].read_text())
    group = before["resolved"]["traffic"][0]["controller"]
    assert group["python"] == "mine.py:Reno"
    assert len(group["sha256"]) == 64
    assert str(tmp_path) not in runs[0].read_text()
    again = command(tmp_path, "run", "test.toml", "--dry-run")
    assert "1 of 1" in again.stdout + again.stderr or "nothing" in again.stdout + again.stderr
    verify = ("verify", "results", "--scenario", "test.toml")
    verified = command(tmp_path, *verify)
    assert "1 of 1 runs: the same to the last bit" in verified.stdout, verified.stderr
    (tmp_path / "mine.py").write_text(RENO.replace("packets / ", "2 * packets / "))
    told = command(tmp_path, *verify)
    assert "0 of 1 runs: the same to the last bit" in told.stdout
    assert "it needs mine.py, and no scenario of --scenario" in told.stderr
    assert command(tmp_path, "run", "test.toml").returncode == 0
    hashes = {
        json.loads(path.read_text())["results_hash"]
        for path in (tmp_path / "results/test").rglob("manifest.json")
    }
    assert hashes != {before["results_hash"]}


def test_a_run_can_be_cancelled_while_it_is_in_the_interpreter(tmp_path: Path) -> None:
    text = broken(tmp_path, "pass").replace("150 ms", "100 s")
    loaded = core().load_text(text, "test", str(tmp_path), None, [], [], 1)
    run = loaded.variants[0].prepare(1)
    run.start()
    deadline = time.monotonic() + 60
    while run.poll()["time_s"] < 0.05:
        assert time.monotonic() < deadline
        time.sleep(0.005)
    run.cancel()
    while run.poll()["state"] == "running":
        assert time.monotonic() < deadline
        time.sleep(0.005)
    assert run.poll()["state"] == "cancelled"


def test_the_interpreter_can_end_while_a_run_goes_on(tmp_path: Path) -> None:
    (tmp_path / "test.toml").write_text(broken(tmp_path, "pass").replace("150 ms", "100 s"))
    program = """
from pathweave.core import core
run = core().load("test.toml", None, [], [], 1).variants[0].prepare(1)
run.start()
while run.poll()["packet_hops"] == 0:
    pass
print("ends")
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "ends\n", "")


def test_ctrl_c_ends_a_run_that_is_in_the_interpreter(tmp_path: Path) -> None:
    text = broken(tmp_path, "pass").replace("150 ms", "1000 s")
    (tmp_path / "test.toml").write_text(text)
    process = subprocess.Popen(
        [sys.executable, "-m", "pathweave", "run", "test.toml"],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    while "started" not in process.stderr.readline():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, messages = process.communicate(timeout=60)
    assert process.returncode == 1, messages
    assert "interrupted: 0 of 1 runs are kept" in messages


def test_nothing_of_a_file_is_left_when_its_scenario_has_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    classes: list[weakref.ref[type]] = []
    load = loading.load

    def watched(*arguments: object) -> object:
        found = load(*arguments)  # type: ignore[arg-type]
        classes.append(weakref.ref(found.class_))
        return found

    monkeypatch.setattr(loading, "load", watched)
    text = broken(tmp_path, "pass").replace("150 ms", "95 ms")
    for _ in range(3):
        finished(text, tmp_path)
        finished(text.replace("controller = {", "controller = { "), tmp_path)
    for _ in range(3):
        core().version()  # what threads have dropped goes with the next call
        gc.collect()
    assert len(classes) == 6
    assert [each() for each in classes] == [None] * 6
    assert not [name for name in sys.modules if name.startswith("pathweave.controller.loaded")]


def test_runs_of_shards_are_merged_where_the_file_is_not(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "mine.py").write_text(RENO)
    (home / "test.toml").write_text(
        scenario('{ python = "mine.py:Reno" }').replace("150 ms", "95 ms")
    )
    for part in ("1/2", "2/2"):
        out = f"{tmp_path}/{part[0]}"
        options = ["--seeds", "2", "--shard", part, "--out", out]
        done = command(home, "run", "test.toml", *options)
        assert done.returncode == 0, done.stderr
    (home / "mine.py").unlink()
    done = command(tmp_path, "merge", "1", "2", "--into", "all")
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(list((tmp_path / "all").rglob("manifest.json"))) == 2


def test_a_worker_elsewhere_gets_the_file_with_the_scenario(tmp_path: Path) -> None:
    known = core()
    (tmp_path / "mine.py").write_text(RENO)
    text = scenario('{ python = "mine.py:Reno" }')
    first = known.load_text(text, "test", str(tmp_path), None, [], [], 1).variants[0]
    assert dict(first.files) == {"mine.py": RENO.encode()}
    (tmp_path / "mine.py").unlink()
    there = known.from_resolved(first.resolved, files=first.files).variants[0]
    assert there.hash(1) == first.hash(1) == known.hash_of_resolved(first.resolved, 1)
    assert there.resolved == first.resolved
