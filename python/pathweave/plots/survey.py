"""Every scheme on every workload in one picture: differences to the baseline as colours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from pathweave.plots import theme
from pathweave.plots.figure import data, name, quantity, tip
from pathweave.results.wholefile import write_whole

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pathweave.plots.figure import Spec
    from pathweave.surveying.table import Cell
    from pathweave.surveying.workloads import Survey, Workload

_SHOWN = (
    ("goodput", "goodput"),
    ("short_p50", "p50 of short flows"),
    ("short_p99", "p99 of short flows"),
)
"""Columns of the table that the picture shows."""
_MOST = 50.0
"""Per cent at which colours end."""
_TIMES = 900.0
"""Per cent from which a field gives a multiple of the baseline's value."""
_BOUND = "≥"
"""What a field says whose value is a lower bound."""
_WIDTH, _HEIGHT = 62, 20
"""Pixels of a field."""


@dataclass(frozen=True)
class SurveyFigure:
    """The picture, not yet drawn."""

    chart: Spec

    def write(self, path: Path) -> None:
        """Draw it as PNG."""
        import vl_convert

        drawn = vl_convert.vegalite_to_png(
            {**self.chart, "config": theme.config()}, vl_version="6.4", scale=2
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, drawn)


def _field(cell: Cell, *, larger_is_better: bool) -> tuple[float, str] | None:
    """How good a scheme is in per cent, and what its field says; None where nothing is known."""
    if cell.values.at_least:
        return 0.0, _BOUND
    difference = cell.difference
    if difference is None or difference.percent is None:
        return None
    if cell.outcome not in ("better", "worse"):
        return 0.0, "≈"
    gain = difference.percent if larger_is_better else -difference.percent
    percent = difference.percent
    text = f"{percent:+.0f}" if percent < _TIMES else f"× {percent / 100 + 1:,.0f}"
    return max(-_MOST, min(_MOST, gain)), text


def survey_figure(
    survey: Survey,
    tables: Sequence[tuple[Workload, Mapping[str, Mapping[str, Cell]]]],
) -> SurveyFigure:
    """Goodput and completion times of short flows against the baseline, in per cent.

    Better is blue and worse is orange, whichever way the quantity goes.
    """
    rows: list[dict[str, object]] = []
    for workload, table in tables:
        for key, title in _SHOWN:
            for scheme, cell in table.get(key, {}).items():
                shown = _field(cell, larger_is_better=key == "goodput")
                if shown is None or scheme == survey.baseline:
                    continue
                gain, text = shown
                rows.append(
                    {
                        "scheme": scheme,
                        "workload": workload.name,
                        "quantity": title,
                        "gain": gain,
                        "text": text,
                    }
                )
    schema = {"scheme": pl.String, "workload": pl.String, "quantity": pl.String}
    frame = pl.DataFrame(rows, schema={**schema, "gain": pl.Float64, "text": pl.String})
    bounds = _BOUND in frame["text"].to_list()
    multiples = frame["text"].str.starts_with("×").any()
    order = [scheme.name for scheme in survey.schemes if scheme.name != survey.baseline]
    workloads = [workload.name for workload, _ in tables]
    place = {
        "x": name("workload", sort=workloads, axis={"labelAngle": -30, "title": None}),
        "y": name("scheme", sort=order, axis={"title": None, "labelLimit": 160}),
    }
    colour = quantity(
        "gain",
        scale={"domain": [-_MOST, 0, _MOST], "range": ["#c8621b", "#f4f2ee", "#2f6f9f"]},
        legend=None,
    )
    layers: list[Spec] = [
        {
            "mark": {"type": "rect", "stroke": "#ffffff"},
            "encoding": place | {"color": colour, "tooltip": [tip("text", "difference")]},
        },
        {
            "mark": {"type": "text", "fontSize": 10},
            "encoding": place | {"text": {"field": "text", "type": "nominal"}},
        },
    ]
    present = [title for _, title in _SHOWN if title in set(frame["quantity"])]
    chart: Spec = {
        "title": {
            "text": f"Difference to {survey.baseline} in %",
            "subtitle": [
                "Means over seeds, paired; blue is better, orange worse, ≈ not told apart.",
                *(["× 20: twenty times the baseline's value."] if multiples else []),
                *(["≥: a lower bound, because too much did not finish."] if bounds else []),
            ],
            "anchor": "start",
        },
        "data": data(frame),
        "facet": {"column": name("quantity", sort=present, header={"title": None})},
        "spec": {
            "layer": layers,
            "width": {"step": _WIDTH},
            "height": {"step": _HEIGHT},
        },
        "resolve": {"scale": {"x": "independent"}},
    }
    return SurveyFigure(chart)
