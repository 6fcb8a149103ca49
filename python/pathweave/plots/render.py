"""Figures as PNG and SVG files."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

from pathweave.plots import theme
from pathweave.plots.figure import AXIS_WIDTH, PAGE_WIDTH
from pathweave.plots.painters import Painters
from pathweave.results.wholefile import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable
    from concurrent.futures import Future
    from pathlib import Path

    from pathweave.plots.figure import Figure
    from pathweave.plots.painters import Picture

_PADDING = 12
_LETTER = 6.4
"""Pixels of a letter of a caption, about."""


def picture(painters: Painters, figure: Figure, about: str = "") -> Future[Picture]:
    """The figure with its title and caption, on white, to come.

    `about` says what it is of: the scenario, its size and seeds.
    """
    alone = figure.chart.get("width")
    letters = int((PAGE_WIDTH if alone is None else alone + AXIS_WIDTH) / _LETTER)
    spec = figure.spec() | {
        "title": {
            "text": figure.title,
            "subtitle": [*([about] if about else []), *wrap(figure.caption, letters)],
        },
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


def write_pictures(folder: Path, figures: Iterable[Figure], about: str = "") -> None:
    """Draw the figures and write them to `folder`."""
    with Painters() as painters:
        drawn = [(figure, picture(painters, figure, about)) for figure in figures]
        for figure, future in drawn:
            write_picture(folder, figure, future.result())
