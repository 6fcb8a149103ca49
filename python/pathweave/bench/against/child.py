"""A program that runs for Pathweave: it ends when it must, and says what went wrong."""

from __future__ import annotations

import signal
import subprocess
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pathweave.errors import PathweaveError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pathweave.running.interrupt import Interrupt

_LOOK_EVERY_S: Final = 0.1
_LONGEST_QUOTE: Final = 300
"""Characters of a program's own message that an error repeats."""


@dataclass(frozen=True)
class Failure:
    """A program that ended with an error: what it said, and how it ended."""

    ending: str
    """ "exit code 2", or "ended by SIGSEGV"."""
    said: str
    """The first line on its standard error, where it has one."""

    def __str__(self) -> str:
        return f"{self.ending}: {self.said or 'it said nothing'}"


class TookTooLongError(PathweaveError):
    """A program did not end in the time that it was given."""


def run(command: Sequence[str], timeout_s: float, interrupt: Interrupt) -> str | Failure:
    """What `command` prints, or how it failed.

    The program is ended when it takes longer than `timeout_s` seconds of wall time, which raises
    `TookTooLongError`, and when the user interrupts, which raises `KeyboardInterrupt`. Raises
    `OSError` if it cannot be started.
    """
    until = time.monotonic() + timeout_s
    with subprocess.Popen(  # noqa: S603
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    ) as process:
        try:
            printed, said = _wait(process, until, interrupt)
        except BaseException:
            process.kill()
            raise
    # A terminal sends Ctrl-C to the program as well.
    if interrupt.raised or process.returncode == -signal.SIGINT:
        raise KeyboardInterrupt
    if process.returncode != 0:
        return Failure(_ending(process.returncode), _first_line(said))
    return printed


def _wait(process: subprocess.Popen[str], until: float, interrupt: Interrupt) -> tuple[str, str]:
    while True:
        try:
            return process.communicate(timeout=_LOOK_EVERY_S)
        except subprocess.TimeoutExpired:
            if interrupt.raised:
                raise KeyboardInterrupt from None
            if time.monotonic() > until:
                raise TookTooLongError from None


def _ending(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"ended by signal {-code}"


def _first_line(text: str) -> str:
    lines = (line.strip() for line in text.splitlines())
    return next((line for line in lines if line), "")[:_LONGEST_QUOTE]
