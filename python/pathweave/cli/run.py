"""`pathweave run`."""

from __future__ import annotations

from dataclasses import replace
from json import loads
from typing import TYPE_CHECKING, Annotated

import typer

from pathweave.cli.copies import say_copies
from pathweave.cli.options import (  # noqa: TC001
    Baseline,
    Dask,
    Jobs,
    Json,
    Name,
    Only,
    Out,
    Scenario,
    Seeds,
    Sets,
    Shard,
    Size,
    Sweeps,
    Threads,
)
from pathweave.errors import InputError, ScenarioError
from pathweave.results import layout

if TYPE_CHECKING:
    from pathweave.running.place import Place
    from pathweave.running.pool import Outcome
    from pathweave.running.session import Request, Session
    from pathweave.running.until import Target

MAP_SETTING = 'record.map="auto"'


def run(
    scenario: Scenario,
    name: Name = None,
    size: Size = None,
    seeds: Seeds = None,
    sets: Sets = None,
    sweeps: Sweeps = None,
    only: Only = None,
    out: Out = layout.DEFAULT_ROOT,
    jobs: Jobs = None,
    threads: Threads = None,
    shard: Shard = None,
    dask: Dask = None,
    baseline: Baseline = None,
    until: Annotated[
        str | None,
        typer.Option(
            help="Add seeds until the intervals of the differences to the baseline are this"
            " narrow: 2%, or goodput=2%; --seeds at most, 64 if not given.",
            metavar="[QUANTITY=]PERCENT",
        ),
    ] = None,
    fabric_map: Annotated[
        bool,
        typer.Option(
            "--map",
            help="Record what every link did, for the report's map of the fabric; the same as"
            " --set record.map=auto.",
        ),
    ] = False,
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
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Only say what would be run, and about how long it would take."
        ),
    ] = False,
    trace_events: Annotated[
        str | None,
        typer.Option(
            help="Print each event at the source of one flow, by its number: flow=3. For those who"
            " debug a controller; no results are kept.",
            metavar="flow=N",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Simulate a scenario: all its variants and seeds.

    Results go to DIR/<scenario>/<settings>/<variant>-s<seed>/. Runs that are there already are
    kept, those of other settings too; Ctrl-C ends cleanly, and the same command goes on from there.

    With --until it begins with 8 seeds and adds 4 at a time, until the widest 95 % interval has
    been narrow enough twice in a row.

    With --shard I/N it runs one of N shares of the runs. N machines with the same command but for
    I do all of them, into one folder on a shared disk or into folders that `merge` joins. With
    --dask the workers of a cluster do them, with or without a shared disk.

    Example: pathweave run papers/xmp/tab1.toml --only scheme=XMP-4 --seeds 3

    A sweep: pathweave run papers/xmp/fig1.toml --sweep fabric.queue.limit=25,50,100

    A flow: pathweave run papers/xmp/tab1.toml --only scheme=XMP-4 --only pattern=Permutation
    --seeds 1 --trace-events flow=3
    """
    from pathweave.cli import estimates
    from pathweave.cli.flow_events import parse_flow, print_events
    from pathweave.cli.outcome import finish_as_json
    from pathweave.cli.reach import cores_of, reached
    from pathweave.cli.warned import warn_before_run
    from pathweave.running.session import Request, check_baseline
    from pathweave.running.shard import UNTIL_NEEDS_ALL, parse_shard
    from pathweave.running.until import MOST, parse_target

    if shard and until:
        raise InputError(UNTIL_NEEDS_ALL)
    request = Request(
        path=scenario,
        size=size,
        seeds=seeds or MOST if until else seeds,
        sets=tuple(sets or ()),
        sweeps=tuple(sweeps or ()),
        only=tuple(only or ()),
        root=out,
        fresh=fresh,
        beside=_beside(utility, problems, asked=optimum),
        problems=problems,
        shard=parse_shard(shard) if shard else None,
    )
    session = _opened(request, name, in_one_line=json)
    if fabric_map and not _records_map(session):
        request = replace(request, sets=(*request.sets, MAP_SETTING))
        session = _opened(request, name, in_one_line=json)
    check_baseline(session, baseline)
    say_copies(session)
    warn_before_run(session)
    if trace_events is not None:
        print_events(session, parse_flow(trace_events))
        return
    if request.beside:
        from pathweave.cli.optimum import check

        check(session, request.beside)
    target = parse_target(until, session.plan.scenario.groups) if until else None
    if dry_run:
        estimates.print_estimates(
            session, cores_of(dask, jobs, threads), until=target is not None, json=json
        )
        return
    with reached(dask, jobs, threads, len(session.plan.missing)) as place:
        if place.here:
            estimates.say_if_long(session, place.cores, until=target is not None)
        session, outcome, said = _simulate(session, place, target, baseline)
    end = finish_as_json if json else _finish
    if request.beside and not outcome.cancelled:
        from pathweave.cli.optimum import solve_beside

        try:
            solve_beside(session, outcome, request.beside, problems)
        except typer.Exit:  # interrupted: all that programs can have is what is there
            if json:
                end(session, outcome, baseline, said)
            raise
    end(session, outcome, baseline, said)


def _simulate(
    session: Session, place: Place, target: Target | None, baseline: str | None
) -> tuple[Session, Outcome, str]:
    """Run what is missing, with as many seeds as a target needs; how that ended, in words."""
    from pathweave.cli.console import messages
    from pathweave.cli.progress import watch
    from pathweave.cli.share import say_share
    from pathweave.running.session import execute
    from pathweave.running.until import run_until

    console = messages()

    def simulate(session: Session) -> Outcome:
        plan = session.plan
        if session.request.shard is not None:
            say_share(session)
        elif plan.present and target is None:
            console.print(f"{len(plan.present)} of {len(plan.tasks)} runs are there already")
        with watch(console, len(plan.missing)) as progress:
            return execute(session, place.cores, progress, progress.restore_terminal, place.run)

    if target is None:
        return session, simulate(session), ""
    ended = run_until(session, target, baseline, simulate)
    return ended.session, ended.outcome, ended.said


def _records_map(session: Session) -> bool:
    """Whether the file or a setting has an interval for the map already."""
    variants = session.plan.scenario.variants
    return all("map" in loads(each.resolved).get("record", {}) for each in variants)


def _beside(utility: str, problems: int | None, *, asked: bool) -> str | None:
    """What is maximised beside the simulations; None for nothing."""
    if asked:
        from pathweave.solving.objective import parse

        return parse(utility).text
    if problems or utility != layout.DEFAULT_UTILITY:
        raise InputError("--utility and --problems are about the optimum: add --optimum")
    return None


def _opened(request: Request, name: str | None, *, in_one_line: bool) -> Session:
    """The session of a request; programs read a mistake in one line."""
    from pathweave.cli.source import open_scenario

    try:
        return open_scenario(request, name)
    except ScenarioError as error:
        if not in_one_line:
            raise
        raise InputError(error.in_one_line()) from error


def _finish(session: Session, outcome: Outcome, baseline: str | None, said: str) -> None:
    """Print tables, and how a run until it is sure ended."""
    from pathweave.cli.console import messages
    from pathweave.cli.outcome import finish

    try:
        finish(session, outcome, baseline)
    finally:
        if said:
            messages().print(said, markup=False)
