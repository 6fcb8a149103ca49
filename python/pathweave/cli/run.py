"""`pathweave run`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pathweave.results import layout

if TYPE_CHECKING:
    from rich.console import Console

    from pathweave.running.pool import Outcome
    from pathweave.running.session import Session


def run(
    scenario: Annotated[Path, typer.Argument(help="Scenario file.", metavar="SCENARIO")],
    size: Annotated[
        str | None,
        typer.Option(help="A size that the file defines, such as quick or paper."),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(help="Number of seeds.", metavar="N", min=1, max=100_000),
    ] = None,
    sets: Annotated[
        list[str] | None,
        typer.Option("--set", help="Override a value of the file.", metavar="KEY=VALUE"),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(help="Only the variants with this name.", metavar="AXIS=NAME"),
    ] = None,
    out: Annotated[
        Path, typer.Option(help="Folder for results.", metavar="DIR")
    ] = layout.DEFAULT_ROOT,
    jobs: Annotated[
        int | None,
        typer.Option(help="Runs at a time; all cores if not given.", metavar="N", min=1),
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Run again what is there.")] = False,
) -> None:
    """Simulate a scenario: all its variants and seeds.

    Results go to DIR/<scenario>/<variant>-s<seed>/. Runs that are there already with the same
    settings are kept; Ctrl-C ends cleanly, and the same command goes on from there.
    """
    from pathweave.cli.console import messages, output
    from pathweave.cli.progress import watch
    from pathweave.running.session import Request, default_jobs, execute, open_session

    session = open_session(
        Request(
            path=scenario,
            size=size,
            seeds=seeds,
            sets=tuple(sets or ()),
            only=tuple(only or ()),
            root=out,
            fresh=fresh,
        )
    )
    console = messages()
    plan = session.plan
    present = len(plan.present)
    if present:
        console.print(f"{present} of {len(plan.tasks)} runs are there already")
    with watch(console, len(plan.missing)) as progress:
        outcome = execute(session, jobs or default_jobs(), progress, progress.restore_terminal)
    _print_tables(output(), session, outcome)
    if outcome.cancelled or outcome.failed:
        _explain(console, session, outcome)
        raise typer.Exit(1)


def _print_tables(console: Console, session: Session, outcome: Outcome) -> None:
    """Tables of the runs of this command, those that were there already included."""
    from pathweave.cli.tables import print_results
    from pathweave.results.read import find_runs

    done = [task.folder for task in (*session.plan.present, *outcome.finished)]
    if not done:
        return
    for scenario in find_runs(done):
        print_results(console, scenario)
    console.print(f"\nResults are in {session.plan.folder}", soft_wrap=True)


def _explain(console: Console, session: Session, outcome: Outcome) -> None:
    kept = len(session.plan.present) + len(outcome.finished)
    total = len(session.plan.tasks)
    if outcome.cancelled:
        console.print(
            f"interrupted: {kept} of {total} runs are kept; the same command goes on from there"
        )
    for task, reason in outcome.failed:
        console.print(f"failed: {task.label}: {reason}", markup=False)
