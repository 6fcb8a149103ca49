"""Result folders with damaged files: a result, or an error for users; never a traceback."""

from __future__ import annotations

import shutil
import warnings
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pathweave
from conftest import write_scenario
from pathweave.errors import PathweaveError

DAMAGE = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture
def sound(fake: None, tmp_path: Path) -> Path:
    """The folder of a scenario that has been run."""
    pathweave.run(write_scenario(tmp_path), out=tmp_path / "results", jobs=1, progress=False)
    return next((tmp_path / "results").iterdir())


def files(folder: Path) -> list[Path]:
    """The files of a scenario's folder, captures left out."""
    return sorted(file for file in folder.rglob("*") if file.suffix in (".json", ".parquet"))


def read_everything(folder: Path) -> None:
    """Read all that a user reads: any other error than one for users fails the test."""
    with suppress(PathweaveError), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="left out: ")
        warnings.filterwarnings("ignore", message="the runs of .* have different settings")
        results = pathweave.load(folder)
        for name in ("flows", "subflows", "links", "jobs"):
            with suppress(PathweaveError):
                results.table(name)
        with suppress(PathweaveError):
            _ = results.runs
        with suppress(PathweaveError):
            _ = results.summary()


@DAMAGE
@given(data=st.data())
def test_changed_bytes(sound: Path, tmp_path: Path, data: st.DataObject) -> None:
    damaged = tmp_path / "damaged"
    shutil.rmtree(damaged, ignore_errors=True)
    shutil.copytree(sound, damaged)
    file = data.draw(st.sampled_from(files(damaged)))
    content = bytearray(file.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place] = data.draw(st.integers(0, 255))
    file.write_bytes(bytes(content))
    read_everything(damaged)


@DAMAGE
@given(data=st.data())
def test_cut_files(sound: Path, tmp_path: Path, data: st.DataObject) -> None:
    damaged = tmp_path / "damaged"
    shutil.rmtree(damaged, ignore_errors=True)
    shutil.copytree(sound, damaged)
    file = data.draw(st.sampled_from(files(damaged)))
    content = file.read_bytes()
    file.write_bytes(content[: data.draw(st.integers(0, len(content) - 1))])
    read_everything(damaged)


@DAMAGE
@given(data=st.data())
def test_missing_files(sound: Path, tmp_path: Path, data: st.DataObject) -> None:
    damaged = tmp_path / "damaged"
    shutil.rmtree(damaged, ignore_errors=True)
    shutil.copytree(sound, damaged)
    data.draw(st.sampled_from(files(damaged))).unlink()
    read_everything(damaged)
