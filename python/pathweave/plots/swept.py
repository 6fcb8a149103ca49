"""What decides over the values of a sweep: a line for each variant, and its interval as a band."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from pathweave.plots.figure import (
    Figure,
    in_panels,
    panel_size,
    panels_of,
    quantity,
    scheme_colour,
    scheme_dash,
    tip,
)
from pathweave.plots.figure import apart as split_panels
from pathweave.plots.swept_axis import value_axis
from pathweave.plots.ticks import log_axis, most_ticks, signed_axis, zero_axis
from pathweave.plots.words import by_panel, listed, value_text
from pathweave.results.completion import COMPLETIONS
from pathweave.results.measures import Measure
from pathweave.results.merit import rankings, stated_baselines, subjects
from pathweave.results.present import seeds_text, unit_of
from pathweave.results.quantities import QUANTITIES
from pathweave.results.sweeps import label_of
from pathweave.results.units import scale

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pathweave.plots.figure import Spec
    from pathweave.plots.frames import Source
    from pathweave.results.merit import Ranking, Standing
    from pathweave.results.sweeps import Sweep

_STEEP = 30.0
"""Ratio of the largest value to the smallest from which values have a logarithmic axis."""
_PANELS = 12
"""Panels of a chart at most."""
_DESCRIBED = 3
"""Values of a line that are put into words: the first, the one in the middle and the last."""


_ALONE = "#006dce"
"""The colour of a line that stands for no scheme: the palette's strongest."""
_SCHEMA = {
    "scheme": pl.String,
    "panel": pl.String,
    "at": pl.String,
    "x": pl.Float64,
    "value": pl.Float64,
    "half": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "bound": pl.String,
    "seeds": pl.Int64,
    "percent": pl.Float64,
    "half_percent": pl.Float64,
}
"""Columns of what is drawn."""


def swept_figures(source: Source) -> Iterator[Figure]:
    """A chart of each quantity that decides over the first sweep, and of differences in it.

    Beside a mean completion time stands its 99th percentile, and after all of them the queue.
    """
    scenario = source.scenario.counted()
    sweep = scenario.numeric_sweep()
    if sweep is None:
        return
    # That of the page, which may have been asked for, goes before the scenario's own.
    named = (source.palette.baseline, *stated_baselines(scenario.report))
    known = {name for names in scenario.axes.values() for name in names}
    baseline = next((name for name in named if name in known), None)
    for ranking in rankings(scenario, baseline, _asked(subjects(scenario))):
        values = _Course(source, ranking, sweep)
        if values.rows.is_empty():
            continue
        yield values.figure()
        difference = values.difference()
        if difference is not None:
            yield difference


def _asked(deciding: Sequence[Measure]) -> list[Measure]:
    """What decides, the tails of what is a mean, and what it costs in queues."""
    found = list(deciding)
    found += [
        replace(subject, statistic="p99")
        for subject in deciding
        if subject.quantity in COMPLETIONS and subject.statistic != "p99"
    ]
    found.append(Measure("queue", "mean"))
    return list(dict.fromkeys(found))


class _Course:
    """One quantity over the values of a sweep."""

    def __init__(self, source: Source, ranking: Ranking, sweep: Sweep) -> None:
        self._source = source
        self._ranking = ranking
        self._sweep = sweep
        self._unit = unit_of(ranking) or _unit_of_quantity(ranking.subject.quantity)
        rows = [self._row(each) for each in ranking.standings if each.mean is not None]
        self.rows = pl.DataFrame(
            [row for row in rows if row is not None], schema=_SCHEMA, orient="row"
        ).sort("x", maintain_order=True)

    def _row(self, each: Standing) -> dict[str, Any] | None:
        sweep, ranking = self._sweep, self._ranking
        name = each.axes.get(sweep.axis, "")
        if name not in sweep.values or each.mean is None:
            return None
        left_out = {sweep.axis, ranking.axis}
        others = {axis: text for axis, text in each.axes.items() if axis not in left_out}
        compared = ranking.axis != sweep.axis
        size = scale(self._unit)
        # Values and bounds together have no interval.
        half = None if each.half is None or each.at_least else each.half / size
        mean = each.mean / size
        difference = each.difference
        return {
            "scheme": each.name if compared else "",
            "panel": label_of(others, ranking.sweeps),
            "at": name,
            "x": sweep.values[name],
            "value": mean,
            "half": half,
            "low": None if half is None else max(0.0, mean - half),
            "high": None if half is None else mean + half,
            "bound": "at least" if each.at_least else "known",
            "seeds": len(each.values),
            "percent": difference.percent if difference else None,
            "half_percent": difference.half_percent if difference else None,
        }

    def figure(self) -> Figure:
        """The quantity itself."""
        frame, panels, note = self._panelled(self.rows)
        columns, width, height = panel_size(len(panels))
        title, axis_title = self._titles()
        x = value_axis(self._sweep, self.rows["x"].unique().sort().to_list(), width)
        lowest = float(frame.select(pl.min_horizontal("value", "low").min()).item())
        highest = float(frame.select(pl.max_horizontal("value", "high").max()).item())
        smallest = float(frame["value"].min() or 0.0)  # pyright: ignore[reportArgumentType]
        steep = smallest > 0 and float(frame["value"].max() or 0) > _STEEP * smallest  # pyright: ignore[reportArgumentType]
        if steep:
            # A band that reaches 0 ends at the axis.
            y = log_axis(max(lowest, smallest / 3), highest, title=axis_title)
            frame = frame.with_columns(low=pl.col("low").clip(lower_bound=y["scale"]["domain"][0]))
        else:
            y = zero_axis(axis_title, highest, most=most_ticks(height * 2))
        single = frame["scheme"].n_unique() == 1
        tips = [
            *([] if single else [tip("scheme", "variant")]),
            tip("at", self._sweep.axis),
            tip("value", axis_title, ".4~g"),
            tip("half", "± (95 %)", ".2~g"),
            tip("seeds", "seeds", ","),
        ]
        chart: Spec = {
            "layer": self._layers(frame, x, y, tips),
            "width": width,
            "height": height,
        }
        most = int(frame["seeds"].max() or 1)  # pyright: ignore[reportArgumentType]
        caption = f"Points: mean over {seeds_text(most)}; band: its 95 % interval."
        if most == 1:
            caption = "One seed, so there are no intervals."
        if "at least" in set(frame["bound"]):
            caption += " Triangles: at least this much, because too much did not finish."
        caption = " ".join(text for text in (caption, self._swept_text(), note) if text)
        return Figure(
            f"{_file_name(self._ranking.subject)}-over-{_plain(self._sweep.axis)}",
            title,
            caption,
            in_panels(chart, frame, panels, columns),
            self._shows(frame, panels, self._unit),
        )

    def difference(self) -> Figure | None:
        """The differences to the baseline in %, paired by seed; None where there are none."""
        ranking = self._ranking
        if ranking.axis == self._sweep.axis:
            return None
        here = self.rows.filter(
            pl.col("percent").is_not_null() & (pl.col("scheme") != ranking.baseline)
        )
        if here.is_empty() or here["half_percent"].is_null().all():
            return None
        here = here.with_columns(
            value=pl.col("percent"),
            half=pl.col("half_percent"),
            low=pl.col("percent") - pl.col("half_percent"),
            high=pl.col("percent") + pl.col("half_percent"),
            bound=pl.lit("known"),
        )
        frame, panels, note = self._panelled(here)
        columns, width, height = panel_size(len(panels))
        better = "more" if ranking.subject.larger_is_better else "less"
        axis_title = f"difference to {ranking.baseline} (%)"
        # An interval over few seeds can be much wider than all differences, and would hide them.
        reach = 2 * float(frame["value"].abs().max() or 0.0)  # pyright: ignore[reportArgumentType]
        low = max(float(frame["low"].min() or 0.0), -reach)  # pyright: ignore[reportArgumentType]
        high = min(float(frame["high"].max() or 0.0), reach)  # pyright: ignore[reportArgumentType]
        cut = low > float(frame["low"].min() or 0.0) or high < float(frame["high"].max() or 0.0)  # pyright: ignore[reportArgumentType]
        y = signed_axis(axis_title, low, high)
        x = value_axis(self._sweep, self.rows["x"].unique().sort().to_list(), width)
        tips = [
            tip("scheme", "variant"),
            tip("at", self._sweep.axis),
            tip("value", "difference (%)", "+.3~g"),
            tip("half", "± (95 %)", ".2~g"),
        ]
        zero: Spec = {
            "mark": {"type": "rule", "strokeWidth": 1.2, "color": "#5e6166"},
            "encoding": {"y": {"datum": 0, **y}},
        }
        layers = self._layers(frame, x, y, tips)
        chart: Spec = {"layer": [zero, *layers], "width": width, "height": height}
        caption = (
            f"Difference to {ranking.baseline} with the same seeds; band: its 95 % interval."
            f" {better[0].upper()}{better[1:]} is better."
        )
        caption += " Bands that are wider are cut off." if cut else ""
        title, _ = self._titles()
        others = frame["scheme"].unique().to_list()
        who = f": {others[0]} against" if len(others) == 1 else ", against"
        return Figure(
            f"{_file_name(ranking.subject)}-difference-over-{_plain(self._sweep.axis)}",
            f"{title}{who} {ranking.baseline}",
            " ".join(text for text in (caption, self._swept_text(), note) if text),
            in_panels(chart, frame, panels, columns),
            self._shows(frame, panels, "%"),
        )

    def _panelled(self, rows: pl.DataFrame) -> tuple[pl.DataFrame, list[str], str]:
        """The rows in as many panels as are drawn, these in their order, and what was left out."""
        named: dict[str, None] = {}
        for run in self._source.scenario.runs:
            left_out = {self._sweep.axis, self._ranking.axis}
            others = {axis: text for axis, text in run.axes.items() if axis not in left_out}
            named[label_of(others, self._ranking.sweeps)] = None
        here = set(rows["panel"])
        panels = [panel for panel in named if panel in here]
        note = ""
        if len(panels) > _PANELS:
            note = f"The first {_PANELS} of {len(panels)} panels."
            panels = panels[:_PANELS]
            rows = rows.filter(pl.col("panel").is_in(panels))
        split = split_panels(rows, self._source.palette, panels)
        return split, panels_of(split), note

    def _titles(self) -> tuple[str, str]:
        """The figure's title, and that of the y axis with its unit."""
        subject = self._ranking.subject
        text = subject.text
        unit = f" ({self._unit})" if self._unit else ""
        axis = text.partition(' of "')[0]
        return f"{text[0].upper()}{text[1:]} over {self._sweep.axis}", f"{axis}{unit}"

    def _layers(
        self,
        frame: pl.DataFrame,
        x: Spec,
        y: Spec,
        tips: list[Spec],
    ) -> list[Spec]:
        """Bands, lines and points."""
        source = self._source
        schemes = source.schemes(frame)
        single = len(schemes) <= 1 and frame["scheme"].n_unique() <= 1
        # The colour of a single line would say nothing; the differences of one variant keep its.
        named = len(source.palette.schemes) > 1 and schemes[:1] != [source.palette.baseline]
        colour = scheme_colour(source.palette, schemes)
        if single:
            alone = source.palette.colour(schemes[0]) if schemes and named else _ALONE
            colour = {"value": alone}
        dash = {"value": [1, 0]} if single else scheme_dash(source.palette, schemes)
        detail = [{"field": "scheme", "type": "nominal"}]
        layers: list[Spec] = []
        if frame["half"].is_not_null().any():
            layers.append(
                {
                    "mark": {"type": "area", "opacity": 0.22 if single else 0.16, "clip": True},
                    "transform": [{"filter": "isValid(datum.low)"}],
                    "encoding": {
                        "x": x,
                        "y": quantity("low") | y,
                        "y2": {"field": "high"},
                        "color": colour,
                        "detail": detail,
                    },
                }
            )
        layers.append(
            {
                "mark": {"type": "line", "clip": True},
                "encoding": {
                    "x": x,
                    "y": quantity("value") | y,
                    "color": colour,
                    "strokeDash": dash,
                    "detail": detail,
                },
            }
        )
        shape = {
            "field": "bound",
            "type": "nominal",
            "scale": {"domain": ["known", "at least"], "range": ["circle", "triangle-up"]},
            "legend": None,
        }
        layers.append(
            {
                "mark": {"type": "point", "size": 42, "opacity": 1},
                "encoding": {
                    "x": x,
                    "y": quantity("value") | y,
                    "color": colour,
                    "shape": shape,
                    "tooltip": tips,
                },
            }
        )
        return layers

    def _swept_text(self) -> str:
        """Which keys the axis stands for, where its name does not say so."""
        first, *others = self._sweep.keys
        if others:
            return f"{self._sweep.axis}: {first}, with {listed(others)}."
        return f"{self._sweep.axis}: {first}." if first != self._sweep.axis else ""

    def _shows(self, frame: pl.DataFrame, panels: Sequence[str], unit: str) -> str:
        """Each line in words: its values at the ends and in the middle."""

        def texts(panel: str) -> list[str]:
            part = frame.filter(pl.col("panel") == panel)
            found: list[str] = []
            for (scheme,), line in part.group_by("scheme", maintain_order=True):
                rows = line.sort("x").to_dicts()
                places = sorted({0, len(rows) // 2, len(rows) - 1})[:_DESCRIBED]
                said = [
                    f"{value_text(rows[place]['value'], unit)} at {rows[place]['at']}"
                    for place in places
                ]
                found.append(f"{scheme} {listed(said)}".strip())
            return found

        return by_panel((panel, texts(panel)) for panel in panels)


def _unit_of_quantity(quantity_name: str) -> str:
    return "packets" if QUANTITIES[quantity_name].column == "queue_mean" else ""


def _file_name(subject: Measure) -> str:
    of = f"-{_plain(subject.group)}" if subject.group else ""
    return f"{_plain(subject.statistic)}-{_plain(subject.quantity)}{of}"


def _plain(text: str) -> str:
    return "".join(c if c.isalnum() else "-" for c in text).strip("-") or "values"
