"""`pathweave verify`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pathweave.cli.exits import FAILED
from pathweave.cli.options import Jobs  # noqa: TC001


def verify(
    folders: Annotated[list[Path], typer.Argument(help="Folders with results.", metavar="DIR...")],
    hashes: Annotated[
        bool, typer.Option("--hashes", help="Only check the files; run nothing again.")
    ] = False,
    jobs: Jobs = None,
) -> None:
    """Check results: every simulation is run again from its manifest.

    Says for each run whether it comes out the same to the last bit, or which tables differ. Exits
    with 1 when something differs or is damaged.

    Example: pathweave verify results/tab1 --hashes
    """
    from pathweave.cli.console import messages, output
    from pathweave.results.read import search
    from pathweave.running.cores import share
    from pathweave.running.interrupt import Interrupt
    from pathweave.running.verify import verify as check

    found = search(folders)
    runs = [
        (f"{run.folder.parent.parent.name}/{run.folder.parent.name}/{run.folder.name}", run)
        for scenario in found.scenarios
        for run in scenario.runs
    ]
    console, progress = output(), messages()
    same = as_written = bad = 0
    with Interrupt() as interrupt:
        for verdict in check(runs, share(jobs), lambda: interrupt.raised, hashes=hashes):
            done = same + as_written + bad + 1
            word = "differs" if verdict.differences else "same"
            note = f" ({verdict.note})" if verdict.note else ""
            if verdict.differences:
                bad += 1
                console.print(f"{word}: {verdict.name}{note}", markup=False, soft_wrap=True)
                for text in verdict.differences:
                    console.print(f"  {text}", markup=False, soft_wrap=True)
            elif verdict.repeated:
                same += 1
            else:
                as_written += 1
            if not hashes:
                progress.print(f"{done} of {len(runs)}: {verdict.name}{note}", markup=False)
    for unusable in found.unusable:
        console.print(f"unusable: {unusable.reason}", markup=False, soft_wrap=True)
    total = len(runs) + len(found.unusable)
    if not hashes:
        console.print(f"{same} of {total} runs: the same to the last bit")
    if as_written or hashes:
        console.print(f"{as_written} of {total} runs: files as written, not run again")
    if interrupt.raised:
        progress.print(f"interrupted: {len(runs) - same - as_written - bad} runs were not checked")
    if bad or found.unusable or interrupt.raised:
        raise typer.Exit(FAILED)
