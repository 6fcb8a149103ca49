"""Figures as PNG and SVG files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import vl_convert

from pathweave.plots import theme

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
        (folder / f"{figure.name}.svg").write_text(svg, encoding="utf-8")
        png = vl_convert.svg_to_png(svg, scale=PNG_SCALE)
        (folder / f"{figure.name}.png").write_bytes(png)
