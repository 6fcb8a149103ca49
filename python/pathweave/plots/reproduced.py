"""Published numbers and ours in one chart: a claim's variants, in the published order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from pathweave.plots.figure import PAGE_WIDTH, SPACING, Figure, in_panels, name, quantity, tip
from pathweave.plots.palette import PAPER_LIGHT
from pathweave.plots.ticks import most_ticks, zero_axis
from pathweave.plots.words import by_panel, value_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pathweave.plots.figure import Spec

_ROW = 26
"""Pixels of a variant."""
_LETTER = 6.6
"""Pixels of a letter of a name, about."""
_OURS = "#31688e"
_PUBLISHED = "#55606b"


def reproduced_figure(
    figure: str,
    title: str,
    axis: str,
    unit: str,
    rows: Sequence[tuple[str, str, float, float | None, float | None]],
) -> Figure | None:
    """A figure of rows (panel, variant, ours, half its interval, published), in their order.

    `axis` says what is measured; all values are in `unit`.
    """
    if not rows:
        return None
    frame = pl.DataFrame(
        [
            {
                "panel": panel,
                "variant": variant,
                "value": ours,
                "half": half,
                "low": None if half is None else max(0.0, ours - half),
                "high": None if half is None else ours + half,
                "published": published,
            }
            for panel, variant, ours, half, published in rows
        ],
        schema_overrides=dict.fromkeys(("half", "low", "high", "published"), pl.Float64),
    )
    panels = frame["panel"].unique(maintain_order=True).to_list()
    variants = frame["variant"].unique(maintain_order=True).to_list()
    margin = int(min(200, max(map(len, variants)) * _LETTER)) + 24
    columns = min(3, len(panels))
    width = min(640, (PAGE_WIDTH - margin - SPACING * (columns - 1)) // columns)
    highest = frame.select(pl.max_horizontal("value", "high", "published").max()).item()
    titled = f"{axis} ({unit})" if unit else axis
    x = zero_axis(titled, float(highest), most=most_ticks(width))
    x = x | {"axis": x["axis"] | {"grid": True}}
    y: Spec = {"y": name("variant", sort=variants, axis={"labelLimit": 200})}
    tips = [
        tip("variant", "variant"),
        tip("value", "ours", ".4~g"),
        tip("half", "± (95 %)", ".2~g"),
        tip("published", "published", ".4~g"),
    ]
    shown = {"type": "point", "shape": "diamond", "size": 90, "strokeWidth": 1.8}
    layers: list[Spec] = [
        {
            "mark": {**shown, "fill": PAPER_LIGHT, "stroke": _PUBLISHED, "opacity": 1},
            "transform": [{"filter": "isValid(datum.published)"}],
            "encoding": y | {"x": quantity("published") | x, "tooltip": tips},
        },
        {
            "mark": {"type": "rule", "strokeWidth": 2.4, "color": _OURS},
            "transform": [{"filter": "isValid(datum.half)"}],
            "encoding": y | {"x": quantity("low") | x, "x2": {"field": "high"}},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 48, "color": _OURS, "opacity": 1},
            "encoding": y | {"x": quantity("value") | x, "tooltip": tips},
        },
    ]
    chart: Spec = {"layer": layers, "width": width, "height": _ROW * len(variants)}
    caption = "Diamond: published. Dot: ours, the mean over seeds; line: its 95 % interval."
    said: dict[str, list[str]] = {}
    for panel, variant, ours, _, published in rows:
        text = f"{variant} {value_text(ours, unit)}".strip()
        text += "" if published is None else f", published {value_text(published, unit).strip()}"
        said.setdefault(panel, []).append(text)
    shows = by_panel((panel, said[panel]) for panel in panels)
    return Figure(
        figure, title, caption, in_panels(chart, frame, panels, columns, axis=margin), shows
    )
