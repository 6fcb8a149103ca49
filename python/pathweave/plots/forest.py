"""Differences to the baseline with their intervals, variant by variant: the chart for a talk."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from pathweave.plots.figure import (
    PAGE_WIDTH,
    SPACING,
    Figure,
    in_panels,
    name,
    panels_of,
    quantity,
    tip,
)
from pathweave.plots.palette import PAPER_LIGHT, WORDS_LIGHT
from pathweave.plots.words import by_panel
from pathweave.results.merit import values_of
from pathweave.results.present import plus_minus
from pathweave.statistics.paired import paired_difference

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pathweave.plots.figure import Spec
    from pathweave.plots.palette import Palette
    from pathweave.results.merit import Ranking, VariantValues
    from pathweave.results.runs import StoredScenario

MOST_PANELS = 9
"""Panels that the chart has at most."""
_STATISTICS = ("mean", "median", "p99")
_ROW = 40
"""Pixels of a variant's row, with the numbers above its interval."""
_LETTER = 7
_SCHEMA = {
    "panel": pl.String, "scheme": pl.String, "percent": pl.Float64, "low": pl.Float64,
    "high": pl.Float64, "text": pl.String, "colour": pl.String,
}  # fmt: skip


def forest_figure(
    scenario: StoredScenario, rankings: Sequence[Ranking], palette: Palette
) -> Figure | None:
    """The differences to the baseline in %, with 95 % intervals.

    A single workload has a panel for each of mean, median and 99th percentile. Several workloads,
    and variants on more axes, have a panel each for what decides. None along a sweep, whose charts
    have differences of their own, and where nothing is compared.
    """
    found = [each for each in rankings if each.standings and each.sweep is None]
    if not found:
        return None
    rows: list[dict[str, object]] = []
    several = len(found) > 1
    for ranking in found:
        alone = several or len(ranking.panels) > 1
        own = ranking.subject.statistic
        others = [each for each in _STATISTICS if each != own]
        # Jain's index has one value for all flows of a run.
        statistics = [own] if alone or ranking.subject.quantity == "fairness" else [own, *others]
        for statistic in statistics:
            measure = replace(ranking.subject, statistic=statistic)
            what = measure.text if several else statistic if len(statistics) > 1 else ""
            values = values_of(scenario.counted(), ranking.axis, measure)
            rows += _rows(ranking, values, what, palette)
    frame = pl.DataFrame(rows, schema=_SCHEMA)
    panels = panels_of(frame)[:MOST_PANELS]
    frame = frame.filter(pl.col("panel").is_in(panels))
    if frame.is_empty():
        return None
    return _figure(frame, panels, found[0], several=several)


def _rows(
    ranking: Ranking, values: Sequence[VariantValues], what: str, palette: Palette
) -> list[dict[str, object]]:
    bases = {each.panel: each for each in values if each.name == ranking.baseline}
    order = [each.label for each in ranking.standings]
    rows: list[dict[str, object]] = []
    for each in sorted(values, key=lambda one: order.index(one.label) if one.label in order else 0):
        base = bases.get(each.panel)
        if base is None or each is base or each.at_least or base.at_least:
            continue
        found = paired_difference(each.values, base.values)
        if found.percent is None:
            continue
        half = found.half_percent
        rows.append(
            {
                "panel": ", ".join(text for text in (what, each.panel) if text),
                "scheme": each.name,
                "percent": found.percent,
                "low": None if half is None else found.percent - half,
                "high": None if half is None else found.percent + half,
                "text": f"{plus_minus(found.percent, half, signed=True)} %",
                "colour": palette.colour(each.name) if each.name in palette.schemes else "",
            }
        )
    return rows


def _figure(frame: pl.DataFrame, panels: list[str], ranking: Ranking, *, several: bool) -> Figure:
    schemes = frame["scheme"].unique(maintain_order=True).to_list()
    colours = dict(zip(frame["scheme"], frame["colour"], strict=True))
    margin = int(min(200, max(map(len, schemes)) * _LETTER)) + 24
    columns = min(3, len(panels))
    width = min(640, (PAGE_WIDTH - margin - SPACING * (columns - 1)) // columns)
    ends = [value for column in ("low", "high", "percent") for value in frame[column].drop_nulls()]
    low, high = min(0.0, *ends), max(0.0, *ends)
    room = 0.12 * (high - low or 1.0)
    better = "right" if ranking.subject.larger_is_better else "left"
    hint = "" if several else f"; further {better} is better"
    x = {
        "title": f"difference to {ranking.baseline} (%){hint}",
        "scale": {"domain": [low - room, high + room], "nice": False},
        "axis": {"grid": True, "tickCount": max(3, width // 80)},
    }
    y: Spec = {"y": name("scheme", sort=schemes, axis={"labelLimit": 200})}
    colour = name(
        "scheme",
        scale={"domain": schemes, "range": [colours[scheme] for scheme in schemes]},
        legend=None,
    )
    tips = [tip("scheme", "variant"), tip("text", "difference")]
    layers: list[Spec] = [
        {
            "mark": {"type": "rule", "strokeWidth": 1.2, "color": WORDS_LIGHT},
            "encoding": {"x": {"datum": 0, "type": "quantitative"} | x},
        },
        {
            "mark": {"type": "rule", "strokeWidth": 3},
            "transform": [{"filter": "isValid(datum.low)"}],
            "encoding": y | {"x": quantity("low") | x} | {"x2": {"field": "high"}, "color": colour},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 80, "opacity": 1},
            "encoding": y | {"x": quantity("percent") | x, "color": colour, "tooltip": tips},
        },
        # Above the interval, and in the page's colour first, so that no line goes through it.
        *(
            {
                "mark": {"type": "text", "dy": -12, "fontSize": 11.5, **look},
                "encoding": y | {"x": quantity("percent") | x, "text": {"field": "text"}},
            }
            for look in (
                {"color": PAPER_LIGHT, "stroke": PAPER_LIGHT, "strokeWidth": 5},
                {"color": WORDS_LIGHT},
            )
        ),
    ]
    chart: Spec = {"layer": layers, "width": width, "height": _ROW * len(schemes)}
    words = ranking.subject.text
    if not several and len({panel.partition(",")[0] for panel in panels}) > 1:
        words = replace(ranking.subject, statistic="").text.strip()
    title = f"Difference to {ranking.baseline}" + ("" if several else f" in {words}")
    said = {
        panel: [
            f"{row['scheme']} {row['text']}"
            for row in frame.filter(pl.col("panel") == panel).iter_rows(named=True)
        ]
        for panel in panels
    }
    spec = in_panels(chart, frame.drop("colour"), panels, columns, axis=margin)
    if "facet" in spec:  # a panel that stands below others needs an axis of its own
        spec |= {"resolve": {"axis": {"x": "independent"}}}
    return Figure(
        "differences",
        title,
        "Dot: mean difference paired by seed; line: its 95 % interval.",
        spec,
        by_panel(said.items()),
    )
