"""Fixtures: a fake core, and the command line with it in this process or in one of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest

import fake_core
import pathweave
from in_process import command_line

TESTS = Path(__file__).parent
PACKAGE = Path(pathweave.__file__).parent.parent
"""Where this package is imported from; not resolved, because `make test` may use one of links."""

Command = Callable[..., "subprocess.CompletedProcess[str]"]


def environment(**more: str) -> dict[str, str]:
    """The environment of a subprocess: this package, no terminal settings."""
    kept = {
        key: value
        for key, value in os.environ.items()
        if key not in ("COLUMNS", "LINES", "FORCE_COLOR", "NO_COLOR", "TERM")
    }
    return kept | {"PYTHONPATH": f"{PACKAGE}{os.pathsep}{TESTS}", **more}


def fake_command(arguments: Sequence[str]) -> list[str]:
    """The command line with the fake core."""
    return [sys.executable, str(TESTS / "fake_core.py"), *arguments]


@pytest.fixture(autouse=True, scope="session")
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What can be made again is kept for these tests, and nowhere else."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fake core in this process."""
    use_fake(monkeypatch)


def use_fake(patch: pytest.MonkeyPatch) -> None:
    """Put the fake core in the place of the compiled one."""
    module = fake_core.module()
    patch.setitem(sys.modules, "pathweave._core", module)
    patch.setitem(pathweave.__dict__, "_core", module)


@pytest.fixture
def cli(tmp_path: Path) -> Command:
    """Run `pathweave` with the fake core in `tmp_path`."""
    return partial(faked, tmp_path)


def faked(
    folder: Path, *arguments: str, given: str = "", **more: str
) -> subprocess.CompletedProcess[str]:
    """Run `pathweave` with the fake core in `folder`; `given` is its standard input."""
    with pytest.MonkeyPatch.context() as patch:
        use_fake(patch)
        return real(folder, *arguments, given=given, **more)


@pytest.fixture
def process(tmp_path: Path) -> Command:
    """Run `pathweave` with the fake core in `tmp_path`, in a process of its own."""

    def call(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            fake_command(arguments),
            cwd=tmp_path,
            env=environment(**more),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return call


def real(
    folder: Path, *arguments: str, given: str = "", **more: str
) -> subprocess.CompletedProcess[str]:
    """Run `pathweave` with the compiled core in `folder`; `given` is its standard input."""
    return command_line(
        *arguments, folder=folder, environment=environment(**more), standard_input=given
    )


def run_here(*arguments: str) -> tuple[int, str, str]:
    """Run `pathweave` as this process stands: exit code, what it said on stdout, on stderr."""
    done = command_line(*arguments)
    return done.returncode, done.stdout, done.stderr


def write_scenario(
    folder: Path,
    name: str = "tab1",
    *,
    axes: str = 'scheme = ["DCTCP", "XMP-4"]\npattern = ["Permutation", "Incast"]',
    fake: str = "flows = 40",
    top: str = "",
    more: str = "",
) -> Path:
    """A scenario file for the fake core."""
    path = folder / f"{name}.toml"
    path.write_text(f'title = "Made up"\n{top}\n[axes]\n{axes}\n[fake]\n{fake}\n{more}\n')
    return path
