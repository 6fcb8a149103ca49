"""The command line in the process of the tests, because an interpreter takes a second to start."""

from __future__ import annotations

import faulthandler
import io
import os
import signal
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from subprocess import CompletedProcess
from typing import BinaryIO

import pytest

from pathweave.cli.app import call
from pathweave.cli.exits import guarded

PATIENCE_S = 300
"""A command that takes longer hangs: the process of the tests ends with all tracebacks."""
HIDDEN = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)
"""What Python does not show a user."""


def command_line(
    *arguments: str,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    standard_input: str = "",
) -> CompletedProcess[str]:
    """Run `pathweave` in `folder` with this environment; what it printed, and its exit code.

    Exceptions that would end a process with a traceback come out of it. What child processes print
    is caught too.
    """
    before = Path.cwd()
    if folder is not None:
        os.chdir(folder)
    try:
        with (
            tempfile.TemporaryFile() as output,
            tempfile.TemporaryFile() as errors,
            tempfile.TemporaryFile() as given,
        ):
            given.write(standard_input.encode())
            given.seek(0)
            with (
                _environment(os.environ if environment is None else environment),
                _signals(),
                _streams(given, output, errors),
                warnings.catch_warnings(),
            ):
                # As in a process of its own, in which warnings are shown.
                warnings.simplefilter("default")
                for hidden in HIDDEN:
                    warnings.simplefilter("ignore", hidden)
                code = _exit_code(arguments)
            return CompletedProcess(list(arguments), code, _text(output), _text(errors))
    finally:
        os.chdir(before)


def _exit_code(arguments: tuple[str, ...]) -> int:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "execv", _refuse)
        patch.setattr(sys, "argv", ["pathweave", *arguments])
        with pytest.raises(SystemExit) as ended:
            guarded(lambda: call(arguments))
    assert isinstance(ended.value.code, int)
    return ended.value.code


def _refuse(program: str, arguments: object) -> None:
    raise AssertionError(f"{program} would take the place of the tests: run it in a process")


def _text(file: BinaryIO) -> str:
    file.seek(0)
    return file.read().decode()


@contextmanager
def _environment(wanted: Mapping[str, str]) -> Iterator[None]:
    """`os.environ` is this while the context lasts."""
    before = dict(os.environ)
    wanted = dict(wanted)
    os.environ.clear()
    os.environ.update(wanted)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextmanager
def _signals() -> Iterator[None]:
    """Handlers that a command sets end with it, as with its process."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _streams(given: BinaryIO, output: BinaryIO, errors: BinaryIO) -> Iterator[None]:
    """Standard input, output and errors are these files, for child processes too."""
    files = (given, output, errors)
    kept = [os.dup(number) for number in range(3)]
    streams = (sys.stdin, sys.stdout, sys.stderr)
    for number, file in enumerate(files):
        os.dup2(file.fileno(), number)
    sys.stdin = _opened(0, "r")
    sys.stdout, sys.stderr = _opened(1, "w"), _opened(2, "w")
    faulthandler.dump_traceback_later(PATIENCE_S, exit=True, file=kept[2])
    try:
        yield
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    finally:
        faulthandler.cancel_dump_traceback_later()
        sys.stdin, sys.stdout, sys.stderr = streams
        for number, file in enumerate(kept):
            os.dup2(file, number)
            os.close(file)


def _opened(number: int, mode: str) -> io.TextIOWrapper:
    raw = io.FileIO(number, mode, closefd=False)
    buffered = io.BufferedReader(raw) if mode == "r" else io.BufferedWriter(raw)
    return io.TextIOWrapper(buffered, encoding="utf-8")
