"""`pathweave report`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pathweave.cli.options import Baseline, Json  # noqa: TC001

if TYPE_CHECKING:
    from pathweave.report.build import Built


def report(
    folders: Annotated[list[Path], typer.Argument(help="Folders with results.", metavar="DIR...")],
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the report; DIR/report if not given.", metavar="DIR"),
    ] = None,
    baseline: Baseline = None,
    pictures: Annotated[bool, typer.Option(help="Also write every chart as PNG and SVG.")] = True,
    json: Json = False,
) -> None:
    """Write a report: one HTML page that needs no network, and its charts as PNG and SVG.

    Ctrl-C leaves the files that are written, each of them whole.

    Example: pathweave report results/fig1
    """
    import signal

    from pathweave.cli.console import messages, output, print_json
    from pathweave.cli.drawing import watch
    from pathweave.report.build import build

    # A request to end is taken as Ctrl-C is: drafts are removed before the process goes.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with watch(messages()) as steps:
        built = build(folders, out, pictures=pictures, baseline=baseline, steps=steps)
    if json:
        print_json(_document(built, baseline))
    else:
        output().print(f"Report: {built.page}", soft_wrap=True, highlight=False)


def _document(built: Built, baseline: str | None) -> dict[str, Any]:
    """What was written and what it says, for programs."""
    from pathweave.results.document import document

    return {
        "page": str(built.page),
        "charts": [str(chart) for chart in built.charts],
        "scenarios": [document(scenario, baseline) for scenario in built.scenarios],
        "changes": None if built.changed is None else built.changed.changes.to_json(),
        "left_out": built.unusable,
    }
