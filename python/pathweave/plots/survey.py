"""Every scheme on every workload in one picture: differences to the baseline as colours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from pathweave.plots import theme
from pathweave.plots.figure import data, name, quantity, tip
from pathweave.plots.smaller_png import smaller
from pathweave.results.wholefile import write_whole

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pathweave.plots.figure import Spec
    from pathweave.surveying.table import Cell
    from pathweave.surveying.workloads import Survey, Workload

_PANELS = (
    (
        ("goodput", "goodput"),
        ("job_time", "job time"),
        ("slowdown_p50_short", "p50, < 100 KB"),
        ("slowdown_p99_short", "p99, < 100 KB"),
    ),
    (
        ("slowdown_p50_long", "p50 of slowdown, ≥ 1 MB"),
        ("slowdown_p99_long", "p99 of slowdown, ≥ 1 MB"),
    ),
)
"""Columns of the table that the picture shows, row by row."""
_MOST = 50.0
"""Per cent at which colours end."""
_TIMES = 900.0
"""Per cent from which a field gives a multiple of the baseline's value."""
_BOUND = "≥"
"""What a field begins with whose value is a lower bound."""
_WIDTH, _HEIGHT = 46, 20
"""Pixels of a field."""


@dataclass(frozen=True)
class SurveyFigure:
    """The picture, not yet drawn."""

    chart: Spec

    def write(self, path: Path) -> None:
        """Draw it as PNG."""
        import vl_convert

        drawn = vl_convert.vegalite_to_png(
            {**self.chart, "config": theme.config()}, vl_version="6.4", scale=1.5
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, smaller(drawn))


def survey_figure(
    survey: Survey,
    tables: Sequence[tuple[Workload, Mapping[str, Mapping[str, Cell]]]],
) -> SurveyFigure:
    """Every scheme against DCTCP that opens with as many packets, in per cent.

    Better is blue and worse is orange, whichever way the quantity goes.
    """
    frame = _fields(survey, tables)
    bounds = frame["text"].str.starts_with(_BOUND).any()
    multiples = frame["text"].str.contains("×").any()
    rows: list[Spec] = []
    for panels in _PANELS:
        shown = [(key, title) for key, title in panels if key in set(frame["quantity"])]
        if shown:
            drawn = [
                _panel(survey, frame.filter(pl.col("quantity") == key), title, first=place == 0)
                for place, (key, title) in enumerate(shown)
            ]
            rows.append({"hconcat": drawn, "spacing": 14})
    burst = f"Schemes with several subflows: difference to {survey.same_burst}."
    chart: Spec = {
        "title": {
            "text": f"Difference to {survey.baseline} in %",
            "subtitle": [
                *([burst] if survey.same_burst else []),
                "Means over seeds, paired; blue is better, orange worse, grey not told apart.",
                *(["× 20: twenty times the baseline's value."] if multiples else []),
                *(["≥: a lower bound, because too much did not finish."] if bounds else []),
            ],
            "anchor": "start",
        },
        "vconcat": rows,
    }
    return SurveyFigure(chart)


def _fields(
    survey: Survey, tables: Sequence[tuple[Workload, Mapping[str, Mapping[str, Cell]]]]
) -> pl.DataFrame:
    rows: list[dict[str, object]] = []
    for workload, table in tables:
        for key in (key for panels in _PANELS for key, _ in panels):
            for scheme, cell in table.get(key, {}).items():
                shown = _field(cell, larger_is_better=key == "goodput")
                if shown is not None and scheme != survey.baseline:
                    place = {"scheme": scheme, "workload": workload.name, "quantity": key}
                    rows.append({**place, **shown})
    named = dict.fromkeys(("scheme", "workload", "quantity", "text"), pl.String)
    return pl.DataFrame(rows, schema={**named, "gain": pl.Float64, "told": pl.Boolean})


def _field(cell: Cell, *, larger_is_better: bool) -> dict[str, object] | None:
    """How good a scheme is in per cent, and what its field says; None where nothing is known."""
    if cell.values.at_least:
        return {"gain": 0.0, "text": _BOUND, "told": False}
    compared = cell.same_burst or cell.compared
    if compared is None or compared.difference.percent is None:
        return None
    percent = compared.difference.percent
    text = f"{percent:+.0f}" if percent < _TIMES else f"× {percent / 100 + 1:,.0f}"
    if compared.outcome not in ("better", "worse"):
        return {"gain": 0.0, "text": text, "told": False}
    gain = percent if larger_is_better else -percent
    return {"gain": max(-_MOST, min(_MOST, gain)), "text": text, "told": True}


def _panel(survey: Survey, frame: pl.DataFrame, title: str, *, first: bool) -> Spec:
    """One quantity: a field for each scheme and workload."""
    order = [scheme.name for scheme in survey.schemes if scheme.name != survey.baseline]
    there = set(frame["workload"])
    workloads = [workload.name for workload in survey.workloads if workload.name in there]
    schemes: Spec = (
        {"title": None, "labelLimit": 160} if first else {"title": None, "labels": False}
    )
    place = {
        "x": name("workload", sort=workloads, axis={"labelAngle": -40, "title": None}),
        "y": name("scheme", sort=order, axis=schemes, scale={"domain": order}),
    }
    colour = quantity(
        "gain",
        scale={"domain": [-_MOST, 0, _MOST], "range": ["#c8621b", "#f4f2ee", "#2f6f9f"]},
        legend=None,
    )
    ink: Spec = {
        "condition": [
            {"test": "abs(datum.gain) > 40", "value": "#ffffff"},
            {"test": "datum.told", "value": "#1c1b19"},
        ],
        "value": "#8d8880",
    }
    return {
        "title": {"text": title, "anchor": "start", "fontSize": 12},
        "data": data(frame),
        "width": {"step": _WIDTH},
        "height": {"step": _HEIGHT},
        "layer": [
            {
                "mark": {"type": "rect", "stroke": "#ffffff"},
                "encoding": place | {"color": colour, "tooltip": [tip("text", "difference")]},
            },
            {
                "mark": {"type": "text", "fontSize": 10},
                "encoding": place | {"text": {"field": "text", "type": "nominal"}, "color": ink},
            },
        ],
    }
