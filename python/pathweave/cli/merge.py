"""`pathweave merge`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pathweave.cli.exits import FAILED

if TYPE_CHECKING:
    from pathweave.merging.merge import Merge


def merge(
    folders: Annotated[
        list[Path],
        typer.Argument(help="Folders with results.", metavar="DIR"),
    ],
    into: Annotated[
        Path,
        typer.Option("--into", help="Folder for all of them; what is there stays.", metavar="DIR"),
    ],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only check, and say what would be copied.")
    ] = False,
) -> None:
    """Join results of machines that share no disk, as if one had run all.

    Every run is checked: its files, its settings, its version. A run that several folders have must
    have the same results in all of them. Results of different settings stand in folders beside each
    other, as `run` leaves them; one scenario from different versions is refused. The folders that
    are merged stay as they are.

    Example: pathweave merge from-node1/results from-node2/results --into results
    """
    from pathweave.cli.console import messages, say
    from pathweave.merging.merge import carry_out, plan_merge
    from pathweave.running.interrupt import Interrupt

    console = messages()
    with console.status("checking the runs"):
        found = plan_merge(folders, into)
    total = len(found.copies)
    done = 0
    if not dry_run:
        with Interrupt() as interrupt, console.status("") as status:
            for _ in carry_out(found, lambda: interrupt.raised):
                done += 1
                status.update(f"{done} of {total} runs copied")
            stopped = interrupt.raised and done < total
        if stopped:
            say(
                console,
                f"interrupted: {done} of {total} runs are copied; the same command goes on from"
                " there",
            )
            raise typer.Exit(FAILED)
    _report(found, dry_run=dry_run)
    if found.unusable:
        raise typer.Exit(FAILED)


def _report(found: Merge, *, dry_run: bool) -> None:
    from pathweave.cli.console import messages, output, say
    from pathweave.results.differences import sentences
    from pathweave.results.settings import what_differs

    console = output()
    for part in found.parts:
        runs = len(part.copies)
        word = f"{'would be ' if dry_run else ''}copied"
        there = f", {part.present} there already" if part.present else ""
        say(console, f"{part.folder}: {_runs(runs)} {word}{there}")
    for name in dict.fromkeys(part.name for part in found.parts):
        parts = [part for part in found.parts if part.name == name]
        lines = sentences(what_differs([part.settings for part in parts])) if parts[1:] else []
        if lines:
            say(console, f"{name} was run with different settings, which stand side by side:")
            say(console, f"  {' / '.join(part.folder.name for part in parts)}")
            for line in lines:
                say(console, f"  {line}")
    for path in found.empty:
        say(messages(), f"no finished run in {path}")
    for unusable in found.unusable:
        say(messages(), f"left out: {unusable.reason}")


def _runs(number: int) -> str:
    return f"{number} {'run' if number == 1 else 'runs'}"
