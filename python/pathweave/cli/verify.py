"""`pathweave verify`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pathweave.cli import completion
from pathweave.cli.exits import FAILED
from pathweave.cli.options import Jobs  # noqa: TC001

if TYPE_CHECKING:
    from pathweave._core import Scenario
    from pathweave.running.verify import Verdict


def verify(
    folders: Annotated[list[Path], typer.Argument(help="Folders with results.", metavar="DIR...")],
    hashes: Annotated[
        bool, typer.Option("--hashes", help="Only check the files; run nothing again.")
    ] = False,
    scenarios: Annotated[
        list[Path] | None,
        typer.Option(
            "--scenario",
            help="Scenario file of yours whose controllers in files may be executed.",
            metavar="FILE",
            autocompletion=completion.scenarios,
        ),
    ] = None,
    jobs: Jobs = None,
) -> None:
    """Check results: every simulation is run again from its manifest.

    Says for each run whether it comes out the same to the last bit, or what differs. Exits with 1
    when something differs or is damaged.

    Nothing in DIR is executed. Of runs whose controllers are in files only the files are checked.
    With --scenario FILE they are run again with the controllers that FILE names, where these have
    the contents that the results were made with.

    Example: pathweave verify results/tab1 --hashes
    """
    from pathweave.cli.console import messages, output, say
    from pathweave.results.read import search
    from pathweave.running.cores import share
    from pathweave.running.interrupt import Interrupt
    from pathweave.running.verify import Controllers
    from pathweave.running.verify import verify as check

    controllers = Controllers(_read(scenarios)) if scenarios else None
    found = search(folders)
    runs = [
        (f"{run.folder.parent.parent.name}/{run.folder.parent.name}/{run.folder.name}", run)
        for scenario in found.scenarios
        for run in scenario.runs
    ]
    console, progress = output(), messages()
    counts: Counter[str] = Counter()
    with Interrupt() as interrupt:
        verdicts = check(
            runs,
            share(jobs),
            lambda: interrupt.raised,
            hashes=hashes,
            controllers=controllers,
        )
        for verdict in verdicts:
            counts[_kind(verdict)] += 1
            note = f" ({verdict.note})" if verdict.note else ""
            if verdict.differences:
                say(console, f"differs: {verdict.name}{note}")
                for text in verdict.differences:
                    say(console, f"  {text}")
            if not hashes:
                say(progress, f"{counts.total()} of {len(runs)}: {verdict.name}{note}")
    for unusable in found.unusable:
        say(console, f"unusable: {unusable.reason}")
    total = len(runs) + len(found.unusable)
    if not hashes:
        say(console, f"{counts[_SAME]} of {total} runs: the same to the last bit")
    if counts[_AS_WRITTEN] or hashes:
        say(console, f"{counts[_AS_WRITTEN]} of {total} runs: files as written, not run again")
    if counts[_OWN]:
        said = "files checked only, their controllers are in files that were not executed"
        say(console, f"{counts[_OWN]} of {total} runs: {said}")
    if interrupt.raised:
        left = len(runs) - counts.total()
        progress.print(f"interrupted: {left} runs were not checked")
    if counts[_BAD] or found.unusable or interrupt.raised:
        raise typer.Exit(FAILED)


_SAME, _AS_WRITTEN, _OWN, _BAD = "same", "as written", "controllers of their own", "bad"


def _kind(verdict: Verdict) -> str:
    """What a run counts as."""
    if verdict.differences:
        return _BAD
    if verdict.repeated:
        return _SAME
    return _OWN if verdict.has_own_controller else _AS_WRITTEN


def _read(paths: list[Path]) -> list[Scenario]:
    """These scenarios in all of their sizes; their controllers are named as they are loaded."""
    from pathweave.cli.controllers import named
    from pathweave.reproducing.paper_size import sizes_of
    from pathweave.running.session import read_scenario

    found: list[Scenario] = []
    with named() as said:
        for path in paths:
            first = read_scenario(path)
            others = [read_scenario(path, size) for size in sizes_of(path) if size != first.size]
            for scenario in (first, *others):
                said.say_all(scenario.variants, path.parent)
                found.append(scenario)
    return found
