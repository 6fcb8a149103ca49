"""`pathweave demo`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pathweave.cli.options import Jobs, Out  # noqa: TC001
from pathweave.results import layout


def demo(
    folder: Annotated[
        Path, typer.Argument(help="Where the scenario is written.", metavar="[FOLDER]")
    ] = Path(),
    out: Out = layout.DEFAULT_ROOT,
    jobs: Jobs = None,
) -> None:
    """Write a first scenario, demo.toml, run it, and say what to try next.

    It compares three controls on a small fat-tree and takes some seconds. A demo.toml that is there
    already is kept and run as it is.

    Example: pathweave demo
    """
    from pathweave.cli.console import output
    from pathweave.cli.run import run
    from pathweave.demo import write_scenario

    path = write_scenario(folder)
    run(path, out=out, jobs=jobs)
    results = out / path.stem
    output().print(
        f"\nThe scenario is {path}: change it and `pathweave run {path}`.\n"
        f"Charts: pathweave report {results}",
        soft_wrap=True, markup=False, highlight=False,
    )  # fmt: skip
