"""Figures as PNG and SVG files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pathweave.plots import theme
from pathweave.plots.painters import Painters
from pathweave.plots.whole import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable
    from concurrent.futures import Future
    from pathlib import Path

    from pathweave.plots.figure import Figure
    from pathweave.plots.painters import Picture

_PADDING = 12


def picture(painters: Painters, figure: Figure) -> Future[Picture]:
    """The figure with its title, on white, to come."""
    spec = figure.spec() | {
        "title": {"text": figure.title},
        "padding": _PADDING,
        "background": "#ffffff",
    }
    return painters.picture(figure.name, spec, theme.config())


def write_picture(folder: Path, figure: Figure, drawn: Picture) -> list[Path]:
    """Write `<name>.png` and `<name>.svg` of a figure to `folder`; the files."""
    folder.mkdir(parents=True, exist_ok=True)
    vector, bitmap = (folder / f"{figure.name}.{ending}" for ending in ("svg", "png"))
    write_whole(vector, drawn.svg)
    write_whole(bitmap, drawn.png)
    return [bitmap, vector]


def write_pictures(folder: Path, figures: Iterable[Figure]) -> None:
    """Draw the figures and write them to `folder`."""
    with Painters() as painters:
        drawn = [(figure, picture(painters, figure)) for figure in figures]
        for figure, future in drawn:
            write_picture(folder, figure, future.result())
