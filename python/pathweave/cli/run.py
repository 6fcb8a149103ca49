"""`pathweave run`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pathweave.errors import InputError
from pathweave.results import layout


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
    optimum: Annotated[
        bool,
        typer.Option("--optimum", help="Also solve for what the flows could have had."),
    ] = False,
    utility: Annotated[
        str,
        typer.Option(
            help="With --optimum, what is maximised; see `solve --help`.",
            metavar="NAME[:KEY=VALUE,...]",
        ),
    ] = layout.DEFAULT_UTILITY,
    problems: Annotated[
        int | None,
        typer.Option(
            help="With --optimum, intervals solved for a run at most; 200 if not given.",
            metavar="N",
            min=1,
        ),
    ] = None,
) -> None:
    """Simulate a scenario: all its variants and seeds.

    Results go to DIR/<scenario>/<variant>-s<seed>/. Runs that are there already with the same
    settings are kept; Ctrl-C ends cleanly, and the same command goes on from there.

    Example: pathweave run papers/xmp/tab1.toml --only scheme=XMP-4 --seeds 3
    """
    from pathweave.cli.console import messages
    from pathweave.cli.optimum import solve_beside
    from pathweave.cli.outcome import finish
    from pathweave.cli.progress import watch
    from pathweave.running.session import Request, default_jobs, execute, open_session

    if not optimum and (problems or utility != layout.DEFAULT_UTILITY):
        raise InputError("--utility and --problems are about the optimum: add --optimum")
    if optimum:
        from pathweave.solving.objective import parse

        parse(utility)  # a mistake there shows before hours of simulation
    session = open_session(
        Request(
            path=scenario,
            size=size,
            seeds=seeds,
            sets=tuple(sets or ()),
            only=tuple(only or ()),
            root=out,
            fresh=fresh,
            beside=utility if optimum else None,
            problems=problems,
        )
    )
    console = messages()
    plan = session.plan
    present = len(plan.present)
    if present:
        console.print(f"{present} of {len(plan.tasks)} runs are there already")
    with watch(console, len(plan.missing)) as progress:
        outcome = execute(session, jobs or default_jobs(), progress, progress.restore_terminal)
    if optimum and not outcome.cancelled:
        solve_beside(session, outcome, utility, problems)
    finish(session, outcome)
