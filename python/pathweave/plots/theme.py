"""The look of charts: one Vega-Lite configuration for light pages, one for dark."""

from __future__ import annotations

from typing import Any

FONT = "Liberation Sans, Arial, Helvetica, sans-serif"


def config(*, dark: bool = False) -> dict[str, Any]:
    """Vega-Lite configuration; charts carry none of their own."""
    ink, faint, grid = (
        ("#e6e8eb", "#a9adb5", "#33373f") if dark else ("#1d2127", "#555b65", "#e4e6ea")
    )
    return {
        "font": FONT,
        "background": "transparent",
        "view": {"stroke": None},
        "axis": {
            "labelColor": faint,
            "titleColor": ink,
            "gridColor": grid,
            "domainColor": faint,
            "tickColor": faint,
            "labelFontSize": 12,
            "titleFontSize": 12,
            "titleFontWeight": "normal",
            "titlePadding": 8,
            "labelLimit": 220,
            "labelOverlap": "greedy",
            "labelSeparation": 4,
        },
        "axisX": {"grid": False},
        "axisBand": {"labelOverlap": False, "labelAngle": 0},
        "axisY": {"domain": False, "ticks": False, "titleAlign": "center"},
        "legend": {
            "labelColor": ink,
            "titleColor": faint,
            "labelFontSize": 12,
            "titleFontSize": 12,
            "titleFontWeight": "normal",
            "labelLimit": 400,
            "titleLimit": 400,
            "symbolStrokeWidth": 3,
            "symbolSize": 160,
            "rowPadding": 4,
            "columnPadding": 18,
            "layout": {"top": {"margin": 26}},
        },
        "header": {
            "labelColor": ink,
            "labelFontSize": 12,
            "labelFontWeight": "bold",
            "titleColor": ink,
            "labelLimit": 600,
            "labelPadding": 6,
        },
        "title": {
            "color": ink,
            "subtitleColor": faint,
            "anchor": "start",
            "fontSize": 15,
            "fontWeight": "bold",
            "offset": 14,
        },
        "line": {"strokeWidth": 2, "strokeCap": "round", "strokeJoin": "round"},
        "point": {"size": 45, "filled": True},
        "area": {"opacity": 0.2},
    }
