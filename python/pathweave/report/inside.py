"""What the page's map of the fabric shows: nodes by layers, and what every link did over time.

Values are bytes, compressed, and binned to what a page may be long; the page's script draws them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from pathweave.plots.frames import colour_axis
from pathweave.report.fabric_layout import fabric_layout
from pathweave.report.link_values import DOWN, FULL, METRICS, LinkValues
from pathweave.results.linkmap import intervals
from pathweave.results.present import unit_text
from pathweave.results.units import scale, time_unit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pathweave.results.runs import StoredRun, StoredScenario

BUDGET = 700_000
"""Characters of all maps of a page, about; the script that draws its charts takes 900,000."""
VARIANTS = 12
"""Variants of a scenario that have a map at most."""
FLOWS = 400
"""Flows of a variant that can be looked at: those with the most bytes."""
_HOPEFUL = 0.8
"""Part of the size that is expected of a number of bins which has to fit for it to be tried."""
_BINS = (1000, 500, 400, 250, 200, 150, 100, 70, 50, 30, 20)


@dataclass(frozen=True)
class Inside:
    """A scenario's map."""

    data: dict[str, Any]
    """What the page's script reads."""
    note: str
    """What was binned or left out."""


def inside(scenario: StoredScenario, budget: int = BUDGET) -> Inside | None:
    """The map of the first seed of each variant; None where no run recorded one."""
    first: dict[str, StoredRun] = {}
    for run in scenario.counted().runs:
        if "map" in run.tables and "links" in run.tables:
            first.setdefault(run.label, run)
    if not first:
        return None
    chosen = list(first.values())[:VARIANTS]
    tables = [run.read("links") for run in chosen]
    links = [table["link"].cast(pl.String).to_list() for table in tables]
    end_s = max((_last_s(run) for run in chosen), default=0.0)
    if end_s <= 0:
        return None
    flows = [_flows(run, own) for run, own in zip(chosen, links, strict=True)]
    # Flows take what they need; values get what is left.
    room = budget - sum(len(str(listed)) for listed, _ in flows)
    # No bin is shorter than an interval of any run.
    recorded = min(max(1, int(intervals(run) * end_s / run.ended_s)) for run in chosen)
    bins, values = _fitting(list(zip(chosen, links, strict=True)), recorded, end_s, room)
    fabrics: list[dict[str, Any]] = []
    variants: list[dict[str, Any]] = []
    for run, table, own, (listed, _) in zip(chosen, tables, values.packed, flows, strict=True):
        fabric = fabric_layout(table, run)
        if fabric not in fabrics:
            fabrics.append(fabric)
        variants.append(
            {
                "label": run.label,
                "fabric": fabrics.index(fabric),
                "values": own,
                "flows": listed,
            }
        )
    data = {
        "end": end_s,
        "bins": bins,
        "full": FULL,
        "down": DOWN,
        "largest": values.largest,
        "metrics": [
            metric for metric in METRICS if metric == "utilisation" or values.largest[metric] > 0
        ],
        "fabrics": fabrics,
        "variants": variants,
        "beside": _beside(scenario, chosen),
    }
    return Inside(data, _note(scenario, first, bins, recorded, end_s, flows))


def _last_s(run: StoredRun) -> float:
    """When the last interval ended in which a link was busy: after it nothing is to be seen."""
    last = run.read("map", ["time_s"])["time_s"].max()
    return min(run.ended_s, float(last)) if isinstance(last, int | float) else run.ended_s


def _beside(scenario: StoredScenario, chosen: Sequence[StoredRun]) -> int | None:
    """The variant that stands beside the first at the beginning: one of another scheme."""
    axis = colour_axis(scenario)

    def others(run: StoredRun) -> dict[str, str]:
        return {key: value for key, value in run.axes.items() if key != axis}

    alike = [at for at, run in enumerate(chosen) if others(run) == others(chosen[0])]
    return alike[-1] if len(alike) > 1 else len(chosen) - 1 or None


@dataclass(frozen=True)
class _Values:
    """What the links of all variants did."""

    largest: dict[str, float]
    """By metric, over all variants; utilisation has 1."""
    packed: list[str]

    @property
    def size(self) -> int:
        return sum(map(len, self.packed))


def _fitting(
    runs: Sequence[tuple[StoredRun, list[str]]], recorded: int, end_s: float, room: int
) -> tuple[int, _Values]:
    """The largest number of bins that fits, and the values in as many; the fewest if none does."""

    def values(bins: int) -> _Values:
        found = [LinkValues.read(run, links, bins, end_s) for run, links in runs]
        largest = {metric: max(each.largest(metric) for each in found) for metric in METRICS[1:]}
        return _Values(largest, [each.packed(largest) for each in found])

    numbers = [bins for bins in dict.fromkeys((recorded, *_BINS)) if bins <= recorded]
    fewest = values(numbers[-1])
    # Values compress about as well in any number of bins, so that few have to be tried.
    each = fewest.size / numbers[-1]
    for bins in numbers[:-1]:
        if _HOPEFUL * each * bins <= room:
            tried = values(bins)
            if tried.size <= room:
                return bins, tried
    return numbers[-1], fewest


def _note(
    scenario: StoredScenario,
    first: dict[str, StoredRun],
    bins: int,
    recorded: int,
    end_s: float,
    flows: Sequence[tuple[list[Any], int]],
) -> str:
    parts: list[str] = []
    if len({run.seed for run in scenario.runs}) > 1:
        parts.append("The first seed of each variant.")
    parts.append(f"Each step is the mean of {_length(end_s / bins)}.")
    if bins < recorded:
        parts.append(f"Recorded every {_length(end_s / recorded)}.")
    if len(first) > VARIANTS:
        parts.append(f"The first {VARIANTS} of {len(first)} variants.")
    most = max((total for _, total in flows), default=0)
    if most > FLOWS:
        parts.append(f"Flows are the {FLOWS} with the most bytes, of up to {most:,} of a variant.")
    parts.append(f"Values are rounded to one of {FULL} steps of the scale of colours.")
    return " ".join(parts)


def _length(seconds: float) -> str:
    unit = time_unit(seconds * (1 + 1e-9))
    return f"{seconds / scale(unit):.3g} {unit_text(unit)}"


def _flows(run: StoredRun, links: Sequence[str]) -> tuple[list[Any], int]:
    """The largest flows, and how many there are.

    Of each its name, its ends, its start and end (s), its bytes, and the links of each subflow.
    """
    number_of = {link: at for at, link in enumerate(links)}
    flows = run.read(
        "flows",
        ["id", "name", "group", "source", "destination", "start_s", "end_s", "delivered_bytes"],
    )
    total = flows.height
    flows = flows.sort("delivered_bytes", "id", descending=[True, False]).head(FLOWS).sort("id")
    paths: dict[int, list[list[int]]] = {}
    if "subflows" in run.tables:
        rows = run.read("subflows", ["flow", "subflow", "path"]).sort("flow", "subflow")
        wanted = rows.filter(pl.col("flow").is_in(flows["id"].to_list()))
        for flow, _, path in wanted.iter_rows():
            paths.setdefault(flow, []).append(links_along(str(path or ""), number_of))
    found: list[Any] = []
    for row in flows.iter_rows(named=True):
        end = row["end_s"]
        found.append(
            [
                row["name"] or f"{row['group']} {row['id']}",
                f"{row['source']} to {row['destination']}",
                round(row["start_s"], 9),
                None if end is None else round(end, 9),
                row["delivered_bytes"],
                paths.get(row["id"], []),
            ]
        )
    return found, total


def links_along(path: str, number_of: dict[str, int]) -> list[int]:
    """The links of a path as its nodes joined by "-", which may be in the nodes' names, too."""
    parts = path.split("-")
    # By the number of parts that are used: the node that ends there, and the links up to it.
    reached: list[dict[str, list[int]]] = [{} for _ in range(len(parts) + 1)]
    for end in range(1, len(parts) + 1):
        for start in range(end):
            node = "-".join(parts[start:end])
            if start == 0:
                reached[end].setdefault(node, [])
            for before, links in reached[start].items():
                link = number_of.get(f"{before}->{node}")
                if link is not None:
                    reached[end][node] = [*links, link]
    return max(reached[-1].values(), key=len, default=[])
