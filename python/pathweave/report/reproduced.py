"""Reports of reproduced papers: a page for each, and an index of all."""

from __future__ import annotations

import json
from base64 import b64encode
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from pathweave.plots import theme
from pathweave.plots.figures import figures
from pathweave.plots.frames import Source, palette_of
from pathweave.plots.painters import Painters
from pathweave.plots.palette import SCHEMES_LIGHT, dark_colours
from pathweave.plots.reproduced import Shown, reproduced_figure
from pathweave.report.library import library
from pathweave.report.steps import Steps
from pathweave.reproducing.paper import Number, Order, Shape
from pathweave.reproducing.reproduced import counted_text
from pathweave.reproducing.words import (
    checked_text,
    claim_text,
    difference_text,
    heading_text,
    kind_text,
    order_text,
    paper_size_text,
    sample_text,
    shown_unit,
    unit_of,
    verdict_text,
    wanted_text,
    why_text,
)
from pathweave.results.units import scale
from pathweave.results.wholefile import write_whole
from pathweave.shown import in_page, visible_json

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Sequence
    from pathlib import Path

    from pathweave.plots.figure import Figure
    from pathweave.reproducing.paper import Paper, Row
    from pathweave.reproducing.reproduced import Reproduced
    from pathweave.reproducing.verdict import Judged
    from pathweave.results.runs import StoredScenario

PAGE = "index.html"
PUBLISHED = "published"
"""Folder beside `expected.toml` that may have pictures of the paper, named after rows."""


@dataclass(frozen=True)
class Line:
    """A variant of a claim in the page's table."""

    variant: str
    published: str
    ours: str
    """With the value at the published size where the sizes disagree."""
    difference: str
    verdict: str


@dataclass(frozen=True)
class ReasonPart:
    """An explanation in the page."""

    heading: str
    reason: str
    outcome: str
    command: str
    changes: list[str]
    """Of each variant what it was and what it is with the changed settings."""


@dataclass(frozen=True)
class ClaimPart:
    """A claim in the page."""

    name: str
    says: str
    verdict: str
    lines: list[Line]
    because: str
    reasons: list[ReasonPart]


@dataclass(frozen=True)
class RowPart:
    """A row in the page."""

    anchor: str
    found: Reproduced
    why: str
    checked: str
    """How it compares with the published size; empty where it is run in the published set-up."""
    claims: list[ClaimPart]
    figures: list[Figure]
    picture: str
    """What only a person can compare."""
    published: str
    """The paper's picture as a data URL; empty where it is not there."""
    published_path: str


def build_reports(
    found: Sequence[tuple[Paper, Sequence[Reproduced]]],
    names: Container[str],
    stored: Callable[[Row], StoredScenario | None],
    out: Path,
    steps: Steps | None = None,
) -> list[Path]:
    """Write a page for each paper of `names` to `out`, and an index of all; the index comes last.

    `stored` gives the runs of a row. Raises `OSError` when a page cannot be written.
    """
    steps = steps or Steps()
    pages: list[Path] = []
    with Painters() as painters:
        script = library(painters)
        read: dict[tuple[Path, ...], StoredScenario] = {}
        asked = [each for each in found if each[0].name in names]
        for place, (paper, rows) in enumerate(asked, start=1):
            steps.reading(paper.title, place, len(asked))
            parts = [_row(paper, each, stored, read) for each in rows]
            charts = {
                f"{part.anchor}-{figure.name}": figure.spec()
                for part in parts
                for figure in part.figures
            }
            page = out / paper.name / PAGE
            text = _render(
                "reproduced.html.j2",
                title=paper.title,
                paper=paper,
                counted=counted_text(rows),
                rows=parts,
                library=script() if charts else "",
                charts=_script_json(charts),
            )
            page.parent.mkdir(parents=True, exist_ok=True)
            write_whole(page, text.encode())
            pages.append(page)
    index = out / PAGE
    text = _render(
        "reproduced_index.html.j2",
        title="Published experiments, reproduced",
        counted=counted_text(each for _, rows in found for each in rows),
        papers=[
            (
                paper,
                counted_text(rows),
                [(each, why_text(each.why)) for each in rows],
                (out / paper.name / PAGE).is_file(),
            )
            for paper, rows in found
        ],
    )
    write_whole(index, text.encode())
    return [*pages, index]


def _row(
    paper: Paper,
    found: Reproduced,
    stored: Callable[[Row], StoredScenario | None],
    read: dict[tuple[Path, ...], StoredScenario],
) -> RowPart:
    row = found.row
    shown = [figure for judged in found.judged if (figure := _figure(judged)) is not None]
    if row.figures and found.record is not None:
        scenario = stored(row)
        if scenario is not None:
            key = tuple(run.folder for run in scenario.runs)
            scenario = read.setdefault(key, scenario)
            palette = palette_of([scenario])
            shown += [
                figure
                for figure in figures(Source(scenario, palette))
                if any(figure.name.startswith(wanted) for wanted in row.figures)
            ]
    path = paper.folder / PUBLISHED / f"{row.name}.png"
    url = ""
    if path.is_file():
        url = f"data:image/png;base64,{b64encode(path.read_bytes()).decode()}"
    return RowPart(
        anchor=row.name,
        found=found,
        why=why_text(found.why),
        checked=checked_text(found),
        claims=[_claim(found, judged) for judged in found.judged],
        figures=shown,
        picture=row.picture,
        published=url,
        published_path=str(path),
    )


def _claim(found: Reproduced, judged: Judged) -> ClaimPart:
    claim = judged.claim
    unit = shown_unit(claim, [point.sample for point in judged.points])
    order = order_text(claim) if isinstance(claim, Order) else None
    lines = [
        Line(
            variant=point.sample.label or "all",
            published=order if order and not place else wanted_text(claim, point),
            ours="; ".join(
                text
                for text in (
                    sample_text(claim, point.sample, unit),
                    paper_size_text(judged, point, unit),
                )
                if text
            ),
            difference=difference_text(claim, point),
            verdict="" if order else point.outcome.value,
        )
        for place, point in enumerate(judged.points)
    ]
    reasons: list[ReasonPart] = []
    for reason in found.reasons:
        if reason.because.claim != claim.name:
            continue
        changes = [
            f"{before.label or 'all'}: {sample_text(claim, before)} → {sample_text(claim, after)}"
            for before, after in reason.changes
        ]
        outcome = why_text(reason.outcome)
        reasons.append(
            ReasonPart(
                heading_text(reason.because),
                reason.because.reason,
                outcome,
                reason.command,
                changes,
            )
        )
    said, verdict = f"{kind_text(claim)}{claim_text(claim)}", verdict_text(judged)
    return ClaimPart(claim.name, said, verdict, lines, judged.because, reasons)


def _figure(judged: Judged) -> Figure | None:
    """Published numbers and ours, or ours in the published order, where a claim has several."""
    claim = judged.claim
    points = [point for point in judged.points if point.sample.mean is not None]
    if isinstance(claim, Shape) or len(points) < 2:  # bounds stand in the table
        return None
    unit = shown_unit(claim, [point.sample for point in points])
    one = scale(unit) / scale(unit_of(claim))
    compared = _compared(claim)
    rows = [
        Shown(
            panel=", ".join(name for axis, name in point.sample.at.items() if axis != compared),
            variant=point.sample.at.get(compared, ""),
            ours=(point.sample.mean or 0.0) / one,
            half=None if point.sample.half is None else point.sample.half / one,
            at_least=point.sample.at_least,
            published=None if point.published is None else point.published / one,
        )
        for point in points
    ]
    name = "".join(letter if letter.isalnum() else "-" for letter in claim.name.lower())
    if isinstance(claim, Order):
        return reproduced_figure(name, claim.says, claim.measured.title, unit, rows)
    return reproduced_figure(name, claim.says or claim.expected.title, claim.name, unit, rows)


def _compared(claim: Number | Order) -> str:
    """The axis along which variants are compared in a panel."""
    if isinstance(claim, Order):
        return claim.axis
    axes = claim.expected.axes
    return "scheme" if "scheme" in axes else (axes[0] if axes else "")


def _render(name: str, **values: Any) -> str:
    import jinja2

    here = files("pathweave.report")
    environment = jinja2.Environment(
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        finalize=in_page,
    )
    template = environment.from_string((here / name).read_text(encoding="utf-8"))
    return template.render(
        style=(here / "page.css").read_text(encoding="utf-8"),
        script=(here / "page.js").read_text(encoding="utf-8"),
        map_script=(here / "map.js").read_text(encoding="utf-8"),
        light=_script_json(theme.config()),
        dark=_script_json(theme.config(dark=True)),
        colours=_script_json(dark_colours(12)),
        schemes=_script_json(SCHEMES_LIGHT),
        **values,
    )


def _script_json(value: Any) -> str:
    """JSON that can stand inside a script element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return visible_json(text).replace("<", "\\u003c")
