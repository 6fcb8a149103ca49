"""Differences to the baseline over two swept numbers: a heat map for each variant."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from pathweave.plots.figure import Figure, in_panels, name, panels_of, quantity, tip
from pathweave.plots.words import by_panel
from pathweave.results.present import plus_minus

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pathweave.plots.figure import Spec
    from pathweave.results.merit import Ranking, Standing
    from pathweave.results.sweeps import Sweep

_CELL = (92, 44)
"""Pixels of a cell, with its numbers in two lines."""
_WORSE, _EVEN, _BETTER = "#e08a3c", "#f4f5f7", "#5ba3dd"
"""Told apart under the common colour-vision deficiencies; the numbers on all three are dark."""
_PALE = 0.25
"""Part of its shade that a difference has which is not told apart."""
_INK = "#1b1e24"
_SCHEMA = {
    "panel": pl.String, "x": pl.String, "y": pl.String, "percent": pl.Float64, "shade": pl.Float64,
    "text": pl.String, "interval": pl.String, "verdict": pl.String, "told": pl.Boolean,
}  # fmt: skip


def swept_pair(ranking: Ranking) -> tuple[Sweep, Sweep] | None:
    """The two swept numbers that a ranking is over; None where it is over anything else."""
    swept = [each for each in ranking.sweeps if each.axis != ranking.axis and each.values]
    here = {axis for each in ranking.standings for axis in each.axes}
    if len(swept) != 2 or here != {ranking.axis, *(each.axis for each in swept)}:
        return None
    return swept[0], swept[1]


def heat_figure(rankings: Sequence[Ranking]) -> Figure | None:
    """A panel for each variant of the first ranking over two sweeps; None where there is none."""
    for ranking in rankings:
        pair = swept_pair(ranking)
        rows = [] if pair is None else [_row(each, pair) for each in ranking.standings]
        frame = pl.DataFrame([row for row in rows if row is not None], schema=_SCHEMA)
        if pair is not None and not frame.is_empty():
            return _figure(ranking, pair, frame)
    return None


def _row(each: Standing, pair: tuple[Sweep, Sweep]) -> dict[str, object] | None:
    found = each.difference
    if found is None or found.percent is None or each.verdict is None:
        return None
    told = each.verdict.outcome in ("better", "worse")
    value, _, half = plus_minus(found.percent, found.half_percent, signed=True).partition(" ± ")
    return {
        "panel": each.name,
        "x": each.axes[pair[0].axis],
        "y": each.axes[pair[1].axis],
        "percent": found.percent,
        # What chance may explain is pale, however large it is.
        "shade": found.percent * (1.0 if told else _PALE),
        "text": f"{value} %",
        "interval": f"± {half}" if half else "",
        "verdict": each.verdict.outcome,
        "told": told,
    }


def _figure(ranking: Ranking, pair: tuple[Sweep, Sweep], frame: pl.DataFrame) -> Figure:
    most = max(abs(value) for value in frame["percent"]) or 1.0
    colours = [_WORSE, _EVEN, _BETTER]
    if not ranking.subject.larger_is_better:
        colours.reverse()
    orders = [sorted(set(frame[at]), key=sweep.values.__getitem__)
              for at, sweep in zip("xy", pair, strict=True)]  # fmt: skip
    place: Spec = {
        "x": name("x", pair[0].axis, sort=orders[0], axis={"labelAngle": 0}),
        "y": name("y", pair[1].axis, sort=orders[1][::-1]),
    }
    tips = [tip("panel", "variant"), tip("text", "difference"), tip("verdict", "verdict")]
    scale = {"domain": [-most, 0, most], "range": colours}
    bold = {"condition": {"test": "datum.told", "value": "bold"}, "value": "normal"}
    layers: list[Spec] = [
        {
            "mark": {"type": "rect", "opacity": 1},
            "encoding": place
            | {"color": quantity("shade", scale=scale, legend=None), "tooltip": tips},
        },
        *(
            {
                "mark": {"type": "text", "dy": dy, "fontSize": size, "color": _INK},
                "encoding": place | {"text": {"field": field}, "fontWeight": bold},
            }
            for field, dy, size in (("text", -7, 13), ("interval", 9, 11))
        ),
    ]
    width, height = _CELL[0] * len(orders[0]), _CELL[1] * len(orders[1])
    panels = panels_of(frame)
    columns = max(1, min(len(panels), 900 // (width + 40)))
    chart: Spec = {"layer": layers, "width": width, "height": height}
    spec = in_panels(chart, frame, panels, columns)
    if "facet" in spec:
        spec |= {"resolve": {"axis": {"x": "independent", "y": "independent"}}}
    title = f"Difference to {ranking.baseline} in {ranking.subject.text}"
    caption = (
        "Mean difference paired by seed, and half its 95 % interval. Blue is better, orange worse;"
        " pale cells are not told apart (all cells together, Holm, 5 %)."
    )
    said = {
        panel: [
            f"{pair[0].axis} = {row['x']}, {pair[1].axis} = {row['y']}: {row['text']}"
            for row in frame.filter(pl.col("panel") == panel).iter_rows(named=True)
        ]
        for panel in panels
    }
    return Figure("differences", title, caption, spec, by_panel(said.items()))
