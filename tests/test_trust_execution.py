"""Nothing that comes with a folder of results is executed; what a user's own scenario names is."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from subprocess import CompletedProcess

import pytest

import pathweave
from controller_scenario import RENO, command, scenario
from pathweave.core import core
from pathweave.results.basertt import largest_base_rtt_s
from pathweave.results.read import search

SHORT = scenario('{ python = "mine.py:Reno" }').replace("150 ms", "95 ms")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder with a scenario, its controller and their results."""
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "mine.py").write_text(RENO)
    (folder / "test.toml").write_text(SHORT)
    done = command(folder, "run", "test.toml")
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def given(home: Path, tmp_path: Path) -> Path:
    """The results as they come from somebody else, with a controller that leaves a trace.

    `scenario.json` says where it is, and the manifest has its hash.
    """
    folder = tmp_path / "given"
    shutil.copytree(home / "results", folder / "results")
    evil = f"open({str(tmp_path / 'trace')!r}, 'w').close()\n{RENO}"
    (folder / "results/test/quick/mine.py").write_text(evil)
    about = folder / "results/test/quick/scenario.json"
    said = json.loads(about.read_text())
    said["path"] = str(folder / "results/test/quick/test.toml")
    about.write_text(json.dumps(said))
    manifest = folder / "results/test/quick/base-s1/manifest.json"
    said = json.loads(manifest.read_text())
    controller = said["resolved"]["traffic"][0]["controller"]
    controller["sha256"] = hashlib.sha256(evil.encode()).hexdigest()
    said["hash"] = core().hash_of_resolved(json.dumps(said["resolved"]), said["seed"])
    manifest.write_text(json.dumps(said))
    return folder


VERBS = [
    ("verify", "results"),
    ("verify", "results", "--hashes"),
    ("merge", "results", "--into", "all"),
    ("report", "results", "--no-pictures"),
    ("compare", "results", "results"),
    ("results", "results"),
    ("export", "results"),
]


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_no_verb_executes_what_a_folder_has(
    given: Path, tmp_path: Path, verb: tuple[str, ...]
) -> None:
    done = command(given, *verb)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not (tmp_path / "trace").exists()


def test_loading_executes_nothing(given: Path, tmp_path: Path) -> None:
    results = pathweave.load(given / "results")
    assert results.flows.height > 0
    assert results.summary().height > 0
    assert largest_base_rtt_s(results.stored[0])
    assert not (tmp_path / "trace").exists()


def test_verify_says_what_it_did_not_run(given: Path) -> None:
    done = command(given, "verify", "results")
    assert done.returncode == 0
    assert "0 of 1 runs: the same to the last bit" in done.stdout
    assert "1 of 1 runs: files checked only" in done.stdout
    assert "running it would execute mine.py, which --scenario can allow" in done.stderr


def test_a_scenario_of_ones_own_lends_its_controllers(home: Path) -> None:
    done = command(home, "verify", "results", "--scenario", "test.toml")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 of 1 runs: the same to the last bit" in done.stdout
    assert "files checked only" not in done.stdout
    assert _announced(done) == [f"controller: mine.py, SHA-256 {_digest(home / 'mine.py')}"]


def test_a_scenario_lends_nothing_with_another_hash(
    given: Path, home: Path, tmp_path: Path
) -> None:
    done = command(given, "verify", "results", "--scenario", str(home / "test.toml"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 of 1 runs: files checked only" in done.stdout
    assert "no scenario of --scenario has a controller with its contents" in done.stderr
    assert not (tmp_path / "trace").exists()


def test_a_file_that_the_scenario_does_not_name_is_not_lent(
    given: Path, home: Path, tmp_path: Path
) -> None:
    """The folder of a user's scenario has other programs than its controllers."""
    shutil.copy(given / "results/test/quick/mine.py", home / "other.py")
    manifest = given / "results/test/quick/base-s1/manifest.json"
    manifest.write_text(manifest.read_text().replace("mine.py", "other.py"))
    done = command(given, "verify", "results", "--scenario", str(home / "test.toml"))
    assert "1 of 1 runs: files checked only" in done.stdout
    assert not (tmp_path / "trace").exists()


def test_paths_do_not_depend_on_the_controller(home: Path) -> None:
    """What has a stand-in, the base RTT, is that of a controller of Pathweave's own."""
    (home / "own.toml").write_text(SHORT.replace('{ python = "mine.py:Reno" }', '"xmp"'))
    done = command(home, "run", "own.toml")
    assert done.returncode == 0, done.stderr
    found = [largest_base_rtt_s(each.runs[0]) for each in search([home / "results"]).scenarios]
    assert len(found) == 2
    assert found[0] == found[1]
    assert found[0]


def test_merge_joins_shards_of_ones_own_controller(home: Path) -> None:
    for part in ("1/2", "2/2"):
        options = ["--seeds", "2", "--shard", part, "--out", part[0]]
        done = command(home, "run", "test.toml", *options)
        assert done.returncode == 0, done.stderr
    done = command(home, "merge", "1", "2", "--into", "all")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "mine.py" not in done.stdout + done.stderr
    done = command(home, "verify", "all", "--scenario", "test.toml")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 of 2 runs: the same to the last bit" in done.stdout


@pytest.mark.xdist_group("dask")
def test_workers_of_dask_run_ones_own_controller(home: Path) -> None:
    done = command(home, "run", "test.toml", "--dask", "local", "--jobs", "1", "--out", "away")
    assert done.returncode == 0, done.stdout + done.stderr
    assert _announced(done) == [f"controller: mine.py, SHA-256 {_digest(home / 'mine.py')}"]
    manifest = "test/quick/base-s1/manifest.json"
    assert (home / "away" / manifest).read_bytes() == (home / "results" / manifest).read_bytes()


@pytest.mark.parametrize("verb", [("run",), ("run", "--dry-run"), ("check",), ("check", "--json")])
def test_controllers_are_named_before_they_are_executed(home: Path, verb: tuple[str, ...]) -> None:
    done = command(home, *verb, "test.toml")
    assert _announced(done) == [f"controller: mine.py, SHA-256 {_digest(home / 'mine.py')}"]
    (home / "mine.py").write_text("raise SystemExit\n")
    done = command(home, *verb, "test.toml")
    assert done.returncode == 2
    assert _announced(done) == [f"controller: mine.py, SHA-256 {_digest(home / 'mine.py')}"]


def _announced(done: CompletedProcess[str]) -> list[str]:
    return [line for line in done.stderr.splitlines() if line.startswith("controller: ")]


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
