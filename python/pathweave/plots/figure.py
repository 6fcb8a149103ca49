"""A figure: one chart with its title and what a reader must know to read it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import altair as alt
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pathweave.plots.palette import Palette

PAGE_WIDTH = 960
"""Pixels that a chart may be wide, its axes included."""
AXIS_WIDTH = 70
"""Pixels that the labels and the title of a y axis take."""
SPACING = 28
"""Pixels between panels."""

Chart = alt.Chart | alt.LayerChart | alt.FacetChart | alt.VConcatChart | alt.HConcatChart


@dataclass(frozen=True)
class Figure:
    """A chart, ready to be shown or written."""

    name: str
    """File name without suffix."""
    title: str
    caption: str
    chart: Chart

    def spec(self) -> dict[str, Any]:
        """The Vega-Lite specification without a configuration; `theme.config` has that."""
        spec = self.chart.to_dict(validate=False)
        spec.pop("config", None)
        return spec


def data(frame: pl.DataFrame, digits: int = 5) -> alt.InlineData:
    """`frame` as CSV inside the chart, floats in `digits` significant digits."""
    floats = [name for name, kind in frame.schema.items() if kind.is_float()]
    rounded = frame.with_columns(pl.col(floats).round_sig_figs(digits)) if floats else frame
    parse = {
        name: "number" if kind.is_numeric() else "string" for name, kind in frame.schema.items()
    }
    return alt.InlineData(
        values=rounded.write_csv(), format=alt.CsvDataFormat(type="csv", parse=parse)
    )


def scheme_colour(
    palette: Palette, present: Sequence[str], *, legend: bool = True, symbol: str = "stroke"
) -> alt.Color:
    """Colour by the column `scheme`, in the palette's order; `symbol` is the legend's mark."""
    order = [scheme for scheme in palette.schemes if scheme in present]
    return alt.Color(
        "scheme:N",
        title=None,
        scale=alt.Scale(domain=order, range=[palette.colour(scheme) for scheme in order]),
        legend=top_legend(order, symbol=symbol) if legend and len(order) > 1 else None,
    )


def scheme_dash(palette: Palette, present: Sequence[str]) -> alt.StrokeDash | alt.StrokeDashValue:
    """Dashes by the column `scheme`; plain lines as long as colours are enough."""
    order = [scheme for scheme in palette.schemes if scheme in present]
    if len({palette.colour(scheme) for scheme in order}) == len(order):
        return alt.StrokeDashValue([])
    return alt.StrokeDash(
        "scheme:N",
        title=None,
        scale=alt.Scale(domain=order, range=[palette.dash(scheme) for scheme in order]),
        legend=top_legend(order) if len(order) > 1 else None,
    )


def log_axis(low: float, high: float, *, title: str) -> dict[str, Any]:
    """Arguments of a logarithmic axis with few, round ticks: decades, or 1-2-5 on a short one."""
    steps = (1.0,) if high > low * 300 else (1.0, 2.0, 5.0)
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    ticks = [step * 10.0**power for power in range(first, last + 1) for step in steps]
    inside = [tick for tick in ticks if low <= tick <= high]
    return {
        "title": title,
        "scale": alt.Scale(type="log", nice=False, domain=[low, high]),
        "axis": alt.Axis(values=inside, format="~g"),
    }


def top_legend(
    names: Sequence[str], title: str | None = None, *, symbol: str = "stroke"
) -> alt.Legend:
    """A legend above the chart, in as many columns as fit the page."""
    widest = max((len(name) for name in names), default=1) * 7 + 45
    return alt.Legend(
        orient="top", title=title, columns=max(1, min(len(names), PAGE_WIDTH // widest)),
        symbolType=symbol, symbolOpacity=1,
    )  # fmt: skip


def panel_size(count: int, *, tall: int = 260) -> tuple[int, int, int]:
    """Columns, width and height in pixels of each of `count` panels."""
    if count <= 1:
        return 1, 640, tall + 20
    columns = count if count <= 3 else (2 if count == 4 else 3)
    return columns, panel_width(columns), tall if columns < 3 else tall - 40


def panel_width(columns: int) -> int:
    """Width in pixels of each of `columns` panels that share the y axis of the first."""
    return (PAGE_WIDTH - AXIS_WIDTH - SPACING * (columns - 1)) // columns


def in_panels(
    chart: alt.Chart | alt.LayerChart | alt.FacetChart,
    source: alt.InlineData,
    panels: Sequence[str],
    columns: int,
) -> Chart:
    """`chart` once for each name in the column `panel`; as it is when there is one without name."""
    if isinstance(chart, alt.FacetChart) or (len(panels) <= 1 and not any(panels)):
        return chart.properties(data=source)
    return chart.facet(
        facet=alt.Facet("panel:N", title=None, sort=list(panels)),
        data=source,
        columns=columns,
        spacing=SPACING,
    )
