"""`pathweave compare` and `pathweave.compare` on result folders."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import pathweave
from conftest import Command, write_scenario
from pathweave.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

AXES = 'scheme = ["DCTCP", "XMP-4"]'
PHASES = '[phases]\nalone = ["0 s", "1 s"]\nshared = ["1 s", "2 s"]\nafter = ["2 s", "3 s"]'


@pytest.fixture
def folders(cli: Command, tmp_path: Path) -> tuple[str, str]:
    """Results of a scenario before and after an edit that changes them."""
    found: list[str] = []
    for speed, out in ((1.0, "before"), (0.5, "after")):
        fake = f"flows = 40\nphases = true\nspeed = {speed}"
        write_scenario(tmp_path, axes=AXES, fake=fake, more=PHASES)
        assert cli("run", "tab1.toml", "--seeds", "3", "--out", out).returncode == 0
        found.append(f"{out}/tab1/quick")
    return found[0], found[1]


def test_equal_results_are_identical(cli: Command, tmp_path: Path) -> None:
    write_scenario(tmp_path, axes=AXES)
    for more in ((), ("--set", "fabric.k=4")):
        assert cli("run", "tab1.toml", "--seeds", "2", *more).returncode == 0
    done = cli("compare", "results/tab1/quick", "results/tab1/quick-k=4")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "A: results/tab1/quick (simulation, 2 seeds, 4 runs)"
    assert lines[3] == "Settings that differ (A / B):"
    assert '  set: [] / ["fabric.k=4"]' in lines
    assert lines[-1] == "All results are identical to the last bit."


def test_what_moved_is_shown_and_told_by_the_exit_code(
    cli: Command, folders: tuple[str, str]
) -> None:
    done = cli("compare", *folders)
    assert done.returncode == 1, done.stderr
    assert done.stderr == ""
    assert "  speed: 1.0 / 0.5" in done.stdout
    assert "Paired by seed (3 seeds)." in done.stdout
    assert "Link utilisation (%)" in done.stdout
    assert "identical" in done.stdout.splitlines()[-1]
    assert "Goodput (Mbps)" in done.stdout
    rows = done.stdout[done.stdout.index("DCTCP") :].splitlines()
    assert max(len(line) for line in rows if "quantities" not in line) <= 80
    printed = cli("compare", *folders, "--json")
    said = json.loads(printed.stdout)
    assert printed.returncode == 1
    assert said["moved"] == sum(each["verdict"] == "moved" for each in said["changes"]) > 0
    assert said["differences"] == [{"key": "speed", "a": "1.0", "b": "0.5"}]
    assert (said["level"], said["relevant"], said["correction"]) == (0.01, 0.01, "Holm")
    assert said["a"]["seeds"] == [1, 2, 3]
    assert {variant["paired"] for variant in said["variants"]} == {True}
    large = cli("compare", *folders, "--relevant", "1e9%")
    assert large.returncode == 2
    assert cli("compare", *folders, "--relevant", "1000000 %").returncode == 0


def test_a_phase_alone(cli: Command, folders: tuple[str, str]) -> None:
    said = json.loads(cli("compare", *folders, "--at", "shared", "--json").stdout)
    assert {each["phase"] for each in said["changes"]} == {"shared"}
    assert said["at"] == "shared"
    done = cli("compare", *folders, "--at", "sharde")
    assert done.returncode == 2
    assert 'did you mean "shared"' in done.stderr
    assert done.stdout == ""


def test_wrong_input_says_what_would_be_right(cli: Command, folders: tuple[str, str]) -> None:
    for arguments, said in (
        ((folders[0], "nothing"), "there is no folder nothing"),
        ((folders[0], folders[1], "--relevant", "0.01"), "write 1% or 0.5%"),
        ((".", folders[1]), "name the folder of one of them, such as after/tab1/quick"),
    ):
        done = cli("compare", *arguments)
        assert done.returncode == 2
        assert said in done.stderr
        assert done.stdout == ""


def test_a_damaged_run_is_named_and_the_others_are_compared(
    cli: Command, folders: tuple[str, str], tmp_path: Path
) -> None:
    (tmp_path / folders[1] / "dctcp-s2/flows.parquet").write_bytes(b"PAR1 PAR1")
    said = json.loads(cli("compare", *folders, "--json").stdout)
    assert said["variants"][0]["seeds_b"] == [1, 3]
    (note,) = said["notes"]
    assert note.startswith("B: left out: ")
    assert "dctcp-s2/flows.parquet is damaged" in note


def test_notebooks_compare_folders_and_results(
    cli: Command, folders: tuple[str, str], tmp_path: Path
) -> None:
    before, after = (tmp_path / folder for folder in folders)
    changes = pathweave.compare(before, after, relevant=0.05)
    assert changes.relevant == 0.05
    assert changes.table.columns[:3] == ["variant", "quantity", "taken"]
    loaded = pathweave.compare(pathweave.load(before), pathweave.load(after), relevant=0.05)
    assert loaded.table.equals(changes.table)
    assert "<table>" in changes._repr_html_()
    assert repr(changes).startswith("<pathweave.Changes ")
    assert not pathweave.compare(before, after, at="alone").table.is_empty()
    with pytest.raises(InputError, match="holds results of tab1 with 2 settings") as caught:
        pathweave.compare(tmp_path, after)
    assert caught.value.__suppress_context__
