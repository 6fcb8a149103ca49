"""What a command that makes results says at its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from pathweave.cli.exits import FAILED, WRONG_INPUT

if TYPE_CHECKING:
    from pathweave.running.pool import Outcome
    from pathweave.running.session import Session


def finish(session: Session, outcome: Outcome, baseline: str | None = None) -> None:
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
            shown = scenario.with_optimum_of(beside) if beside else scenario
            print_results(console, shown, baseline)
        console.print(f"\nResults are in {session.plan.folder}", soft_wrap=True)
        for line in _other_settings(session):
            console.print(line, soft_wrap=True, markup=False)
    if outcome.cancelled or outcome.failed:
        explain(len(done), len(session.plan.tasks) - len(outcome.left_out), outcome)
        refused = len(outcome.refused) == len(outcome.failed) and not outcome.cancelled
        raise typer.Exit(WRONG_INPUT if refused else FAILED)


def _other_settings(session: Session) -> list[str]:
    """What differs from the settings whose results took the plain name of the folder."""
    from pathweave.results import layout
    from pathweave.results.differences import sentences
    from pathweave.results.jsonfile import read_json
    from pathweave.results.settings import Settings, what_differs

    plan = session.plan
    plain = plan.folder.with_name(plan.settings.name)
    if plain == plan.folder:
        return []
    try:
        other = Settings.from_json(read_json(plain / layout.SCENARIO)["settings"])
    except (OSError, ValueError, KeyError, TypeError):
        return []
    found = sentences(what_differs([plan.settings, other]))
    return [f"{plain.name} beside it has other settings (these / those):"] + [
        f"  {line}" for line in found
    ]


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
