"""What a command that makes results says at its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from pathweave.cli.exits import FAILED, WRONG_INPUT

if TYPE_CHECKING:
    from pathweave.running.pool import Outcome
    from pathweave.running.session import Session


def finish(session: Session, outcome: Outcome) -> None:
    """Print the tables of this command's runs, those that were there already included.

    Leaves with exit code 1 when some are missing; with 2 when no others are than were refused.
    """
    from pathweave.cli.console import output

    done = [task.folder for task in (*session.plan.present, *outcome.finished)]
    if done:
        from pathweave.cli.tables import print_results
        from pathweave.results.read import find_runs

        console = output()
        for scenario in find_runs(done):
            beside = session.request.beside
            # Where this one failed, an optimum of another utility may still stand.
            print_results(console, scenario.with_optimum_of(beside) if beside else scenario)
        console.print(f"\nResults are in {session.plan.folder}", soft_wrap=True)
    if outcome.cancelled or outcome.failed:
        explain(len(done), len(session.plan.tasks) - len(outcome.left_out), outcome)
        refused = len(outcome.refused) == len(outcome.failed) and not outcome.cancelled
        raise typer.Exit(WRONG_INPUT if refused else FAILED)


def explain(kept: int, total: int, outcome: Outcome) -> None:
    """Say why something is missing."""
    from pathweave.cli.console import messages, say

    console = messages()
    if outcome.cancelled:
        text = f"interrupted: {kept} of {total} runs are kept; the same command goes on from there"
        say(console, text)
    for task, reason in outcome.failed:
        word = "refused" if task in outcome.refused else "failed"
        text = f"error: {task.label} {word}: {reason}"
        say(console, text)
