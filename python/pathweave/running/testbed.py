"""Runs on the testbed: each a process of the binary `pathweave-linux`, one after the other."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from typing import TYPE_CHECKING, cast

from pathweave.errors import PathweaveError
from pathweave.linux import binary
from pathweave.results import layout
from pathweave.results.jsonfile import read_json
from pathweave.results.testbed import PlayedOutput
from pathweave.running.cores import Cores
from pathweave.running.interrupt import Interrupt
from pathweave.running.pool import Outcome, RefusedError, Watcher, run_all
from pathweave.running.session import writing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from pathweave._core import Progress, State
    from pathweave.running.plan import Task
    from pathweave.running.session import Request, Session

TRIES = 3
"""Runs for each valid one that is wanted, at most."""
_SAID = 4000
"""Characters of what a failed run said that are kept, from the end."""
_REFUSED = 2
_INTERRUPTED = 130
_BEGUN: Progress = {
    "state": "running", "time_s": 0.0, "until_s": None, "fraction": 0.0, "packet_hops": 0,
    "flows_started": 0, "flows_finished": 0,
}  # fmt: skip


class PlayedRun:
    """One run in a process of its own, watched like a run of the core.

    The process has its own process group: a Ctrl-C of the terminal comes to this process alone, and
    the other hears of it once, by `cancel`. Should this process die without a word, the pipe that
    the other tells its progress through breaks, which ends it too.
    """

    def __init__(self, command: Sequence[str], scratch: Path) -> None:
        """`command` lacks `--output`: the results go through a file in the folder `scratch`."""
        self._scratch = scratch
        self._file = scratch / "testbed.json"
        self._command = [*command, "--output", str(self._file)]
        self._process: subprocess.Popen[bytes] | None = None
        self._said = scratch / "messages.txt"
        self._line = b""
        self._progress = _BEGUN.copy()
        self._cancelled = 0
        self._closed = False

    def start(self) -> None:
        """Start the process; raises `PathweaveError` when the system does not let it."""
        shutil.rmtree(self._scratch, ignore_errors=True)
        self._scratch.mkdir(parents=True)
        try:
            with self._said.open("wb") as said:
                self._process = subprocess.Popen(  # noqa: S603 - the program is the user's choice
                    self._command,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=said,
                    process_group=0,
                )
        except OSError as error:
            self._tidy()
            reason = error.strerror or error
            raise PathweaveError(f"cannot run {self._command[0]}: {reason}") from error
        os.set_blocking(self._pipe, False)

    def poll(self) -> Progress:
        """How far it has come: the latest line that it wrote."""
        assert self._process is not None  # noqa: S101 - started before it is looked at
        code = self._process.poll()  # first, so that all that it wrote before its end is there
        self._listen()
        state: State = "running"
        if code is not None:
            state = self._end(code)
        self._progress["state"] = state
        if state == "cancelled":
            self._tidy()
        return self._progress

    def cancel(self) -> None:
        """Ask it to end; the second time more firmly."""
        if self._process is None or self._process.poll() is not None:
            return
        self._process.send_signal(signal.SIGINT if self._cancelled == 0 else signal.SIGTERM)
        self._cancelled += 1

    def take(self) -> PlayedOutput:
        """Its results; raises `RuntimeError` when it has none, `RefusedError` if refused."""
        assert self._process is not None  # noqa: S101 - started before it is looked at
        try:
            if self._process.returncode != 0:
                raise self._failure(self._process.returncode)
            try:
                return PlayedOutput.from_json(read_json(self._file))
            except (OSError, ValueError) as error:
                raise RuntimeError(
                    f"{self._command[0]} left results that cannot be used: {error}"
                ) from error
        finally:
            self._tidy()

    @property
    def _pipe(self) -> int:
        assert self._process is not None  # noqa: S101
        assert self._process.stdout is not None  # noqa: S101 - it was asked for
        return self._process.stdout.fileno()

    def _listen(self) -> None:
        while not self._closed:
            try:
                part = os.read(self._pipe, 1 << 16)
            except BlockingIOError:
                return
            if not part:
                return
            *lines, self._line = (self._line + part).split(b"\n")
            for line in lines:
                self._hear(line)

    def _hear(self, line: bytes) -> None:
        try:
            said = json.loads(line)
        except ValueError:  # not of progress
            return
        if isinstance(said, dict):
            known = {key: said[key] for key in _BEGUN if key in said and key != "state"}
            self._progress.update(cast("Progress", known))

    def _end(self, code: int) -> State:
        if code == 0:
            return "done"
        by_signal = code in (-signal.SIGINT, -signal.SIGTERM) and self._cancelled > 0
        return "cancelled" if code == _INTERRUPTED or by_signal else "failed"

    def _failure(self, code: int) -> RuntimeError:
        said = self._said.read_text(encoding="utf-8", errors="replace").strip()[-_SAID:]
        if code == _REFUSED:
            return RefusedError(said or f"{self._command[0]} refused it")
        if code < 0:
            return RuntimeError(f"ended by a signal ({signal.strsignal(-code)}). {said}".strip())
        return RuntimeError(said or f"{self._command[0]} ended with status {code}")

    def _tidy(self) -> None:
        if self._process is not None and self._process.stdout is not None:
            self._process.stdout.close()
        self._closed = True
        shutil.rmtree(self._scratch, ignore_errors=True)


def command(request: Request, program: Path, task: Task) -> list[str]:
    """The command line of one run, without the file for its results."""
    words = [str(program), "testbed", str(request.path)]
    words += ["--size", request.size] if request.size else []
    for option, texts in (("--set", request.sets), ("--only", request.only)):
        for text in texts:
            words += [option, text]
    words += request.playing.options if request.playing else []
    return [*words, "--variant", task.identity.variant.slug, "--seed", str(task.identity.seed)]


def play(
    session: Session, watcher: Watcher, before_kill: Callable[[], None] | None = None
) -> Outcome:
    """Play what is missing on the testbed, one run at a time: it is real time.

    A variant that is refused is not tried with other seeds, and one that has as many valid runs as
    were asked for gets no more. Raises `PathweaveError` when the results cannot be written or the
    binary is not there.
    """
    program = binary()
    wanted = session.request.valid
    begun: list[PlayedRun] = []

    def prepare(task: Task, _threads: int) -> PlayedRun:
        words = command(session.request, program, task)
        begun.append(PlayedRun(words, layout.partial_folder(task.folder)))
        return begun[-1]

    def kill() -> None:
        for run in begun:
            run.cancel()
        if before_kill is not None:
            before_kill()

    def needless(task: Task, outcome: Outcome) -> bool:
        same = task.identity.variant
        if any(refused.identity.variant is same for refused in outcome.refused):
            return True
        done = (*session.plan.present, *outcome.finished)
        return wanted is not None and valid_runs(same.slug, done) >= wanted

    with writing(session), Interrupt(kill) as interrupt:
        return run_all(
            session.plan.missing,
            Cores(1, 1),
            watcher,
            lambda: interrupt.raised,
            prepare=prepare,
            needless=needless,
        )


def valid_runs(slug: str, done: Sequence[Task]) -> int:
    """How many of the runs of this variant that stand on disk are valid."""
    return sum(
        bool(read_json(task.folder / layout.MANIFEST)["testbed"]["valid"])
        for task in done
        if task.identity.variant.slug == slug
    )
