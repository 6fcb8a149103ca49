"""`pathweave solve`."""

from __future__ import annotations

from typing import Annotated

import typer

from pathweave.cli.options import (  # noqa: TC001
    Elsewhere,
    Name,
    Only,
    Out,
    Scenario,
    Seeds,
    Sets,
    Shard,
    Size,
    Sweeps,
)
from pathweave.errors import InputError
from pathweave.results import layout


def solve(
    scenario: Scenario,
    utility: Annotated[
        str,
        typer.Option(help="What is maximised; see above.", metavar="NAME[:KEY=VALUE,...]"),
    ] = layout.DEFAULT_UTILITY,
    name: Name = None,
    size: Size = None,
    seeds: Seeds = None,
    sets: Sets = None,
    sweeps: Sweeps = None,
    only: Only = None,
    out: Out = layout.DEFAULT_ROOT,
    problems: Annotated[
        int | None,
        typer.Option(
            help="Problems solved for a run at most; 2,000 if not given.", metavar="N", min=1
        ),
    ] = None,
    routing: Annotated[
        bool,
        typer.Option("--routing", help="Also judge the paths by the best choice of paths."),
    ] = False,
    shard: Shard = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Solve again what is there.")] = False,
    dask: Elsewhere = None,
) -> None:
    """Solve for the best possible rates of a scenario's flows.

    The traffic goes on at the rates that maximise the sum of the flows' utilities within the
    links' capacities, solved again whenever a flow or a link comes or goes. There are no packets.
    Results go to DIR/<scenario>/<settings>-optimum/ (of other utilities, to a folder named after
    them), in the form that `run` gives them.

    Utilities: proportional; alpha:alpha=2; delay-weighted:weight=1/T (FCC);
    max-min:over=flows; xmp:beta=4; tcp; eutcp:gamma=1.05; wutcp:omega=1/m (or a number for each
    subflow: omega=1,0.5); controller (what each flow's controller maximises).

    Example: pathweave solve papers/eutcp/fig3.toml --utility controller --only 'scheme=EUTCP(1)'
    """
    from pathweave.cli.console import messages, output
    from pathweave.cli.outcome import finish
    from pathweave.cli.progress import watch
    from pathweave.cli.routing import print_routings
    from pathweave.cli.share import say_share
    from pathweave.cli.source import open_scenario
    from pathweave.running.session import Request
    from pathweave.running.shard import parse_shard
    from pathweave.solving.alone import LIMIT, solve_all
    from pathweave.solving.objective import check, parse

    if dask:
        raise InputError(
            "workers of Dask simulate, they do not solve: leave --dask out, or divide the runs"
            " with --shard"
        )
    objective = parse(utility)
    session = open_scenario(
        Request(
            path=scenario,
            size=size,
            seeds=seeds,
            sets=tuple(sets or ()),
            sweeps=tuple(sweeps or ()),
            only=tuple(only or ()),
            root=out,
            fresh=fresh,
            utility=objective.text,
            routing=routing,
            problems=problems or LIMIT,
            shard=parse_shard(shard) if shard else None,
        ),
        name,
    )
    plan = session.plan
    check(objective, plan.scenario.variants, routing=routing)
    console = messages()
    if session.request.shard is not None:
        say_share(session)
    elif plan.present:
        console.print(f"{len(plan.present)} of {len(plan.tasks)} runs are there already")
    with watch(console, len(plan.missing)) as progress:
        outcome = solve_all(
            session,
            objective,
            progress,
            limit=problems or LIMIT,
            routing=routing,
            before_kill=progress.restore_terminal,
        )
    if routing:
        print_routings(output(), session, outcome)
    finish(session, outcome)
