"""A figure: one chart with its title, what a reader must know to read it, and what it shows.

Charts are Vega-Lite specifications as dictionaries. `theme` has their look.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pathweave.plots.palette import Palette

Spec = dict[str, Any]
"""A Vega-Lite specification, or a part of one."""

PAGE_WIDTH = 960
"""Pixels that a chart may be wide, its axes included."""
AXIS_WIDTH = 70
"""Pixels that the labels and the title of a y axis take."""
SPACING = 28
"""Pixels between panels."""
_TIME_DIGITS = 12
MOST_LINES = 6
"""Schemes that share a panel at most; more are told apart by their colours no longer."""


@dataclass(frozen=True)
class Figure:
    """A chart, ready to be shown or written."""

    name: str
    """File name without suffix."""
    title: str
    caption: str
    chart: Spec
    shows: str = ""
    """What is to be seen in it, in words and numbers: the alternative text."""

    def spec(self) -> Spec:
        """The Vega-Lite specification without a configuration; `theme.config` has that."""
        return {"description": f"{self.title}. {self.shows}".strip(), **self.chart}


def data(frame: pl.DataFrame, digits: int = 5) -> Spec:
    """`frame` as CSV inside the chart, floats in `digits` significant digits.

    Times have more, because a close-up shows a small part of a long run.
    """
    floats = [name for name, kind in frame.schema.items() if kind.is_float()]
    rounded = frame.with_columns(
        pl.col(column).round_sig_figs(_TIME_DIGITS if column.endswith("_s") else digits)
        for column in floats
    )
    parse = {
        name: "number" if kind.is_numeric() else "string" for name, kind in frame.schema.items()
    }
    return {"values": rounded.write_csv(), "format": {"type": "csv", "parse": parse}}


def quantity(column: str, title: str | None = None, **more: Any) -> Spec:
    """Encoding by a column of numbers."""
    return {"field": column, "type": "quantitative", "title": title, **more}


def name(column: str, title: str | None = None, **more: Any) -> Spec:
    """Encoding by a column of names."""
    return {"field": column, "type": "nominal", "title": title, **more}


def tip(column: str, title: str, form: str | None = None) -> Spec:
    """A line of what is shown at the pointer; numbers in the d3 format `form`."""
    kind = "quantitative" if form else "nominal"
    line = {"field": column, "type": kind, "title": title}
    return line | ({"format": form} if form else {})


def scheme_colour(
    palette: Palette, present: Sequence[str], *, legend: bool = True, symbol: str = "stroke"
) -> Spec:
    """Colour by the column `scheme`, in the palette's order; `symbol` is the legend's mark."""
    order = [scheme for scheme in palette.schemes if scheme in present]
    return name(
        "scheme",
        scale={"domain": order, "range": [palette.colour(scheme) for scheme in order]},
        legend=top_legend(order, symbol=symbol) if legend and len(order) > 1 else None,
    )


def scheme_dash(palette: Palette, present: Sequence[str]) -> Spec:
    """Dashes by the column `scheme`; plain lines as long as colours are enough."""
    order = [scheme for scheme in palette.schemes if scheme in present]
    if len({palette.colour(scheme) for scheme in order}) == len(order):
        return {"value": [1, 0]}
    return name(
        "scheme",
        scale={"domain": order, "range": [palette.dash(scheme) for scheme in order]},
        legend=top_legend(order) if len(order) > 1 else None,
    )


def top_legend(names: Sequence[str], title: str | None = None, *, symbol: str = "stroke") -> Spec:
    """A legend above the chart, in as many columns as fit the page."""
    return {
        "orient": "top",
        "title": title,
        "columns": legend_columns(names, PAGE_WIDTH),
        "symbolType": symbol,
        "symbolOpacity": 1,
    }


def legend_columns(names: Sequence[str], room: int) -> int:
    """Columns of a legend of these names that fit into `room` pixels; the page's script agrees."""
    widest = max((len(each) for each in names), default=1) * 7 + 45
    return max(1, min(len(names), room // widest))


def panel_size(count: int, *, tall: int = 260) -> tuple[int, int, int]:
    """Columns, width and height in pixels of each of `count` panels."""
    if count <= 1:
        return 1, 640, tall + 20
    columns = count if count <= 3 else (2 if count == 4 else 3)
    return columns, panel_width(columns), tall if columns < 3 else tall - 40


def panel_width(columns: int, axis: int = AXIS_WIDTH) -> int:
    """Width in pixels of each of `columns` panels that share the y axis of the first."""
    return (PAGE_WIDTH - axis - SPACING * (columns - 1)) // columns


def in_panels(
    chart: Spec, frame: pl.DataFrame, panels: Sequence[str], columns: int, *, axis: int = AXIS_WIDTH
) -> Spec:
    """`chart` once for each name in the column `panel`; as it is when there is one without name.

    `axis` is the width that the labels of the y axis take. The page's script lays the panels out
    for less room.
    """
    rest = {"data": data(frame), "usermeta": {"axis": axis}}
    if len(panels) <= 1 and not any(panels):
        return chart | rest
    return {
        "facet": name("panel", sort=list(panels)),
        "columns": columns,
        "spacing": SPACING,
        "spec": chart,
        **rest,
    }


def apart(frame: pl.DataFrame, palette: Palette, panels: Sequence[str]) -> pl.DataFrame:
    """`frame` with its panels split, so that no panel has more than `MOST_LINES` schemes.

    The baseline is in all parts of a panel: the others are compared with it. So are rows without a
    scheme.
    """
    parts: list[pl.DataFrame] = []
    for panel in panels:
        here = frame.filter(pl.col("panel") == panel)
        present = set(here["scheme"].drop_nulls())
        schemes = [scheme for scheme in palette.schemes if scheme in present]
        if len(schemes) <= MOST_LINES:
            parts.append(here)
            continue
        fixed = [scheme for scheme in schemes if scheme == palette.baseline]
        others = [scheme for scheme in schemes if scheme not in fixed]
        room = MOST_LINES - len(fixed)
        count = -(-len(others) // room)
        size = -(-len(others) // count)
        for place in range(count):
            chosen = [*fixed, *others[place * size : (place + 1) * size]]
            label = f"{panel} ({place + 1} of {count})".strip()
            own = pl.col("scheme").is_in(chosen) | pl.col("scheme").is_null()
            parts.append(here.filter(own).with_columns(panel=pl.lit(label)))
    return pl.concat(parts) if parts else frame


def panels_of(frame: pl.DataFrame) -> list[str]:
    """Names of the panels of `frame`, in its order."""
    return frame["panel"].unique(maintain_order=True).to_list()
