"""Figures as PNG and SVG files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import vl_convert

from pathweave.plots import theme
from pathweave.plots.whole import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pathweave.plots.figure import Figure

PNG_SCALE = 2.0
"""Pixels of a PNG per pixel of the chart."""
_PADDING = 12


def write_pictures(folder: Path, figures: Iterable[Figure]) -> None:
    """Write `<name>.png` and `<name>.svg` of each figure, titled, on white, to `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    for figure in figures:
        spec = figure.spec() | {
            "title": {"text": figure.title},
            "padding": _PADDING,
            "background": "#ffffff",
        }
        svg = vl_convert.vegalite_to_svg(spec, config=theme.config())
        write_whole(folder / f"{figure.name}.svg", svg.encode())
        png = vl_convert.svg_to_png(svg, scale=PNG_SCALE)
        write_whole(folder / f"{figure.name}.png", png)
