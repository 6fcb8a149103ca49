"""`pathweave testbed`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from pathweave.cli.exits import FAILED
from pathweave.cli.options import Divided, Only, Out, ScenarioFile, Seeds, Sets, Size  # noqa: TC001
from pathweave.errors import InputError
from pathweave.results import layout

if TYPE_CHECKING:
    from pathweave.running.pool import Outcome
    from pathweave.running.session import Session


def _clean(context: typer.Context, wanted: bool) -> None:
    """Let the binary take this process's place when nothing is to be played."""
    if wanted and not context.resilient_parsing:  # a shell that completes words runs nothing
        from pathweave.linux import binary

        program = str(binary())
        os.execv(program, [program, "testbed", "--clean"])  # noqa: S606 - no shell is wanted


def play_all(
    scenario: ScenarioFile,
    size: Size = None,
    seeds: Seeds = None,
    valid: Annotated[
        int | None,
        typer.Option(
            help="Valid runs of each variant: seeds go on until there are this many, or three times"
            " as many runs.",
            metavar="N",
            min=1,
            max=10_000,
        ),
    ] = None,
    sets: Sets = None,
    only: Only = None,
    out: Out = layout.DEFAULT_ROOT,
    stretch: Annotated[
        int,
        typer.Option(
            help="Slow time down: rates divided, delays multiplied by N.",
            metavar="N",
            min=1,
            max=1000,
        ),
    ] = 1,
    gso: Annotated[
        bool,
        typer.Option(
            "--gso/--no-gso",
            help="Let hosts send bundles of packets (generic segmentation offload), or packet by"
            " packet, as the simulation's do.",
        ),
    ] = True,
    controllers: Annotated[
        list[str] | None,
        typer.Option(
            "--controller",
            help="Play a traffic group with a congestion control of the kernel's own, such as bbr.",
            metavar="GROUP=NAME",
        ),
    ] = None,
    transports: Annotated[
        list[str] | None,
        typer.Option(
            "--transport",
            help="Play traffic groups over multipath QUIC: `quic` all groups whose flows have"
            " several subflows, `GROUP=quic` one group of any kind, `GROUP=tcp` not this one.",
            metavar="quic|GROUP=quic",
        ),
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Play again what is there.")] = False,
    clean: Annotated[  # noqa: ARG001 - its callback does what it says
        bool,
        typer.Option(
            "--clean",
            help="Play nothing (no SCENARIO is needed): remove the network namespaces and put back"
            " the settings that killed runs have left, and say what that was.",
            callback=_clean,
            is_eager=True,
        ),
    ] = False,
    divided: Divided = None,
) -> None:
    """Play a scenario on this machine: real MPTCP hosts, the fabric in real time.

    All variants and seeds, one after the other, in network namespaces of this machine's kernel.
    Needs root, and `make linux`. Results go to DIR/<scenario>/<settings>-testbed/ (with
    --stretch and --no-gso, to <settings>-testbed-stretch<N>-no-gso/, with --transport quic to
    <settings>-testbed-quic/), in the form that `run`
    gives them. A
    run whose packets left too late is kept, marked as invalid, and left out of means.

    Example: pathweave testbed papers/xmp/fig4.toml --size linux --stretch 10 --seeds 5

    Example: pathweave testbed --clean
    """
    from pathweave.cli.console import messages
    from pathweave.cli.outcome import finish
    from pathweave.cli.progress import watch
    from pathweave.cli.source import open_scenario
    from pathweave.linux import binary
    from pathweave.running.playing import Playing
    from pathweave.running.session import Request
    from pathweave.running.testbed import TRIES, play

    if divided:
        raise InputError(
            "results of real hosts are of one machine, and those of several do not belong together:"
            " testbed has no --shard and no --dask"
        )
    if seeds and valid:
        raise InputError("--valid goes through as many seeds as it needs: leave --seeds out")
    session = open_scenario(
        Request(
            path=scenario,
            size=size,
            seeds=TRIES * valid if valid else seeds,
            sets=tuple(sets or ()),
            only=tuple(only or ()),
            root=out,
            fresh=fresh,
            playing=Playing(
                stretch,
                gso=gso,
                controllers=tuple(controllers or ()),
                transports=tuple(transports or ()),
            ),
            valid=valid,
        ),
        None,
    )
    binary()  # a missing one is said before a folder is made
    console = messages()
    plan = session.plan
    if plan.present:
        runs = f"of {len(plan.tasks)} runs" if not valid else "runs"
        console.print(f"{len(plan.present)} {runs} are there already")
    with watch(console, len(plan.missing), "played") as progress:
        outcome = play(session, progress, progress.restore_terminal)
    finish(session, outcome)
    if valid and _report_short(session, outcome, valid):
        raise typer.Exit(FAILED)


def _report_short(session: Session, outcome: Outcome, wanted: int) -> bool:
    """Say which variants have too few valid runs; whether there are some."""
    from pathweave.cli.console import messages
    from pathweave.running.testbed import valid_runs

    done = (*session.plan.present, *outcome.finished)
    short = False
    for variant in session.plan.scenario.variants:
        found = valid_runs(variant.slug, done)
        if found < wanted:
            short = True
            name = variant.label or session.plan.scenario.name
            text = f"{name}: only {found} of {wanted} runs are valid; a larger --stretch helps"
            messages().print(text, markup=False)
    return short
