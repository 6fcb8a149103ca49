"""Several scenarios run as one command."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import typer

from pathweave.cli.exits import FAILED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pathweave.running.pool import Outcome
    from pathweave.running.session import Session


def simulate_all(
    sessions: Mapping[str, Sequence[Session]],
    jobs: int | None,
    what: str,
    *,
    say_time: bool,
    say_cpu: bool = False,
) -> None:
    """Run what is missing of all sessions; leaves with exit code 1 when some of it is missing.

    They are by name: each run's label begins with it. `what` says what they are of. `say_time` says
    how long the runs take however short that is, `say_cpu` what CPU time.
    """
    from pathweave.cli import estimates
    from pathweave.cli.console import messages
    from pathweave.cli.outcome import explain
    from pathweave.cli.progress import watch
    from pathweave.running.cores import share
    from pathweave.running.session import execute_all

    cores = share(jobs)
    taken: set[Path] = set()
    named = [_named(name, each, taken) for name, several in sessions.items() for each in several]
    tasks = {task.folder for session in named for task in session.plan.tasks}
    missing = {task.folder for session in named for task in session.plan.missing}
    if not missing:
        return
    console = messages()
    if len(missing) < len(tasks):
        console.print(f"{what}: {len(tasks) - len(missing)} of {len(tasks)} runs are there already")
    estimates.say_if_long_together(named, cores, always=say_time, cpu=say_cpu)
    with watch(console, len(missing)) as progress:
        outcome: Outcome = execute_all(named, cores, progress, progress.restore_terminal)
    if outcome.cancelled or outcome.failed:
        explain(len(tasks) - len(missing) + len(outcome.finished), len(tasks), outcome)
        raise typer.Exit(FAILED)


def _named(name: str, session: Session, taken: set[Path]) -> Session:
    """The session with runs that say what they are of, less those that another one has.

    `taken` gets its folders.
    """
    plan = session.plan
    missing = tuple(
        replace(task, label=f"{name} {task.label}")
        for task in plan.missing
        if task.folder not in taken
    )
    taken.update(task.folder for task in missing)
    return replace(session, plan=replace(plan, missing=missing))
