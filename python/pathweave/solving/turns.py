"""Runs solved one after the other, until done or interrupted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pathweave.errors import PathweaveError
from pathweave.running.interrupt import Interrupt
from pathweave.running.pool import Outcome
from pathweave.running.session import writing
from pathweave.solving.allocator import Allocator

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pathweave._core import Progress
    from pathweave.running.plan import Task
    from pathweave.running.pool import Watcher
    from pathweave.running.session import Session
    from pathweave.solving.objective import Objective


class Interrupted(Exception):  # noqa: N818 - nothing went wrong
    """The user asked for an end."""


def in_turn(
    session: Session,
    tasks: Sequence[Task],
    objective: Objective,
    watcher: Watcher,
    work: Callable[[Task, Allocator], None],
    before_kill: Callable[[], None] | None,
) -> Outcome:
    """Do `work` for each task, with one allocator for all, and keep what is finished.

    `work` writes the results and tells the watcher. Raises `PathweaveError` when they cannot be
    written.
    """
    outcome = Outcome()
    waiting = list(tasks)
    with writing(session), Interrupt(before_kill) as interrupt:
        current: list[Task] = []

        def watch(done: float, time_s: float) -> None:
            if interrupt.raised:
                raise Interrupted
            watcher.progress(current[0], _progress(done, time_s))
            watcher.tick()

        allocator = Allocator(objective, watch)
        while waiting and not interrupt.raised:
            task = waiting.pop(0)
            current[:] = [task]
            watcher.started(task)
            try:
                work(task, allocator)
            except Interrupted:
                outcome.cancelled.append(task)
                watcher.cancelled(task)
            except (PathweaveError, RuntimeError, ValueError) as error:
                outcome.failed.append((task, str(error)))
                watcher.failed(task, str(error))
            else:
                outcome.finished.append(task)
    outcome.cancelled.extend(waiting)
    return outcome


def _progress(done: float, time_s: float) -> Progress:
    """The progress of a run without packets."""
    return {
        "state": "running",
        "time_s": time_s,
        "until_s": None,
        "fraction": done,
        "packet_hops": 0,
        "flows_started": 0,
        "flows_finished": 0,
    }
