"""docs/python-controllers.md: its example runs, and what it quotes is what is said."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest

import pathweave
from controller_scenario import EXAMPLES, command, mistakes
from pathweave.core import core

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs/python-controllers.md").read_text()


def block(language: str) -> str:
    """The page's only piece of code in this language."""
    (found,) = re.findall(rf"```{language}\n(.*?)```", PAGE, flags=re.DOTALL)
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(block("python"))
    (tmp_path / "mine.toml").write_text(block("toml"))
    return tmp_path


def test_the_example_runs_and_is_compared(folder: Path) -> None:
    done = command(folder, "run", "mine.toml")
    assert done.returncode == 0, done.stderr
    results = pathweave.load(folder / "results/mine")
    controllers = set(results.flows["controller"])
    assert controllers == {"Example", "xmp"}
    by_controller = results.flows.group_by("controller").agg(total=pl.col("goodput_bps").sum())
    # Both share the link, and use most of it.
    for total in by_controller["total"]:
        assert 0.8e9 < total / 2 < 1e9
    done = command(folder, "report", "results/mine")
    assert done.returncode == 0, done.stderr


def test_explain_shows_the_example(folder: Path) -> None:
    done = command(folder, "explain", "mine.py:Example")
    assert done.returncode == 0, done.stderr
    assert "Grows all subflows together by one packet a round." in done.stdout
    assert "Share that a marked round costs." in done.stdout


def test_the_example_equals_the_one_in_rust_in_what_it_declares(folder: Path) -> None:
    """Both pages have the same controller; this one's parameter has the same range."""
    known = core()
    text = (folder / "mine.toml").read_text().replace("cut = 0.3", "cut = 2")
    with pytest.raises(known.ScenarioError, match="cut takes a number from 0 to 1"):
        known.load_text(text, "mine", str(folder), None, [], [], 1)


def test_what_the_page_quotes_is_what_is_said(folder: Path) -> None:
    source = (folder / "mine.py").read_text()
    place = source.splitlines().index("class Example(Controller):") + 1
    (folder / "mine.py").write_text(source.replace("def on_loss", "def on_lost"))
    (mistake,) = mistakes((folder / "mine.toml").read_text(), folder)
    told = f"{mistake['message']}; {mistake['help']}"
    assert told.replace(f"line {place}", "line 31") in PAGE
    assert all(
        (EXAMPLES / name).exists()
        for name in re.findall(r"\.\./examples/controllers/([^\s)]+)\)", PAGE)
    )
