"""One attempt: a command in a folder that was prepared for it, and what its end is held to."""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from pathlib import Path

from conftest import environment

_MOST_LOAD = 4.0
"""How many times as long a command may take on a busy machine, at most."""
LIMIT_S = 10.0
"""Seconds that a command may take; more on a machine with more to do than it has processors."""
_DYING_S = 2.0
DOCUMENTED = (0, 1, 2, 141)
_SIGNS = ("Traceback (most recent call last)", "panicked at", "Fatal Python error", "core dumped")
_LONGEST_LINE = 8192


class End(StrEnum):
    """How an attempt ended."""

    REFUSED = "refused"
    ACCEPTED = "accepted"
    FAILED = "failed"


def _nothing(_folder: Path) -> None:
    pass


def _no_check(_folder: Path) -> str | None:
    return None


@dataclass(frozen=True)
class Attempt:
    """A command line and what surrounds it."""

    kind: str
    name: str
    arguments: tuple[str | bytes, ...]
    prepare: Callable[[Path], None] = _nothing
    complete: Callable[[Path], str | None] = _no_check
    """What is missing of the results although the exit status is 0; None where nothing is."""
    variables: Mapping[str, str | None] = field(default_factory=dict[str, str | None])
    """Of the environment; None takes one away."""
    limits: Mapping[int, int] = field(default_factory=dict[int, int])
    """Limits of the process, by the numbers of `resource`."""
    streams: Mapping[int, str | None] = field(default_factory=dict[int, str | None])
    """Files in place of standard streams; None closes one."""
    program: tuple[str, ...] = ("-m", "pathweave")
    may_go_on: bool = False
    """Whether it may take for ever, until one SIGINT."""
    statuses: tuple[int, ...] = DOCUMENTED


@dataclass(frozen=True)
class Ended:
    """What became of an attempt."""

    kind: str
    name: str
    end: End
    why: str = ""


def patience() -> float:
    """Seconds that a command may take on this machine as it is now.

    The load may be that of attempts themselves, which can start many threads.
    """
    load = os.getloadavg()[0] / (os.cpu_count() or 1)
    return LIMIT_S * min(max(1.0, load), _MOST_LOAD)


def tried(attempt: Attempt) -> Ended:
    """Make the attempt in a new folder, which is gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="abuse-"))
    try:
        try:
            attempt.prepare(folder)
            why, status = _run(attempt, folder)
            if why is None and status == 0:
                why = attempt.complete(folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    except OSError as error:
        why, status = f"the attempt itself: {error!r}", 1
    if why is not None:
        return Ended(attempt.kind, attempt.name, End.FAILED, why)
    return Ended(attempt.kind, attempt.name, End.ACCEPTED if status == 0 else End.REFUSED)


def _run(attempt: Attempt, folder: Path) -> tuple[str | None, int]:
    """Why it failed, if it did, and the exit status."""
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            [sys.executable, *attempt.program, *attempt.arguments],
            cwd=folder,
            env=_variables(attempt, folder),
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            preexec_fn=partial(_begin, attempt),  # noqa: PLW1509 - this process has one thread
            start_new_session=True,
        )
        limit = patience()
        status = _ended(process, limit / 2 if attempt.may_go_on else limit)
        if status is None and attempt.may_go_on:
            process.send_signal(signal.SIGINT)
            status = _ended(process, limit)
        left = _kill(process)
        if status is None:
            return f"did not end within {limit:.0f} s", -1
        said.seek(0)
        text = said.read().decode(errors="replace")
    return _wrong(attempt, status, text) or ("it left processes behind" if left else None), status


def _variables(attempt: Attempt, folder: Path) -> dict[str, str]:
    variables = {**environment(TMPDIR=str(folder)), **attempt.variables}
    return {name: value for name, value in variables.items() if value is not None}


def _begin(attempt: Attempt) -> None:
    """What is done in the new process before it becomes the command."""
    for number, limit in attempt.limits.items():
        resource.setrlimit(number, (limit, limit))
    for stream, path in attempt.streams.items():
        os.close(stream)
        if path is not None:
            os.open(path, os.O_RDWR)


def _wrong(attempt: Attempt, status: int, text: str) -> str | None:
    """What is wrong with the end of a command that has ended."""
    if found := [sign for sign in _SIGNS if sign in text]:
        return f"{found[0]}: ...{text[-600:]}"
    if status not in attempt.statuses:
        return f"exit status {status}: ...{text[-300:]}"
    # Some limits and streams let nothing be printed.
    if status != 0 and not text.strip() and not (attempt.streams or attempt.limits):
        return f"exit status {status} without a word"
    if any(len(line) > _LONGEST_LINE for line in text.splitlines()):
        return "a line of more than 8 KB"
    return None


def _ended(process: subprocess.Popen[bytes], seconds: float) -> int | None:
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        return None


def _kill(process: subprocess.Popen[bytes]) -> bool:
    """End what is left of the session; whether anything went on when the command had ended."""
    until = time.monotonic() + _DYING_S
    # What the command has killed may take a moment to be gone.
    while (found := _session(process.pid)) and time.monotonic() < until:
        if process.returncode is None:
            break
        time.sleep(0.05)
    for pid in found:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    process.wait()
    return bool(found)


def _session(number: int) -> list[int]:
    """The processes of a session that have not ended."""
    found: list[int] = []
    for each in Path("/proc").iterdir():
        if each.name.isdecimal():
            with contextlib.suppress(OSError):
                fields = (each / "stat").read_text().rpartition(")")[2].split()
                if int(fields[3]) == number and fields[0] != "Z":
                    found.append(int(each.name))
    return found


def finished_runs(folder: Path, count: int) -> str | None:
    """What is missing of this many runs below a folder."""
    found = list(folder.rglob("manifest.json"))
    if len(found) < count:
        return f"exit status 0 with {len(found)} of {count} runs"
    for path in found:
        if not (path.parent / "flows.parquet").exists():
            return f"exit status 0, and {path.parent.name} has no flows"
    return None
