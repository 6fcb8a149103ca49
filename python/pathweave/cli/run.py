"""`pathweave run`."""

from __future__ import annotations

from typing import Annotated

import typer

from pathweave.cli.options import (  # noqa: TC001
    Baseline,
    Name,
    Only,
    Out,
    Scenario,
    Seeds,
    Sets,
    Size,
)
from pathweave.errors import InputError
from pathweave.results import layout


def run(
    scenario: Scenario,
    name: Name = None,
    size: Size = None,
    seeds: Seeds = None,
    sets: Sets = None,
    only: Only = None,
    out: Out = layout.DEFAULT_ROOT,
    jobs: Annotated[
        int | None,
        typer.Option(help="Runs at a time; all cores if not given.", metavar="N", min=1),
    ] = None,
    baseline: Baseline = None,
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

    Results go to DIR/<scenario>/<settings>/<variant>-s<seed>/. Runs that are there already are
    kept, those of other settings too; Ctrl-C ends cleanly, and the same command goes on from there.

    Example: pathweave run papers/xmp/tab1.toml --only scheme=XMP-4 --seeds 3
    """
    from pathweave.cli.console import messages
    from pathweave.cli.outcome import finish
    from pathweave.cli.progress import watch
    from pathweave.cli.source import open_scenario
    from pathweave.running.session import Request, check_baseline, default_jobs, execute

    if not optimum and (problems or utility != layout.DEFAULT_UTILITY):
        raise InputError("--utility and --problems are about the optimum: add --optimum")
    if optimum:
        from pathweave.solving.objective import parse

        utility = parse(utility).text
    session = open_scenario(
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
        ),
        name,
    )
    check_baseline(session, baseline)
    if optimum:
        from pathweave.cli.optimum import check

        check(session, utility)
    console = messages()
    plan = session.plan
    present = len(plan.present)
    if present:
        console.print(f"{present} of {len(plan.tasks)} runs are there already")
    with watch(console, len(plan.missing)) as progress:
        outcome = execute(session, jobs or default_jobs(), progress, progress.restore_terminal)
    if optimum and not outcome.cancelled:
        from pathweave.cli.optimum import solve_beside

        solve_beside(session, outcome, utility, problems)
    finish(session, outcome, baseline)
