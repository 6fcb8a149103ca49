"""A child process that carries out a command, as the process that waits for it sees it."""

from __future__ import annotations

import contextlib
import os
import re
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Final

from pathweave.cli.console import say_error
from pathweave.running import line

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
_ANSWER_S: Final = 3.0
"""Seconds in which the child has to end, or to answer, after the first signal."""
_DUMP_S: Final = 1.0
"""Seconds in which it says where it is, if it has done neither."""
_LAST_S: Final = 1.0
"""Seconds that it may take after its last word, or after the second signal."""
_FRAME: Final = re.compile(r'^\s*File "(.*)", line (\d+) in (\S+)$')


class Child:
    """The command in a process of its own, and what that has said."""

    def __init__(self, given: bytes) -> None:
        """Start it; `given` is what has been read from standard input already."""
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(AttributeError, OSError, ValueError):  # closed, or full
                stream.flush()
        self._line, theirs = os.pipe()
        with _standard_input(given) as file:
            self._child = subprocess.Popen(  # noqa: S603 - what this process was begun with
                [sys.executable, *sys.orig_argv[1:]],
                stdin=file,
                pass_fds=[theirs],
                env={**os.environ, line.VARIABLE: line.named(theirs)},
                process_group=0,
            )
        os.close(theirs)
        os.set_blocking(self._line, False)
        self._text = ""
        self._signals: list[int] = []

    def status(self) -> int:
        """Wait for the end; the exit status. What goes wrong is said on standard error."""
        reader, writer = socket.socketpair()
        for each in (reader, writer):
            each.setblocking(False)
        signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
        for number in (*_SIGNALS, signal.SIGCHLD, signal.SIGTSTP, signal.SIGCONT):
            signal.signal(number, self._receive)
        with selectors.DefaultSelector() as selector:
            selector.register(reader, selectors.EVENT_READ)
            selector.register(self._line, selectors.EVENT_READ)
            ended = self._wait(selector, reader)
        self._kill_group()
        said = self._done()
        if said is not None:
            for error in self._said(line.ERROR):
                say_error(error)
            return said
        if len(self._signals) > 1:
            number = self._signals[-1]
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        return self._explained(has_ended=ended)

    def _wait(self, selector: selectors.BaseSelector, reader: socket.socket) -> bool:
        """Until it has ended, has said that it is done, or is past help; whether it has ended."""
        handled, deadline = 0, None
        asked_where = False
        while True:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            for key, _ in selector.select(left):
                if key.fileobj is reader:
                    with contextlib.suppress(BlockingIOError):
                        reader.recv(4096)
                elif not self._read():
                    selector.unregister(self._line)
            if self._child.poll() is not None:
                self._read()
                return True
            if self._done() is not None:
                self._end_within(_LAST_S)
                return False
            while handled < len(self._signals):
                self._send(self._signals[handled])
                handled += 1
                deadline = time.monotonic() + (_ANSWER_S if handled == 1 else _LAST_S)
            if handled == 1 and line.HEARD in self._text.splitlines():
                deadline = None
            if deadline is not None and time.monotonic() >= deadline:
                if handled > 1 or asked_where:
                    return False
                asked_where = True
                deadline = time.monotonic() + _DUMP_S
                self._send(signal.SIGUSR1)

    def _receive(self, number: int, _frame: FrameType | None) -> None:
        if number in _SIGNALS:
            self._signals.append(number)
        elif number == signal.SIGTSTP:
            self._signal_group(signal.SIGSTOP)
            os.kill(os.getpid(), signal.SIGSTOP)
        elif number == signal.SIGCONT:
            self._signal_group(signal.SIGCONT)

    def _read(self) -> bool:
        """Take what the child says; false when nothing more can come."""
        while True:
            try:
                found = os.read(self._line, 65536)
            except BlockingIOError:
                return True
            if not found:
                return False
            self._text += found.decode(errors="replace")

    def _done(self) -> int | None:
        """The exit status that the child has said, if it has come to its end."""
        said = self._said(line.DONE)
        status = said[-1] if said else ""
        return int(status) if status.isdecimal() else None

    def _said(self, kind: str) -> list[str]:
        """What the child has said of one kind, without the word that begins it."""
        return [
            text.removeprefix(kind) for text in self._text.splitlines() if text.startswith(kind)
        ]

    def _send(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._child.pid, number)

    def _signal_group(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._child.pid, number)

    def _end_within(self, seconds: float) -> None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(seconds)

    def _kill_group(self) -> None:
        """End the child and whatever its controllers have left behind."""
        self._signal_group(signal.SIGKILL)
        self._child.wait()

    def _explained(self, *, has_ended: bool) -> int:
        """Say why the child has no result; the exit status."""
        loaded = self._said(line.LOADED)
        names = " or ".join(dict.fromkeys(loaded)) or "a controller"
        if not has_ended:
            what = f"interrupted: {self._place(loaded) or names} does not return"
        elif self._signals:
            what = "interrupted"
        else:
            what = (
                f"{names} has ended the process that executed it ({self._how()}), so there is no"
                " result"
            )
        say_error(f"{what}; finished runs are kept")
        return 1

    def _how(self) -> str:
        code = self._child.returncode
        if code >= 0:
            return f"exit status {code}"
        with contextlib.suppress(ValueError):
            return signal.Signals(-code).name
        return f"signal {-code}"

    def _place(self, loaded: list[str]) -> str | None:
        """Where in one of these files the child is, by what it has said itself."""
        for text in self._text.splitlines():
            found = _FRAME.match(text)
            if found and found[1] in loaded:
                return f"{found[1]}, line {found[2]}, in {found[3]}"
        return None


@contextmanager
def _standard_input(given: bytes) -> Iterator[IO[bytes] | None]:
    """What a child has as standard input: ours, or what has been read from it."""
    if not given:
        yield None
        return
    with tempfile.TemporaryFile() as file:
        file.write(given)
        file.seek(0)
        yield file
