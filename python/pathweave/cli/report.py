"""`pathweave report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pathweave.cli.options import Baseline  # noqa: TC001


def report(
    folders: Annotated[list[Path], typer.Argument(help="Folders with results.", metavar="DIR...")],
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the report; DIR/report if not given.", metavar="DIR"),
    ] = None,
    baseline: Baseline = None,
    pictures: Annotated[bool, typer.Option(help="Also write every chart as PNG and SVG.")] = True,
) -> None:
    """Write a report: one HTML page that needs no network, and its charts as PNG and SVG.

    Example: pathweave report results/fig1
    """
    from pathweave.cli.console import messages, output
    from pathweave.report.build import build_report

    console = messages()
    with console.status("drawing") if console.is_terminal else _nothing():
        page = build_report(folders, out, pictures=pictures, baseline=baseline)
    output().print(f"Report: {page}", soft_wrap=True, highlight=False)


def _nothing():
    from contextlib import nullcontext

    return nullcontext()
