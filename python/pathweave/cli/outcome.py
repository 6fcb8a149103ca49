"""What a command that makes results says at its end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from pathweave.cli.exits import FAILED, WRONG_INPUT

if TYPE_CHECKING:
    from pathweave.running.plan import Task
    from pathweave.running.pool import Outcome
    from pathweave.running.session import Session


def finish(session: Session, outcome: Outcome, baseline: str | None = None) -> None:
    """Print the tables of this command's runs, those that were there already included.

    Of a shard it prints them when all runs are there, those of the other shards included. Leaves
    with exit code 1 when some are missing; with 2 when no others are than were refused.
    """
    from pathweave.cli.console import output
    from pathweave.cli.share import whole_at_last

    done = [task.folder for task in (*session.plan.present, *outcome.finished)]
    if session.request.shard is not None:
        done = whole_at_last(session, outcome)
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
    _leave(session, outcome)


def finish_as_json(
    session: Session, outcome: Outcome, baseline: str | None = None, said: str = ""
) -> None:
    """Print the same as one JSON document; `said` is how a run until it is sure ended.

    Leaves with the same exit codes, after messages on standard error.
    """
    from pathweave.cli.console import print_json

    print_json(outcome_document(session, outcome, baseline, said))
    _leave(session, outcome)


def outcome_document(
    session: Session, outcome: Outcome, baseline: str | None, said: str
) -> dict[str, Any]:
    """The runs of a command with what became of each, and what they found."""
    from pathweave.results.document import document
    from pathweave.results.read import find_runs

    plan = session.plan
    states: dict[Task, tuple[str, str]] = {}
    for state, tasks in (
        ("present", plan.present),
        ("finished", outcome.finished),
        ("interrupted", outcome.cancelled),
        ("left out", outcome.left_out),
    ):
        states |= dict.fromkeys(tasks, (state, ""))
    for task, reason in outcome.failed:
        states[task] = ("refused" if task in outcome.refused else "failed", reason)
    done = [task.folder for task in (*plan.present, *outcome.finished)]
    found = None
    for scenario in find_runs(done) if done else []:
        beside = session.request.beside
        found = document(scenario.with_optimum_of(beside) if beside else scenario, baseline)
    return {
        "scenario": plan.scenario.name,
        "title": plan.scenario.title,
        "size": plan.scenario.size,
        "folder": str(plan.folder),
        "command": session.request.command,
        "shard": _shard(session),
        "runs": [
            {
                "variant": task.identity.variant.label,
                "axes": dict(task.identity.variant.axes),
                "seed": task.identity.seed,
                "state": state,
                "reason": reason,
                "folder": str(task.folder),
            }
            for task in plan.tasks
            for state, reason in [states.get(task, ("interrupted", ""))]
        ],
        "results": found,
        "until": said,
        "other_settings": _other_settings(session),
    }


def _shard(session: Session) -> dict[str, int] | None:
    """Which share of the runs it was, and how many of the others' are not there."""
    from pathweave.running.plan import not_written

    shard, elsewhere = session.request.shard, session.plan.elsewhere
    if shard is None:
        return None
    return {
        "index": shard.index,
        "count": shard.count,
        "elsewhere": len(elsewhere),
        "elsewhere_missing": len(not_written(elsewhere)),
    }


def _leave(session: Session, outcome: Outcome) -> None:
    """Say what is missing, if anything is, and leave with the exit code for that."""
    if outcome.cancelled or outcome.failed:
        from pathweave.running.plan import not_written

        tasks = session.plan.tasks
        kept = len(tasks) - len(not_written(tasks))
        total = len(tasks) - len(outcome.left_out)
        explain(kept, total, outcome, fresh=session.request.fresh)
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


def explain(kept: int, total: int, outcome: Outcome, *, fresh: bool = False) -> None:
    """Say why something is missing. `fresh` is whether runs that were there were run again."""
    from pathweave.cli.console import messages, say

    console = messages()
    if outcome.cancelled:
        again = f", {len(outcome.finished)} of them run again" if fresh else ""
        without = " without --fresh" if fresh else ""
        say(
            console,
            f"interrupted: {kept} of {total} runs are kept{again};"
            f" the same command{without} goes on from there",
        )
    for task, reason in outcome.failed:
        word = "refused" if task in outcome.refused else "failed"
        text = f"error: {task.label} {word}: {reason}"
        say(console, text)
