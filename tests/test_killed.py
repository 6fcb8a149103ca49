"""A process that is killed loses no run, leaves no half one, and the next one goes on."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

from conftest import TESTS, Command, environment, write_scenario

if TYPE_CHECKING:
    from pathlib import Path

MOMENTS = int(os.environ.get("PATHWEAVE_MOMENTS", "16"))
"""How often processes are killed; PATHWEAVE_MOMENTS=50 takes two minutes."""
TAKES_PLACE = 18
"""About the step at which the first run of a grid takes the place of an older one."""
AXES = 'scheme = ["DCTCP", "XMP-4"]\npattern = ["Permutation", "Incast"]'


def killed(folder: Path, step: int, *arguments: str) -> bool:
    """Whether the process was killed at this step; else it came to its end before."""
    command = [sys.executable, str(TESTS / "killed_at.py"), str(step), "fake", *arguments]
    done = subprocess.run(
        command, cwd=folder, env=environment(), capture_output=True, timeout=120, check=False
    )
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return done.returncode != 0


def manifests(folder: Path) -> set[Path]:
    return set((folder / "results").glob("*/*/[!.]*/manifest.json"))


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "timing.json"
    }


def test_killed_again_and_again(cli: Command, tmp_path: Path) -> None:
    """A grid of 40 runs, killed again and again while it is filled and while it is replaced."""
    write_scenario(tmp_path, axes=AXES)
    command = ("run", "tab1.toml", "--seeds", "10", "--jobs", "1", "--out")
    assert cli(*command, "whole").returncode == 0
    whole = contents(tmp_path / "whole")
    assert sum(name.endswith("manifest.json") for name in whole) == 40
    chance = random.Random(5)
    filling = [chance.randint(1, 32) for _ in range(MOMENTS // 2)]
    # The steps about the one at which the first run takes the place of the older one.
    replacing = range(TAKES_PLACE - MOMENTS // 4, TAKES_PLACE + MOMENTS // 4)
    caught = 0
    notes = tmp_path / "results/tab1/quick/xmp-4-incast-s1/notes.txt"
    for step in filling:
        finished = manifests(tmp_path)
        assert killed(tmp_path, step, *command, "results")
        assert finished <= manifests(tmp_path)
    assert cli(*command, "results").returncode == 0
    notes.write_text("mine")
    for step in replacing:
        finished = manifests(tmp_path)
        assert killed(tmp_path, step, *command, "results", "--fresh")
        for path in finished - manifests(tmp_path):  # killed between two renames
            assert list(path.parent.parent.glob(f".{path.parent.name}.replaced-*"))
            caught += 1
    assert caught > 0
    assert cli(*command, "results").returncode == 0
    assert notes.read_text() == "mine"
    notes.unlink()
    assert contents(tmp_path / "results") == {
        name: content.replace(b"--out whole", b"--out results") for name, content in whole.items()
    }
    assert not list((tmp_path / "results").rglob(".*"))
