"""`pathweave run` against a fake core: what is run, kept, resumed, and how it ends."""

from __future__ import annotations

import errno
import json
import os
import pty
import re
import select
import signal
import subprocess
import time
from pathlib import Path

import pytest

from conftest import Command, environment, fake_command, run_here, write_scenario

ANSI = re.compile("\x1b\\[")


def tree(folder: Path) -> dict[str, bytes]:
    """Every file's bytes, but for the times that a run took."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "timing.json"
    }


def test_writes_the_layout(cli: Command, tmp_path: Path) -> None:
    write_scenario(tmp_path)
    done = cli("run", "tab1.toml", "--seeds", "2")
    assert done.returncode == 0, done.stderr
    runs = sorted(
        path.name for path in (tmp_path / "results" / "tab1" / "quick").iterdir() if path.is_dir()
    )
    assert len(runs) == 8
    assert "xmp-4-incast-s2" in runs
    run = tmp_path / "results/tab1/quick/xmp-4-incast-s2"
    names = {path.name for path in run.iterdir()}
    assert names == {
        "manifest.json", "timing.json", "flows.parquet", "subflows.parquet", "links.parquet",
        "jobs.parquet",
    }  # fmt: skip
    manifest = json.loads((run / "manifest.json").read_text())
    assert manifest["seed"] == 2
    assert manifest["variant"]["axes"] == {"scheme": "XMP-4", "pattern": "Incast"}
    assert manifest["counters"]["packet_hops"] == 60_000_000
    assert manifest["resolved"]["axes"] == manifest["variant"]["axes"]


def test_other_sizes_do_not_replace_results(cli: Command, tmp_path: Path) -> None:
    write_scenario(tmp_path)
    assert cli("run", "tab1.toml", "--only", "scheme=DCTCP").returncode == 0
    before = tree(tmp_path / "results/tab1/quick")
    assert cli("run", "tab1.toml", "--size", "paper", "--only", "scheme=DCTCP").returncode == 0
    assert tree(tmp_path / "results/tab1/quick") == before
    assert (tmp_path / "results/tab1/paper/dctcp-incast-s1/manifest.json").is_file()


def test_equal_bits_whatever_the_jobs(cli: Command, tmp_path: Path) -> None:
    write_scenario(tmp_path, fake="flows = 20\nseries = true\nseconds = 0.05")
    for jobs in ("1", "2", "5"):
        done = cli("run", "tab1.toml", "--jobs", jobs, "--out", f"out{jobs}")
        assert done.returncode == 0, done.stderr
    assert tree(tmp_path / "out1") == tree(tmp_path / "out2") == tree(tmp_path / "out5")


def test_second_start_runs_what_is_missing_or_changed(cli: Command, tmp_path: Path) -> None:
    write_scenario(tmp_path)
    assert cli("run", "tab1.toml").returncode == 0
    again = cli("run", "tab1.toml")
    assert again.returncode == 0
    assert "4 of 4 runs are there already" in again.stderr
    assert "started" not in again.stderr
    assert 'Flows of "large"' in again.stdout
    (tmp_path / "results/tab1/quick/dctcp-incast-s1/flows.parquet").unlink()
    third = cli("run", "tab1.toml")
    assert "3 of 4 runs are there already" in third.stderr
    changed = cli("run", "tab1.toml", "--set", "fabric.k=4")
    assert changed.stderr.count("done  ") == 4
    fresh = cli("run", "tab1.toml", "--set", "fabric.k=4", "--fresh")
    assert fresh.stderr.count("done  ") == 4


def test_failed_run_leaves_the_others(cli: Command, tmp_path: Path) -> None:
    write_scenario(tmp_path, fake='flows = 20\nfail = ["DCTCP, Incast"]')
    done = cli("run", "tab1.toml")
    assert done.returncode == 1
    assert "packets are not conserved" in done.stderr
    assert len(list((tmp_path / "results/tab1/quick").glob("*/manifest.json"))) == 3
    assert "Traceback" not in done.stderr


def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        fake_command(arguments),
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for_runs(folder: Path, count: int) -> None:
    end = time.monotonic() + 30
    while len(list(folder.glob("*/manifest.json"))) < count:
        assert time.monotonic() < end
        time.sleep(0.02)


def test_interrupted_and_resumed_equals_uninterrupted(cli: Command, tmp_path: Path) -> None:
    write_scenario(tmp_path, fake="flows = 40\nseconds = 0.5")
    process = start(tmp_path, "run", "tab1.toml", "--jobs", "1", "--seeds", "2", "--out", "broken")
    wait_for_runs(tmp_path / "broken/tab1/quick", 2)
    process.send_signal(signal.SIGINT)
    _, messages = process.communicate(timeout=30)
    assert process.returncode == 1
    kept = len(list((tmp_path / "broken/tab1/quick").glob("*/manifest.json")))
    assert 2 <= kept < 8
    assert f"{kept} of 8 runs are kept" in " ".join(messages.split())
    assert not list((tmp_path / "broken/tab1/quick").glob(".*"))
    resumed = cli("run", "tab1.toml", "--seeds", "2", "--out", "broken")
    assert f"{kept} of 8 runs are there already" in resumed.stderr
    assert cli("run", "tab1.toml", "--seeds", "2", "--out", "whole").returncode == 0
    assert tree(tmp_path / "broken") == tree(tmp_path / "whole")


def test_second_interrupt_kills(tmp_path: Path) -> None:
    # A run that does not hear of its cancellation: the first interrupt cannot end it.
    write_scenario(tmp_path, fake="flows = 40\nseconds = 60\ndeaf = true")
    process = start(tmp_path, "run", "tab1.toml", "--jobs", "1")
    assert process.stderr is not None
    assert "started" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    time.sleep(0.5)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == -signal.SIGINT


def test_leftovers_of_a_killed_process_are_swept(cli: Command, tmp_path: Path) -> None:
    write_scenario(tmp_path)
    gone = subprocess.Popen(["true"])
    gone.wait()
    left = tmp_path / f"results/tab1/quick/.xmp-4-incast-s1.partial-{gone.pid}"
    ours = tmp_path / f"results/tab1/quick/.xmp-4-incast-s1.partial-{os.getpid()}"
    left.mkdir(parents=True)
    ours.mkdir()
    assert cli("run", "tab1.toml").returncode == 0
    assert not left.exists()
    assert ours.exists()


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["run", "nowhere.toml"], 2, "nowhere.toml is not there"),
        (["run", "."], 2, "is a folder"),
        (["run", "broken.toml"], 2, "broken.toml:1:1: unknown key `broken`"),
        (["run", "tab1.toml", "--only", "scheme=Vegas"], 2, "no such variant"),
        (["run", "tab1.toml", "--seeds", "0"], 2, "--seeds"),
        (["run", "tab1.toml", "--sneeds", "3"], 2, "--sneeds"),
        (["run", "tab1.toml", "--out", "tab1.toml"], 1, "cannot make the folder"),
        (["report", "nowhere"], 2, "no folder nowhere"),
        (["report", "empty"], 2, "no finished run"),
        (["list", "things"], 2, "things"),
    ],
)
def test_wrong_input(
    cli: Command, tmp_path: Path, arguments: list[str], code: int, said: str
) -> None:
    write_scenario(tmp_path)
    write_scenario(tmp_path, "broken", top="broken = 1")
    (tmp_path / "empty").mkdir()
    done = cli(*arguments)
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "results").exists()


def test_mistake_in_expected_values_is_found_before_running(cli: Command, tmp_path: Path) -> None:
    write_scenario(tmp_path)
    (tmp_path / "expected.toml").write_text('[[tab1.number]]\nquantity = "speed"\nvalue = 1\n')
    done = cli("run", "tab1.toml")
    assert done.returncode == 2
    assert "expected.toml: entry 1 of [[tab1.number]]: quantity must be one of" in " ".join(
        done.stderr.split()
    )
    assert not (tmp_path / "results").exists()


def test_full_disk_is_one_line(fake: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pathweave.running import pool

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "flows.parquet")

    scenario = write_scenario(tmp_path)
    monkeypatch.setattr(pool, "write_run", full)
    code, _, said = run_here("run", str(scenario), "--out", str(tmp_path / "out"))
    assert code == 1
    said = " ".join(said.split())
    assert "is full; finished runs are kept" in said
    assert "Traceback" not in said


def test_pipe_output_is_plain_and_narrow(cli: Command, tmp_path: Path) -> None:
    write_scenario(
        tmp_path,
        axes='scheme = ["DCTCP", "A scheme with a very long name indeed, longer than a column"]',
        fake="flows = 900\nsmall = 2000\njobs = 50",
    )
    done = cli("run", "tab1.toml", "--seeds", "2")
    assert done.returncode == 0, done.stderr
    assert not ANSI.search(done.stdout + done.stderr)
    assert max(len(line) for line in done.stdout.splitlines()) <= 80


def test_progress_on_a_pipe_is_not_cut_and_names_its_times(
    fake: None, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from pathweave.cli import progress
    from pathweave.cli.app import call

    monkeypatch.setattr(progress, "LINE_EVERY_S", 0.0)
    name = "A scheme with a very long name indeed, longer than a column"
    path = write_scenario(tmp_path, axes=f'scheme = ["{name}"]', fake="flows = 20\nseconds = 0.3")
    call(["run", str(path), "--out", str(tmp_path / "out"), "--seeds", "2", "--jobs", "1"])
    lines = capsys.readouterr().err.splitlines()
    assert f"started  {name}, seed 1" in lines
    (done,) = (line for line in lines if line.startswith(f"done     {name}, seed 2"))
    assert re.search(r"  60\.0 M packet-hops, .+ a CPU second; 0:0\d of wall time$", done)
    under_way = [line for line in lines if "simulated" in line and " left" in line]
    assert under_way
    assert all(line.endswith("of wall time left") for line in under_way)
    overall = [line for line in lines if "of 2 runs" in line and "about" in line]
    assert overall
    assert all(line.endswith("of wall time left") for line in overall)


def on_terminal(folder: Path, *arguments: str, **more: str) -> str:
    """What the command writes to a terminal of 80 columns."""
    import fcntl
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    process = subprocess.Popen(
        fake_command(arguments),
        cwd=folder,
        env=environment(TERM="xterm-256color", **more),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    read: list[bytes] = []
    end = time.monotonic() + 60
    while time.monotonic() < end:
        ready, _, _ = select.select([ours], [], [], 0.2)
        if not ready:
            continue
        try:
            part = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        read.append(part)
    os.close(ours)
    assert process.wait(timeout=10) == 0
    return b"".join(read).decode()


def test_terminal_shows_bars_and_gets_its_cursor_back(tmp_path: Path) -> None:
    write_scenario(tmp_path, fake="flows = 40\nseconds = 0.6")
    text = on_terminal(tmp_path, "run", "tab1.toml", "--jobs", "2")
    assert "━" in text
    assert "hops/s" in text
    assert "wall left" in text
    assert "of 2.00 s" in text
    assert text.rfind("\x1b[?25h") > text.rfind("\x1b[?25l") > -1
    plain = re.sub("\x1b\\[[0-9;?]*[A-Za-z]", "", text)
    assert max(len(line) for line in re.split("[\r\n]+", plain)) <= 80


def test_no_color_is_respected(tmp_path: Path) -> None:
    write_scenario(tmp_path)
    text = on_terminal(tmp_path, "run", "tab1.toml", NO_COLOR="1")
    assert not re.search("\x1b\\[[0-9;]*3[0-9]m", text)
