"""`pathweave run --trace-events`: one flow of one run, event by event."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import typer

from pathweave.cli.exits import FAILED
from pathweave.errors import InputError, PathweaveError

if TYPE_CHECKING:
    from pathweave._core import Run
    from pathweave.running.session import Session

_POLL_S = 0.02


def parse_flow(text: str) -> int:
    """The number in "flow=3"; raises `InputError` for anything else."""
    key, _, number = text.partition("=")
    if key.strip() != "flow" or not number.strip().isdecimal() or int(number) >= 2**32:
        raise InputError(
            f'--trace-events "{text}" names no flow: write flow=3, with the number that the table'
            " flows has for it"
        )
    return int(number)


def print_events(session: Session, flow: int) -> None:
    """Simulate the session's one run and print what happens at the source of a flow.

    No results are kept. Raises `InputError` where there are several runs to choose from.
    """
    from pathweave.cli.console import messages, output, say
    from pathweave.running.interrupt import Interrupt

    scenario = session.plan.scenario
    variants, seeds = scenario.variants, scenario.seeds
    if len(variants) * len(seeds) > 1:
        raise InputError(
            f"--trace-events follows one run, and these are {len(variants) * len(seeds)}: choose"
            " one with --only and --seeds 1"
        )
    run = variants[0].prepare(seeds[0], 1, flow)
    console = output()
    told = 0
    with Interrupt() as interrupt:
        run.start()
        while True:
            state = run.poll()["state"]
            for line in run.events():
                console.print(line, soft_wrap=True)
                told += 1
            if state != "running":
                break
            if interrupt.raised:
                run.cancel()
            time.sleep(_POLL_S)
    _end(run, interrupted=interrupt.raised)
    if not told:
        raise PathweaveError(f"nothing has happened to flow {flow}: there may be no such flow")
    say(messages(), f"{told} events of flow {flow}; no results are kept")


def _end(run: Run, *, interrupted: bool) -> None:
    """Raise what the run ended with, if it was not its own end."""
    try:
        run.take()
    except RuntimeError as error:
        if interrupted:
            raise typer.Exit(FAILED) from None
        raise PathweaveError(str(error)) from error
