"""`pathweave init`, with the real core: what it writes is sound and runs."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import environment, real
from pathweave.core import core
from pathweave.starter import FABRICS, PATTERNS, scenario


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("fabric", FABRICS)
def test_every_choice_is_a_sound_scenario(fabric: str, pattern: str) -> None:
    names = [entry["name"] for entry in core().controllers()]
    for rate in ("10 Mbps", "400 Mbps", "1 Gbps", "100 Gbps"):
        text = scenario(fabric, rate, names, pattern, 'a "title" with \\ in it')
        for size in ("quick", "long"):
            loaded = core().load_text(text, "x", ".", size, [], [], None)
            assert len(loaded.variants) == len(names)
        for upper in ("RATE", "SIZE", "LAYER", "SOURCES", "DESTINATIONS", "RECEIVER"):
            assert upper not in text


def test_what_it_writes_is_checked_and_runs(tmp_path: Path) -> None:
    arguments = ("--fabric", "star", "--rate", "100 Mbps", "--controllers", "reno,xmp")
    done = real(tmp_path, "init", "first.toml", *arguments, "--pattern", "many-to-one")
    assert done.returncode == 0, done.stderr
    assert "pathweave run first.toml" in done.stdout
    assert real(tmp_path, "check", "first.toml", "--size", "long").returncode == 0
    run = real(tmp_path, "run", "first.toml", "--seeds", "1", "--set", "stop.at=20 ms")
    assert run.returncode == 0, run.stderr
    assert (tmp_path / "results/first/quick-at=20ms/reno-s1/manifest.json").is_file()
    assert (tmp_path / "results/first/quick-at=20ms/xmp-2-s1/manifest.json").is_file()


def test_defaults_need_no_terminal_and_nothing_is_overwritten(tmp_path: Path) -> None:
    assert real(tmp_path, "init").returncode == 0
    path = tmp_path / "scenario.toml"
    before = path.read_text()
    assert 'kind = "fat-tree"' in before
    again = real(tmp_path, "init", "--fabric", "star")
    assert again.returncode == 2
    assert again.stderr == "error: scenario.toml is there already; --force replaces it\n"
    assert path.read_text() == before
    assert real(tmp_path, "init", "--fabric", "star", "--force").returncode == 0
    assert 'kind = "star"' in path.read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--fabric", "fat-three"], 'did you mean "fat-tree"?'),
        (["--controllers", "xmpp"], 'did you mean "xmp"?'),
        (["--controllers", ","], "at least one controller"),
        (["--pattern", "bursts"], 'there is no pattern "bursts" to begin with'),
        (["--rate", "fast"], "fast"),
        (["--rate", "-1 Gbps"], "-1 Gbps"),
        (["--title", "\x1b[31m"], "control character"),
        (["nowhere/x.toml"], "cannot write nowhere/x.toml"),
    ],
)
def test_mistakes_leave_no_file(tmp_path: Path, arguments: list[str], said: str) -> None:
    done = real(tmp_path, "init", *arguments)
    assert done.returncode in (1, 2)
    assert done.stderr.startswith("error: ")
    assert said in done.stderr
    assert not list(tmp_path.iterdir())


def test_asks_on_a_terminal_for_what_is_left_open(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "pathweave", "init", "--rate", "10 Gbps"],
        cwd=tmp_path,
        env=environment(TERM="dumb"),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    os.write(ours, b"leaf-spine\n\nrandom\n")
    said = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        said += part
    os.close(ours)
    assert process.wait(timeout=60) == 0, said
    text = (tmp_path / "scenario.toml").read_text()
    assert 'kind = "leaf-spine"' in text
    assert 'host_rate = "10 Gbps"' in text
    assert 'pattern = "random"' in text
    assert '[variants.scheme."dctcp"]' in text
    assert b"Fabric (" in said
    assert b"Rate of" not in said
