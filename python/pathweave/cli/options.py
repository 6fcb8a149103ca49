"""Arguments and options that `run` and `solve` have in common."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Scenario = Annotated[Path, typer.Argument(help="Scenario file.", metavar="SCENARIO")]
Size = Annotated[
    str | None, typer.Option(help="A size that the file defines, such as quick or paper.")
]
Seeds = Annotated[
    int | None, typer.Option(help="Number of seeds.", metavar="N", min=1, max=100_000)
]
Sets = Annotated[
    list[str] | None,
    typer.Option("--set", help="Override a value of the file.", metavar="KEY=VALUE"),
]
Only = Annotated[
    list[str] | None,
    typer.Option(help="Only the variants with this name.", metavar="AXIS=NAME"),
]
Out = Annotated[Path, typer.Option(help="Folder for results.", metavar="DIR")]
Baseline = Annotated[
    str | None,
    typer.Option(
        help="The variant that the others are compared with; the first if not given.",
        metavar="NAME",
    ),
]
