"""Several runs at a time, each on another thread or process; this thread watches and writes."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from pathweave.results.write import write_run
from pathweave.running import under_way

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pathweave._core import Progress
    from pathweave.results.output import Output
    from pathweave.running.cores import Cores
    from pathweave.running.plan import Task

POLL_S = 0.02
"""Seconds between two looks at the runs: short, so that a core does not idle between small runs."""

PATIENCE_S = 2.0
"""Seconds that runs have to end after they were asked to, before somebody hears of it."""


class RefusedError(RuntimeError):
    """A backend cannot do what a run asks for, whatever the seed."""


class Run(Protocol):
    """A run that goes on by itself; the core's `Run` is one."""

    def start(self) -> None:
        """Begin."""
        ...

    def poll(self) -> Progress:
        """How far it has come."""
        ...

    def cancel(self) -> None:
        """Ask it to end without results."""
        ...

    def take(self) -> Output:
        """What came of it, once it is done; raises `RuntimeError` when it failed."""
        ...


class Watcher(Protocol):
    """Hears what becomes of the runs."""

    def started(self, task: Task) -> None:
        """`task` has begun."""
        ...

    def progress(self, task: Task, progress: Progress) -> None:
        """`task` has come this far; called every `POLL_S` seconds."""
        ...

    def finished(self, task: Task, output: Output) -> None:
        """The results of `task` are on disk."""
        ...

    def solved(self, task: Task, notes: Sequence[str]) -> None:
        """The optimum beside the results of `task` is on disk."""
        ...

    def noted(self, notes: Sequence[str]) -> None:
        """What a reader must know of what was just finished."""
        ...

    def failed(self, task: Task, reason: str) -> None:
        """`task` ended without results."""
        ...

    def cancelled(self, task: Task) -> None:
        """`task` was told to stop, and did."""
        ...

    def left_out(self, task: Task) -> None:
        """`task` is not run after all."""
        ...

    def still_running(self, tasks: Sequence[Task]) -> None:
        """`tasks` were told to stop, and have not for `PATIENCE_S`."""
        ...

    def given_up(self, tasks: Sequence[Task], lines: Sequence[str]) -> None:
        """The same, and they are not waited for; controllers in files are in these lines."""
        ...

    def tick(self) -> None:
        """All runs have been looked at."""
        ...


@dataclass
class Outcome:
    """What became of the runs of a plan."""

    finished: list[Task] = field(default_factory=list)
    failed: list[tuple[Task, str]] = field(default_factory=list)
    refused: list[Task] = field(default_factory=list)
    """Those of the failed ones that the backend cannot do."""
    cancelled: list[Task] = field(default_factory=list)
    """Runs that were stopped half-way or never begun."""
    left_out: list[Task] = field(default_factory=list)
    """Runs that what came of others made needless."""


def simulation(task: Task, threads: int) -> Run:
    """The run of `task` in the core, on this many threads if they are worth it."""
    return task.identity.variant.prepare(task.identity.seed, threads)


def run_all(
    tasks: Sequence[Task],
    cores: Cores,
    watcher: Watcher,
    interrupted: Callable[[], bool],
    *,
    prepare: Callable[[Task, int], Run] = simulation,
    needless: Callable[[Task, Outcome], bool] = lambda _task, _outcome: False,
) -> Outcome:
    """Run `tasks` in order on these cores, and write each as soon as it is done.

    `prepare` makes a task's run on a number of threads; `needless` says whether a task may be left
    out after what has come of those before it.

    When `interrupted()` turns true nothing new begins, the runs under way are cancelled, and
    finished ones are kept. An `OSError` from writing (a full disk) ends everything: the other runs
    are cancelled first, then it is raised.
    """
    waiting = list(reversed(tasks))
    active: list[tuple[Task, Run]] = []
    outcome = Outcome()
    ending = _Ending(watcher)
    try:
        while active or (waiting and not interrupted()):
            while waiting and len(active) < cores.jobs and not interrupted():
                task = waiting.pop()
                if needless(task, outcome):
                    outcome.left_out.append(task)
                    watcher.left_out(task)
                    continue
                run = prepare(task, cores.threads_of(len(active) + len(waiting) + 1))
                run.start()
                active.append((task, run))
                watcher.started(task)
            if interrupted():
                for task in ending.ask(active):
                    outcome.cancelled.append(task)
                    active = [each for each in active if each[0] is not task]
            active = [
                (task, run) for task, run in active if not _settle(task, run, watcher, outcome)
            ]
            watcher.tick()
            if active:
                time.sleep(POLL_S)
    except BaseException:
        _cancel(active)
        raise
    outcome.cancelled.extend(reversed(waiting))
    return outcome


class _Ending:
    """Runs are asked to end, once; who has not in time is named, once.

    A run that is in a controller of the user's is given up then: nothing makes it return.
    """

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher
        self._asked_at: float | None = None
        self._named = False

    def ask(self, active: Sequence[tuple[Task, Run]]) -> list[Task]:
        """Called again and again while there is something to wait for; those that are given up."""
        if self._asked_at is None:
            self._asked_at = time.monotonic()
            _cancel(active)
            return []
        if self._named or time.monotonic() - self._asked_at <= PATIENCE_S:
            return []
        self._named = True
        given_up = [task for task, _ in active if task.identity.variant.files]
        waited_for = [task for task, _ in active if not task.identity.variant.files]
        if waited_for:
            self._watcher.still_running(waited_for)
        if given_up:
            self._watcher.given_up(given_up, under_way.lines())
        return given_up


def _cancel(active: Sequence[tuple[Task, Run]]) -> None:
    for _, run in active:
        run.cancel()


def _settle(task: Task, run: Run, watcher: Watcher, outcome: Outcome) -> bool:
    """Look at one run; true when it has come to an end, whichever."""
    progress = run.poll()
    match progress["state"]:
        case "running":
            watcher.progress(task, progress)
            return False
        case "cancelled":
            outcome.cancelled.append(task)
            watcher.cancelled(task)
        case "done" | "failed":
            try:
                output = run.take()
            except RuntimeError as error:
                outcome.failed.append((task, str(error)))
                if isinstance(error, RefusedError):
                    outcome.refused.append(task)
                watcher.failed(task, str(error))
            else:
                write_run(task.folder, task.identity, output)
                outcome.finished.append(task)
                watcher.finished(task, output)
    return True
