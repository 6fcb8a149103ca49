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

    Ctrl-C leaves the files that are written, each of them whole.

    Example: pathweave report results/fig1
    """
    import signal

    from pathweave.cli.console import messages, output
    from pathweave.cli.drawing import watch
    from pathweave.report.build import build_report

    # A request to end is taken as Ctrl-C is: drafts are removed before the process goes.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with watch(messages()) as steps:
        page = build_report(folders, out, pictures=pictures, baseline=baseline, steps=steps)
    output().print(f"Report: {page}", soft_wrap=True, highlight=False)
