"""A cluster of `--dask local` is for this machine alone, and Ctrl-C ends it while it starts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from conftest import environment, real
from test_dask import ENDLESS, scenario

pytestmark = pytest.mark.xdist_group("dask")
LOOPBACK = ("127.", "::1", "::ffff:127.")
PATIENCE_S = 60


@contextmanager
def running(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """`pathweave run --dask local` of hours, in a process group of its own."""
    scenario(folder, Long=ENDLESS)
    arguments = ["run", "work.toml", "--dask", "local", "--jobs", "2"]
    with subprocess.Popen(
        [sys.executable, "-m", "pathweave", *arguments],
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def workers(process: subprocess.Popen[str]) -> list[psutil.Process]:
    """The processes of its workers, as far as they have begun."""
    found: list[psutil.Process] = []
    for child in psutil.Process(process.pid).children(recursive=True):
        with suppress(psutil.Error):
            if "spawn_main" in " ".join(child.cmdline()):
                found.append(child)
    return found


def wait_until(there: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not there():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def listening(process: psutil.Process) -> list[str]:
    """The addresses that a process listens on."""
    with suppress(psutil.Error):
        return [
            each.laddr.ip
            for each in process.net_connections("inet")
            if each.status == psutil.CONN_LISTEN
        ]
    return []


def test_nobody_else_can_connect(tmp_path: Path) -> None:
    with running(tmp_path) as process:
        assert process.stdout is not None
        while "started" not in process.stdout.readline():
            assert process.poll() is None
        of_workers = [address for each in workers(process) for address in listening(each)]
        of_scheduler = listening(psutil.Process(process.pid))
    assert of_workers
    assert of_scheduler
    beyond = [each for each in of_workers + of_scheduler if not each.startswith(LOOPBACK)]
    assert not beyond


@pytest.mark.parametrize("after_s", [0.0, 0.5])
def test_ctrl_c_while_it_starts_ends_it_in_a_line(tmp_path: Path, after_s: float) -> None:
    with running(tmp_path) as process:
        wait_until(lambda: bool(workers(process)))
        time.sleep(after_s)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        said, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 1
    assert said == "error: interrupted\n"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("root:x:0:0:root:/root:/bin/bash\n", "is not a JSON file"),
        ("{}", "does not say the address of a scheduler"),
        ('{"address": 5}', "does not say the address of a scheduler"),
        ('{"address": "nowhere"}', "does not say the address of a scheduler"),
    ],
)
def test_a_file_that_is_not_of_a_scheduler(tmp_path: Path, content: str, said: str) -> None:
    scenario(tmp_path)
    (tmp_path / "scheduler").write_text(content)
    done = real(tmp_path, "run", "work.toml", "--dask", "scheduler")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert f"scheduler {said}" in done.stderr
