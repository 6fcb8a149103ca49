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


def write_pictures(folder: Path, figures: Iterable[Figure]) -> list[Path]:
    """Write `<name>.png` and `<name>.svg` of each figure, titled, on white, to `folder`.

    Returns the files.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    for figure in figures:
        spec = figure.spec() | {
            "title": {"text": figure.title},
            "padding": _PADDING,
            "background": "#ffffff",
        }
        svg = vl_convert.vegalite_to_svg(spec, config=theme.config())
        vector, bitmap = (folder / f"{figure.name}.{ending}" for ending in ("svg", "png"))
        vector.write_text(svg, encoding="utf-8")
        bitmap.write_bytes(vl_convert.svg_to_png(svg, scale=PNG_SCALE))
        written += [bitmap, vector]
    return written
