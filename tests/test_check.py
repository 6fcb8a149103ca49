"""`pathweave check`: what would be run, or what is wrong, without running anything."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import Command, write_scenario


def test_says_what_would_be_run(cli: Command, tmp_path: Path) -> None:
    write_scenario(tmp_path)
    done = cli("check", "tab1.toml", "--size", "paper", "--seeds", "3", "--out", "elsewhere")
    assert done.returncode == 0, done.stderr
    words = " ".join(done.stdout.split())
    for said in (
        "tab1.toml is valid: Made up",
        "size paper",
        "scheme DCTCP, XMP-4",
        "pattern Permutation, Incast",
        "variants 4",
        "seeds 1 to 3",
        "runs 12",
        "results elsewhere/tab1-paper",
    ):
        assert said in words
    assert [path.name for path in tmp_path.iterdir()] == ["tab1.toml"]


def test_knows_what_is_there(cli: Command, tmp_path: Path) -> None:
    write_scenario(tmp_path)
    assert cli("run", "tab1.toml", "--only", "scheme=DCTCP").returncode == 0
    found = json.loads(cli("check", "tab1.toml", "--json").stdout)
    assert (found["runs"], found["present"]) == (4, 2)
    assert found["folder"] == "results/tab1"
    only = json.loads(cli("check", "tab1.toml", "--json", "--only", "scheme=XMP-4").stdout)
    assert (only["runs"], only["present"]) == (2, 0)
    assert [variant["axes"]["scheme"] for variant in only["variants"]] == ["XMP-4", "XMP-4"]


@pytest.mark.parametrize("top", ["broken = 1", None])
def test_mistakes(cli: Command, tmp_path: Path, top: str | None) -> None:
    said = "is not there"
    if top is not None:
        write_scenario(tmp_path, top=top)
        said = "unknown key `broken`"
    done = cli("check", "tab1.toml")
    assert done.returncode == 2
    assert said in done.stderr
    assert not done.stdout
    as_json = cli("check", "tab1.toml", "--json")
    assert as_json.returncode == 2
    found = json.loads(as_json.stdout)
    assert found["valid"] is False
    assert said in found["error"]
