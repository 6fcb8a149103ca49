"""The optimum beside the simulations of `pathweave run`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from pathweave import optimum
from pathweave.cli.console import messages
from pathweave.cli.progress import watch
from pathweave.solving import objective
from pathweave.solving.alongside import LIMIT, solve_alongside, without_optimum

if TYPE_CHECKING:
    from pathweave.running.pool import Outcome
    from pathweave.running.session import Session


def check(session: Session, utility: str) -> None:
    """Refuse before hours of simulation what would fail after them.

    Raises `InputError` for a utility that a flow cannot have and `PathweaveError` where the solvers
    are missing.
    """
    objective.check(objective.parse(utility), session.plan.scenario.variants)
    _ = optimum.solve


def solve_beside(session: Session, outcome: Outcome, utility: str, problems: int | None) -> None:
    """Solve for the session's runs that have no such optimum yet; adds to the outcome."""
    wanted, limit = objective.parse(utility), problems or LIMIT
    done = (*session.plan.present, *outcome.finished)
    tasks = without_optimum(done, wanted, limit)
    if not tasks:
        return  # loading the solvers takes a second
    with watch(messages(), len(tasks)) as progress:
        solved = solve_alongside(
            session,
            tasks,
            wanted,
            progress,
            limit=limit,
            before_kill=progress.restore_terminal,
        )
    outcome.failed += solved.failed
    if solved.cancelled:
        without = len(without_optimum(done, wanted, limit))
        messages().print(
            f"interrupted: all simulations are kept; {without} of {len(done)} optima are missing,"
            " the same command goes on from there"
        )
        raise typer.Exit(1)
