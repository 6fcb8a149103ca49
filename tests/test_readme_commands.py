"""Commands of README.md and of the help run as they stand there."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from conftest import run_here

if TYPE_CHECKING:
    import pytest

ROOT = Path(__file__).parent.parent
OF_RUN_ALONE = {"--map", "--optimum", "--dry-run"}


def commands(text: str) -> list[list[str]]:
    """The words of each command in a text, without those of the shell."""
    lines = re.findall(r"^ {4}\.venv/bin/pathweave ([^\n]*)", text, re.MULTILINE)
    return [shlex.split(line, comments=True) for line in lines]


def folder_of(words: list[str]) -> str:
    """The folder of results that `pathweave run` would write; the command is checked."""
    kept = [word for word in words if word not in OF_RUN_ALONE]
    code, said, refused = run_here("check", *kept, "--json")
    assert code == 0, f"pathweave run {' '.join(words)}: {said}{refused}"
    return json.loads(said)["folder"]


def test_commands_of_the_readme(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    written: set[str] = set()
    seen: set[str] = set()
    for verb, *words in commands((ROOT / "README.md").read_text(encoding="utf-8")):
        seen.add(verb)
        if verb in ("run", "check", "solve"):
            folder = folder_of(words)
            if verb == "run" and "--dry-run" not in words:
                written.add(folder)
        elif verb == "compare":
            assert set(words) <= written, f"no command before writes all of {words}"
        elif verb == "report":
            assert any(folder.startswith(f"{words[0]}/") for folder in written)
    assert {"check", "run", "report", "compare"} <= seen


def test_the_sweep_of_the_help(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    _, said, _ = run_here("run", "--help")
    _, _, example = said.partition("A sweep: pathweave run ")
    # It goes on over lines up to an empty one.
    words = shlex.split(example.partition("\n\n")[0])
    assert "--sweep" in words
    assert folder_of(words)
