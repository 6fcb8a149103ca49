"""What `make test` says before it begins, and how its steps are timed."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import TESTS

MAKEFILE = """
test:
\t$(MAKE) other
other:
\tWORD=1 sleep 1.1
\tfalse
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A source tree whose path has a space."""
    tree = tmp_path / "a tree"
    (tree / "tests").mkdir(parents=True)
    shutil.copy2(TESTS / "steps.py", tree / "tests")
    (tree / "Makefile").write_text(MAKEFILE)
    return tree


def test_each_line_of_a_recipe_is_a_step(tree: Path) -> None:
    done = subprocess.run(
        ["tests/steps.py", "--again"],
        cwd=tree,
        env={name: value for name, value in os.environ.items() if name != "MAKEFLAGS"},
        capture_output=True,
        text=True,
        check=False,
    )
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in done.stdout.splitlines()]
    steps = {row[0]: float(row[1]) for row in rows[2:]}
    assert list(steps)[-1] == "all"
    # The variable is not part of the name, and the call of make is not a step.
    assert 1 <= steps["`sleep 1.1`"] <= steps["all"]
    assert not any("make" in name for name in steps)
    assert done.returncode != 0


def announce(**environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [TESTS / "announce.sh"],
        env={"PATH": os.environ["PATH"], **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_what_this_machine_cannot_test_is_said_first(tmp_path: Path) -> None:
    for name in ("sh", "id"):
        program = shutil.which(name)
        assert program is not None
        (tmp_path / name).symlink_to(program)
    done = announce(PATH=str(tmp_path), CARGO_TARGET_DIR=str(tmp_path))
    assert done.returncode == 0
    first, *left_out = done.stdout.splitlines()
    assert "the first time" in first
    assert [line.split(" (")[0] for line in left_out] == [
        "left out: crates/linux",
        "left out: instructions per packet-hop",
        "left out: the report's page in a browser",
        "left out: captures in tshark",
        "left out: Slurm",
    ]


@pytest.mark.parametrize("tool", ["KERNEL", "VALGRIND", "CHROMIUM"])
def test_what_is_required_may_not_be_missing(tmp_path: Path, tool: str) -> None:
    for name in ("sh", "id"):
        program = shutil.which(name)
        assert program is not None
        (tmp_path / name).symlink_to(program)
    done = announce(PATH=str(tmp_path), **{f"REQUIRE_{tool}": "yes"})
    assert done.returncode == 1
    assert done.stderr == "a tool that is required is missing\n"
