"""The optimum beside the simulations of `pathweave run`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from pathweave import optimum
from pathweave.cli.console import messages
from pathweave.cli.progress import watch
from pathweave.solving.alongside import LIMIT, solve_alongside, without_optimum
from pathweave.solving.objective import parse

if TYPE_CHECKING:
    from pathweave.running.pool import Outcome
    from pathweave.running.session import Session


def check(utility: str) -> None:
    """Refuse before hours of simulation what would fail after them.

    Raises `InputError` for a mistake in the utility and `PathweaveError` where the solvers are
    missing.
    """
    parse(utility)
    _ = optimum.solve


def solve_beside(session: Session, outcome: Outcome, utility: str, problems: int | None) -> None:
    """Solve for the session's runs that have no such optimum yet; adds to the outcome."""
    objective, limit = parse(utility), problems or LIMIT
    done = (*session.plan.present, *outcome.finished)
    tasks = without_optimum(done, objective, limit)
    if not tasks:
        return  # loading the solvers takes a second
    with watch(messages(), len(tasks)) as progress:
        solved = solve_alongside(
            session,
            tasks,
            objective,
            progress,
            limit=limit,
            before_kill=progress.restore_terminal,
        )
    outcome.failed += solved.failed
    if solved.cancelled:
        without = len(without_optimum(done, objective, limit))
        messages().print(
            f"interrupted: all simulations are kept; {without} of {len(done)} optima are missing,"
            " the same command goes on from there"
        )
        raise typer.Exit(1)
