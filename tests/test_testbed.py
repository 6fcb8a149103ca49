"""`pathweave testbed` against a fake binary: what is played, kept, resumed, and how it ends."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import fake_linux
import pathweave
from conftest import Command, environment, fake_command, write_scenario
from pathweave.report.build import build_report
from pathweave.results.read import find_runs
from pathweave.running.playing import Playing
from test_kernel import calls

AXES = 'scheme = ["DCTCP", "XMP-4"]'
FOLDER = "results/tab1/quick-testbed"


def write_testbed(folder: Path, testbed: str = "", **more: str) -> Path:
    """A scenario for the fake core and the fake binary."""
    fake = more.pop("fake", "flows = 4\nphases = true")
    return write_scenario(folder, axes=AXES, fake=f"{fake}\n[testbed]\n{testbed}", **more)


@pytest.fixture
def play(cli: Command, tmp_path: Path) -> Command:
    """Run `pathweave testbed tab1.toml` with the fake binary."""
    program = str(fake_linux.install(tmp_path))

    def call(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        return cli("testbed", "tab1.toml", *arguments, **{"PATHWEAVE_LINUX": program, **more})

    return call


def manifest(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "manifest.json").read_text())


def words(text: str) -> str:
    return " ".join(text.split())


def test_every_variant_and_seed_is_a_call(play: Command, tmp_path: Path) -> None:
    write_testbed(tmp_path)
    done = play("--seeds", "2", "--set", "a=1", "--set", "b=2", "--size", "paper")
    assert done.returncode == 0, done.stderr
    asked = [
        (call[call.index("--variant") + 1], call[call.index("--seed") + 1])
        for call in calls(tmp_path)
    ]
    assert asked == [("dctcp", "1"), ("dctcp", "2"), ("xmp-4", "1"), ("xmp-4", "2")]
    first = calls(tmp_path)[0]
    assert first[:8] == ["testbed", "tab1.toml", "--size", "paper", "--set", "a=1", "--set", "b=2"]
    assert "Kernel: 6.18.5" in done.stdout
    assert "Runs: 4 valid, 0 invalid" in done.stdout
    folder = tmp_path / "results/tab1/paper-a=1-b=2-testbed"
    assert {path.name for path in folder.iterdir()} == {
        "scenario.json", "dctcp-s1", "dctcp-s2", "xmp-4-s1", "xmp-4-s2",
    }  # fmt: skip
    assert manifest(folder / "xmp-4-s1")["counters"]["packet_hops"] == 54_321


def test_manifest_says_how_it_went(play: Command, tmp_path: Path) -> None:
    write_testbed(tmp_path)
    assert play("--stretch", "10", "--only", "scheme=XMP-4").returncode == 0
    about = manifest(tmp_path / "results/tab1/quick-testbed-stretch10/xmp-4-s1")
    assert about["backend"] == "testbed"
    assert about["testbed"]["stretch"] == 10
    assert about["testbed"]["valid"] is True
    assert about["testbed"]["controllers"] == {"xmp": "pw_xmp"}
    assert about["testbed"]["lateness_s"]["p99"] == pytest.approx(9e-4)
    again = json.loads(
        (tmp_path / "results/tab1/quick-testbed-stretch10/scenario.json").read_text()
    )
    assert again["command"] == "pathweave testbed tab1.toml --stretch 10"


def test_a_group_may_have_a_control_of_the_kernels_own(play: Command, tmp_path: Path) -> None:
    write_testbed(tmp_path)
    bbr = ("--controller", "flows=bbr", "--only", "scheme=XMP-4")
    assert play("--only", "scheme=XMP-4").returncode == 0
    assert play(*bbr).returncode == 0
    first, second = calls(tmp_path)
    assert "--controller" not in first
    assert second[second.index("--controller") + 1] == "flows=bbr"
    assert "there already" in play(*bbr).stderr
    folder = tmp_path / f"{FOLDER}-flows=bbr"
    again = json.loads((folder / "scenario.json").read_text())
    assert again["command"] == "pathweave testbed tab1.toml --controller flows=bbr"


def test_hosts_may_send_packet_by_packet(play: Command, tmp_path: Path) -> None:
    write_testbed(tmp_path)
    options = ("--stretch", "10", "--no-gso", "--only", "scheme=XMP-4")
    done = play(*options)
    assert done.returncode == 0
    assert "Segmentation offload: off" in done.stdout
    assert "--no-gso" in calls(tmp_path)[0]
    folder = tmp_path / "results/tab1/quick-testbed-stretch10-no-gso"
    assert manifest(folder / "xmp-4-s1")["testbed"]["gso"] is False
    again = json.loads((folder / "scenario.json").read_text())
    assert again["command"] == "pathweave testbed tab1.toml --stretch 10 --no-gso"
    [found] = find_runs([folder])
    assert found.backend == "testbed, stretch 10, no GSO"
    # One with bundles that stands where this one's belongs is not taken for it.
    assert play("--stretch", "10", "--only", "scheme=XMP-4").returncode == 0
    (folder / "xmp-4-s1").rename(tmp_path / "other")
    (tmp_path / "results/tab1/quick-testbed-stretch10/xmp-4-s1").rename(folder / "xmp-4-s1")
    assert "there already" not in play(*options).stderr


def test_groups_may_run_over_quic(play: Command, tmp_path: Path) -> None:
    write_testbed(tmp_path)
    options = ("--transport", "quic", "--transport", "small=quic", "--only", "scheme=XMP-4")
    assert play("--only", "scheme=XMP-4").returncode == 0
    assert play(*options).returncode == 0
    first, second = calls(tmp_path)
    assert "--transport" not in first
    assert [second[at + 1] for at, word in enumerate(second) if word == "--transport"] == [
        "quic",
        "small=quic",
    ]
    folder = tmp_path / f"{FOLDER}-quic-small=quic"
    again = json.loads((folder / "scenario.json").read_text())
    assert again["command"] == (
        "pathweave testbed tab1.toml --transport quic --transport small=quic"
    )
    [found] = find_runs([folder])
    assert found.backend == "testbed, flows and small over QUIC"
    # One over TCP that stands where this one's belongs is not taken for it.
    (folder / "xmp-4-s1").rename(tmp_path / "other")
    (tmp_path / FOLDER / "xmp-4-s1").rename(folder / "xmp-4-s1")
    assert "there already" not in play(*options).stderr


def test_folders_and_hashes_are_the_backends_own(
    cli: Command, play: Command, tmp_path: Path
) -> None:
    write_testbed(tmp_path)
    assert cli("run", "tab1.toml").returncode == 0
    assert play().returncode == 0
    assert play("--stretch", "10").returncode == 0
    hashes = {
        manifest(tmp_path / "results/tab1" / name / "dctcp-s1")["hash"]
        for name in ("quick", "quick-testbed", "quick-testbed-stretch10")
    }
    assert len(hashes) == 3
    assert len(calls(tmp_path)) == 4
    again = play("--stretch", "10")
    assert "2 of 2 runs are there already" in again.stderr
    assert len(calls(tmp_path)) == 4
    # A run of another stretch that stands where this one's belongs is not taken for it.
    target = tmp_path / FOLDER
    for path in target.glob("*-s1"):
        path.rename(tmp_path / path.name)
    for path in (tmp_path / "results/tab1/quick-testbed-stretch10").glob("*-s1"):
        path.rename(target / path.name)
    assert "there already" not in play().stderr
    assert len(calls(tmp_path)) == 6
    assert play("--fresh").returncode == 0
    assert len(calls(tmp_path)) == 8


def test_the_order_of_groups_does_not_matter() -> None:
    groups = ("a=bbr", "b=cubic")
    assert Playing(controllers=groups).key == Playing(controllers=groups[::-1]).key
    assert Playing(controllers=groups).key != Playing(controllers=groups, gso=False).key


def test_published_values_are_left_to_the_simulation(play: Command, tmp_path: Path) -> None:
    write_testbed(tmp_path)
    entry = "[[tab1.number]]\nquantity = 'goodput'\nunit = 'Mbps'\nvalue = 513.6\n"
    (tmp_path / "expected.toml").write_text(entry)
    assert "published" not in play().stdout
    (tmp_path / "expected.toml").write_text(f"{entry}backends = ['testbed']\n")
    assert "(513.6)" in play().stdout


def test_failed_run_leaves_the_others(play: Command, tmp_path: Path) -> None:
    write_testbed(tmp_path, 'fail = ["dctcp"]')
    done = play()
    assert done.returncode == 1
    assert "error: DCTCP failed: libbpf: noise cannot make a namespace" in words(done.stderr)
    assert "Traceback" not in done.stderr
    assert [path.parent.name for path in (tmp_path / FOLDER).glob("*/manifest.json")] == [
        "xmp-4-s1"
    ]
    assert not list((tmp_path / FOLDER).glob(".*"))


def test_refused_variant_is_tried_once(play: Command, tmp_path: Path) -> None:
    write_testbed(tmp_path, 'refuse = ["dctcp"]')
    done = play("--seeds", "3")
    assert done.returncode == 2
    said = words(done.stderr)
    assert "error: DCTCP, seed 1 refused: XCP needs switches of its own hint: leave it out" in said
    variants = [call[call.index("--variant") + 1] for call in calls(tmp_path)]
    assert variants == ["dctcp", "xmp-4", "xmp-4", "xmp-4"]


@pytest.mark.parametrize(
    ("spoilt", "said"),
    [
        ("{}", "'testbed' is missing"),
        ("[", "is not a JSON file"),
        (None, "No such file"),
    ],
)
def test_unusable_results_are_a_failure(
    play: Command, tmp_path: Path, spoilt: str | None, said: str
) -> None:
    write_testbed(tmp_path)
    program = tmp_path / "spoilt"
    write = f"[ -z '{spoilt or ''}' ] || printf '%s' '{spoilt}' > \"$1\""
    program.write_text(f'#!/bin/sh\nwhile [ "$1" != --output ]; do shift; done; shift\n{write}\n')
    program.chmod(0o755)
    done = play("--only", "scheme=DCTCP", PATHWEAVE_LINUX=str(program))
    assert done.returncode == 1
    assert said in words(done.stderr)
    assert "Traceback" not in done.stderr


def test_missing_binary_and_wrong_options(
    play: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_testbed(tmp_path)
    # Where `make linux` has been run, the real binary is the interpreter's neighbour.
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    done = play(PATHWEAVE_LINUX="", PATH="/nowhere")
    assert done.returncode == 1
    assert "`make linux` builds it" in words(done.stderr)
    broken = tmp_path / "broken"
    broken.write_text("#!/no/such/interpreter\n")
    broken.chmod(0o755)
    done = play(PATHWEAVE_LINUX=str(broken))
    assert (done.returncode, f"cannot run {broken}" in done.stderr.replace("\n", "")) == (1, True)
    assert play("--stretch", "0").returncode == 2
    assert play("--seeds", "2", "--valid", "2").returncode == 2
    assert not list((tmp_path / "results").glob("*/*/manifest.json"))


def test_clean_needs_no_scenario(cli: Command, process: Command, tmp_path: Path) -> None:
    program = str(fake_linux.install(tmp_path))
    done = process("testbed", "--clean", PATHWEAVE_LINUX=program)
    assert (done.returncode, done.stdout) == (0, "pwt-12-h0\n"), done.stderr
    assert calls(tmp_path) == [["testbed", "--clean"]]
    said = cli("testbed", "--help").stdout
    assert "--clean" in said
    assert "Example: pathweave testbed --clean" in said


def test_invalid_runs_are_kept_shown_and_left_out(play: Command, tmp_path: Path) -> None:
    write_testbed(tmp_path, 'invalid = ["dctcp-s2", "xmp-4-s1", "xmp-4-s2", "xmp-4-s3"]')
    done = play("--seeds", "3")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("invalid: departures were too late") == 4
    assert "Runs: 2 valid, 4 invalid" in done.stdout
    assert "DCTCP, seed 2: invalid and left out, departures were too late" in words(done.stdout)
    assert "XMP-4: no valid run" in done.stdout
    results = pathweave.load(tmp_path / FOLDER)
    assert len(results) == 6
    assert results.runs["invalid"].null_count() == 2
    assert set(results.flows["seed"]) == {1, 3}
    assert set(results.flows["backend"]) == {"testbed"}
    summary = results.summary()
    assert summary["variant"].to_list() == ["DCTCP"]
    assert summary["seeds"].to_list() == [2]
    own = [
        pl.read_parquet(tmp_path / FOLDER / f"dctcp-s{seed}/flows.parquet")["goodput_bps"].sum() / 4
        for seed in (1, 3)
    ]
    assert summary["goodput_mean_bps"].item() == pytest.approx(sum(own) / 2)
    everything = pathweave.load(tmp_path / FOLDER, invalid=True)
    assert everything.flows.height == 3 * results.flows.height
    only = pathweave.load(tmp_path / FOLDER / "xmp-4-s1")
    assert only.flows.is_empty()
    assert only.runs["invalid"].to_list() == ["departures were too late"]


def test_what_is_true_of_all_runs_is_said_once(play: Command, tmp_path: Path) -> None:
    write_testbed(tmp_path, 'notes = ["RTTs are sampled", "this run: departures were too late"]')
    done = play("--seeds", "2")
    assert words(done.stderr).count("RTTs are sampled") == 1
    page = build_report([tmp_path / FOLDER], pictures=False).read_text()
    assert page.count("RTTs are sampled") == 1
    assert "All runs: RTTs are sampled" in page
    write_testbed(
        tmp_path, 'notes = ["this run: departures were too late"]\ninvalid = ["dctcp-s1"]'
    )
    done = play("--only", "scheme=DCTCP", "--fresh")
    assert words(done.stderr).count("departures were too late") == 1


def test_seeds_go_on_until_enough_are_valid(play: Command, tmp_path: Path) -> None:
    write_testbed(tmp_path, 'invalid = ["dctcp-s1", "dctcp-s3"]')
    done = play("--valid", "2")
    assert done.returncode == 0, done.stderr
    seeds = [(call[3], call[5]) for call in calls(tmp_path)]
    assert seeds == [
        ("dctcp", "1"), ("dctcp", "2"), ("dctcp", "3"), ("dctcp", "4"), ("xmp-4", "1"),
        ("xmp-4", "2"),
    ]  # fmt: skip
    # What is there counts, valid or not.
    assert play("--valid", "3").returncode == 0
    assert [(call[3], call[5]) for call in calls(tmp_path)][6:] == [("dctcp", "5"), ("xmp-4", "3")]


def test_three_times_as_many_runs_are_enough(play: Command, tmp_path: Path) -> None:
    write_testbed(tmp_path, f"invalid = {[f'xmp-4-s{seed}' for seed in range(2, 10)]}")
    done = play("--valid", "2")
    assert done.returncode == 1
    assert "XMP-4: only 1 of 2 runs are valid" in words(done.stderr)
    assert len(calls(tmp_path)) == 2 + 6


def start(folder: Path, program: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        fake_command(["testbed", "tab1.toml"]),
        cwd=folder,
        env=environment(PATHWEAVE_LINUX=str(program)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    assert "started" in process.stderr.readline()
    wait_for(folder / "waiting")
    return process


def wait_for(path: Path) -> None:
    end = time.monotonic() + 30
    while not path.exists():
        assert time.monotonic() < end, f"no {path}"
        time.sleep(0.01)


def test_interrupted_and_resumed(play: Command, tmp_path: Path) -> None:
    write_testbed(tmp_path, "wait = true")
    process = start(tmp_path, fake_linux.install(tmp_path))
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 1
    assert "interrupted: 0 of 2 runs are kept" in words(said)
    assert json.loads((tmp_path / "ended.json").read_text()) == [signal.SIGINT]
    assert [path.name for path in (tmp_path / FOLDER).iterdir()] == ["scenario.json"]
    assert len(calls(tmp_path)) == 1
    write_testbed(tmp_path)
    assert play().returncode == 0


def test_second_interrupt_kills_and_tells_the_binary(tmp_path: Path) -> None:
    write_testbed(tmp_path, "wait = true\ndeaf = true")
    process = start(tmp_path, fake_linux.install(tmp_path))
    process.send_signal(signal.SIGINT)
    wait_for(tmp_path / "signalled")
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == -signal.SIGINT
    wait_for(tmp_path / "ended.json")


def test_binary_ends_when_nobody_listens(tmp_path: Path) -> None:
    write_testbed(tmp_path, "wait = true")
    process = start(tmp_path, fake_linux.install(tmp_path))
    process.kill()
    process.communicate(timeout=30)
    wait_for(tmp_path / "ended.json")
    assert json.loads((tmp_path / "ended.json").read_text()) == [signal.SIGPIPE]


def test_progress_is_what_the_binary_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pathweave.running.testbed import PlayedRun

    write_testbed(tmp_path, "wait = true")
    monkeypatch.setenv("PYTHONPATH", environment()["PYTHONPATH"])
    monkeypatch.chdir(tmp_path)
    program = str(fake_linux.install(tmp_path))
    words = [program, "testbed", "tab1.toml", "--variant", "dctcp", "--seed", "1"]
    run = PlayedRun(words, tmp_path / "scratch")
    run.start()
    wait_for(tmp_path / "waiting")
    progress = run.poll()
    assert progress["state"] == "running"
    assert (progress["fraction"], progress["time_s"], progress["packet_hops"]) == (0.25, 0.5, 25000)
    run.cancel()
    end = time.monotonic() + 30
    while run.poll()["state"] == "running":
        assert time.monotonic() < end
        time.sleep(0.01)
    assert run.poll()["state"] == "cancelled"
    assert not (tmp_path / "scratch").exists()
