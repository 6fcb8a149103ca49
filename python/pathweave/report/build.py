"""The report: one HTML page that needs no network, and its charts as PNG and SVG."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pathweave.plots import theme
from pathweave.plots.figures import figures
from pathweave.plots.frames import Source, palette_of
from pathweave.plots.painters import Painters
from pathweave.plots.palette import SCHEMES_LIGHT, dark_colours
from pathweave.plots.render import picture, write_picture
from pathweave.report.advice import advice
from pathweave.report.answer import Answer, answer
from pathweave.report.backends import (
    goodput_tables,
    played_tables,
    queue_tables,
    series_figures,
)
from pathweave.report.changes import Changed, changed
from pathweave.report.inside import BUDGET, Inside, inside
from pathweave.report.library import library
from pathweave.report.setting import setting_sentence
from pathweave.report.steps import Steps
from pathweave.report.tables import (
    optimum_tables,
    routing_tables,
    summary_tables,
)
from pathweave.results.advice import advise
from pathweave.results.backends import SIMULATION, Comparison, comparisons
from pathweave.results.merit import rankings
from pathweave.results.played import facts, remarks
from pathweave.results.read import search
from pathweave.results.settings_compared import what_differs_in
from pathweave.results.tables import published_tables
from pathweave.results.units import count, duration, size_text
from pathweave.results.wholefile import folder_below, write_whole
from pathweave.shown import in_page, visible_json

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Future

    from pathweave.plots.figure import Figure
    from pathweave.plots.painters import Picture
    from pathweave.plots.palette import Palette
    from pathweave.results.runs import StoredScenario
    from pathweave.results.tabular import Table

PAGE = "report.html"
CHARTS = "charts"
_FLOW_COLOURS = 12
_MOST_SECTIONS = 12
"""Parts of a table that is shown at once; a longer one opens at a click."""
_WORK = {"simulate": "Simulated", "testbed": "Played", "solve": "Solved"}


@dataclass(frozen=True)
class Part:
    """One scenario's part of the page."""

    anchor: str
    scenario: StoredScenario
    facts: list[tuple[str, str]]
    notes: list[str]
    setting: str
    """The fabric and the load, in a sentence."""
    answer: Answer
    advice: str
    """HTML of the box with an adviser's sentences; empty for none."""
    summary: list[Table]
    optimum: list[Table]
    optimum_notes: list[str]
    routing: list[Table]
    published: list[Table]
    inside: Inside | None
    figures: list[Figure]
    resolved: str
    repeatable: bool
    """Whether equal runs give equal results."""


@dataclass(frozen=True)
class Beside:
    """The part of the page that has one scenario's backends side by side."""

    anchor: str
    heading: str
    name: str
    played: list[tuple[str, list[tuple[str, str]]]]
    """Of each testbed its name, and what is to be known of its runs."""
    tables: list[Table]
    figures: list[Figure]


@dataclass(frozen=True)
class Built:
    """A report that has been written."""

    page: Path
    charts: list[Path]
    """PNG and SVG files; none where pictures were not asked for."""
    scenarios: list[StoredScenario]
    """What it is of."""
    unusable: list[str]
    """Why runs were left out."""
    changed: Changed | None
    """What changed from the first folder to the second, where there are two to compare."""


def build_report(
    folders: Sequence[Path],
    out: Path | None = None,
    *,
    pictures: bool = True,
    baseline: str | None = None,
    steps: Steps | None = None,
) -> Path:
    """Write the report of all runs at or below `folders`, as `build` does; return the page."""
    return build(folders, out, pictures=pictures, baseline=baseline, steps=steps).page


def build(
    folders: Sequence[Path],
    out: Path | None = None,
    *,
    pictures: bool = True,
    baseline: str | None = None,
    steps: Steps | None = None,
) -> Built:
    """Write the report of all runs at or below `folders`.

    The page goes to `out`, or to a folder `report` in the one folder given (beside several). PNG
    and SVG of every chart go to `charts` beside it. `baseline` names the variant that others are
    compared with, `steps` hears how far the report is. Two folders with results of one scenario are
    also compared with each other. Raises `InputError` when there are no
    runs, and `OSError` when a file cannot be written: no file is ever left in part.
    """
    steps = steps or Steps()
    with Painters() as painters:
        if pictures:
            painters.start()
        script = library(painters)
        found = search(folders)
        target = out if out is not None else folder_below(_around(folders), "report")
        scenarios = found.scenarios
        compared = comparisons(scenarios)
        palette = palette_of(
            [*scenarios, *(comparison.merged() for comparison in compared)], baseline
        )
        drawn: list[tuple[Path, Figure, Future[Picture]]] = []

        def draw(below: str, figures: list[Figure], about: str) -> list[Figure]:
            if pictures:
                folder = folder_below(target, CHARTS, *([below] if below else []))
                drawn.extend(
                    (folder, figure, picture(painters, figure, about)) for figure in figures
                )
            return figures

        besides: list[Beside] = []
        for place, comparison in enumerate(compared, start=1):
            beside = _beside(comparison, palette, f"b{place}")
            draw(f"{beside.name}-backends", beside.figures, beside.heading)
            besides.append(beside)
        parts: list[Part] = []
        budget = BUDGET // len(scenarios)
        for place, scenario in enumerate(scenarios, start=1):
            steps.reading(scenario.heading, place, len(scenarios))
            several = len(scenarios) > 1
            below = f"{scenario.name}-{scenario.folder.name}" if several else ""
            # Others draw them while this process goes on with the tables.
            said = answer(scenario, palette, baseline)
            first = [] if said.figure is None else [said.figure]
            own = figures(Source(scenario, palette))
            draw(below, [*first, *own], _about(scenario))
            parts.append(_part(scenario, palette, f"s{place}", said, own, budget))
        unusable = [unusable.reason for unusable in found.unusable]
        changes = changed(folders, scenarios)
        apart = what_differs_in(scenarios)
        text = _page(parts, besides, apart, unusable, changes, script(), pictures=pictures)
        target.mkdir(parents=True, exist_ok=True)
        page = target / PAGE
        write_whole(page, text.encode())
        charts: list[Path] = []
        for done, (folder, figure, future) in enumerate(drawn):
            steps.drawn(done, len(drawn))
            charts += write_picture(folder, figure, future.result())
    return Built(page, charts, scenarios, unusable, changes)


def _around(folders: Sequence[Path]) -> Path:
    """The folder in which the report's own is made, unless it is given."""
    if len(folders) == 1:
        return folders[0]
    parents = {folder.resolve().parent for folder in folders}
    return folders[0].parent if len(parents) == 1 else Path()


def _about(scenario: StoredScenario) -> str:
    """What pictures say that they are of."""
    seeds = sorted({run.seed for run in scenario.runs})
    text = f"seed {seeds[0]}"
    if len(seeds) > 1:
        in_row = seeds == list(range(seeds[0], seeds[-1] + 1))
        text = f"seeds {seeds[0]} to {seeds[-1]}" if in_row else f"{len(seeds)} seeds"
    version = ", ".join(sorted({run.manifest["pathweave"] for run in scenario.runs}))
    return f"{scenario.heading}; {text}; Pathweave {version}"


def _beside(comparison: Comparison, palette: Palette, anchor: str) -> Beside:
    return Beside(
        anchor=anchor,
        heading=comparison.heading,
        name=comparison.first.name,
        played=[
            (column.name, facts(column.whole)) for column in comparison.columns if column.played
        ],
        tables=[*goodput_tables(comparison), *queue_tables(comparison)],
        figures=series_figures(comparison, palette),
    )


def _part(
    scenario: StoredScenario,
    palette: Palette,
    anchor: str,
    said: Answer,
    figures: list[Figure],
    budget: int,
) -> Part:
    first = scenario.runs[0].manifest
    return Part(
        anchor=anchor,
        scenario=scenario,
        facts=_facts(scenario),
        notes=_notes(scenario),
        setting=setting_sentence(scenario),
        answer=said,
        advice=advice(_decided(scenario)),
        summary=summary_tables(scenario, palette) + played_tables(scenario),
        optimum=optimum_tables(scenario, palette),
        optimum_notes=_optimum_notes(scenario),
        routing=routing_tables(scenario),
        published=published_tables(scenario, palette.colour),
        inside=inside(scenario, budget),
        figures=figures,
        resolved=json.dumps(first["resolved"], indent=2, ensure_ascii=False),
        repeatable=first["backend"] != "testbed",
    )


def _decided(scenario: StoredScenario) -> list[str]:
    """What decided the answer to the page's first question."""
    found = rankings(scenario)
    return advise(scenario, found[0]) if found else []


def _facts(scenario: StoredScenario) -> list[tuple[str, str]]:
    """What was run, in pairs of name and text."""
    runs = scenario.runs
    seeds = sorted({run.seed for run in runs})
    hops = sum(int(run.manifest["counters"].get("packet_hops", 0)) for run in runs)
    seconds = sum(run.timing.get("cpu_s", 0.0) for run in runs)
    settings = sorted({" ".join(run.manifest["scenario"]["set"]) for run in runs})
    found = [
        ("Scenario", scenario.path or scenario.name),
        ("Size", scenario.size),
        ("Variants", str(len(scenario.labels()))),
        ("Seeds", ", ".join(str(seed) for seed in seeds)),
        ("Backend", scenario.backend or SIMULATION),
        ("Pathweave", ", ".join(sorted({run.manifest["pathweave"] for run in runs}))),
        (_WORK[runs[0].backend], _work(hops, seconds)),
        (
            "Results",
            f"{scenario.folder.parent.name}/{scenario.folder.name}/, {_disk_use(scenario)}",
        ),
    ]
    if any(settings):
        found.append(("Set", "; ".join(text or "nothing" for text in settings)))
    return [(name, text) for name, text in [*found, *facts(scenario)] if text]


def _work(hops: int, seconds: float) -> str:
    took = f"{duration(seconds)} of CPU time"
    return f"{count(hops)} packet-hops in {took}" if hops else f"in {took}"


def _disk_use(scenario: StoredScenario) -> str:
    total = sum(file.lstat().st_size for run in scenario.runs for file in run.folder.iterdir())
    return size_text(total)


def _notes(scenario: StoredScenario) -> list[str]:
    """What a reader should know about the runs before believing them."""
    notes = remarks(scenario)
    said: dict[str, list[str]] = {}
    for run in scenario.runs:
        name = f"{run.label or scenario.name}, seed {run.seed}"
        if run.manifest["verdict"] == "stalled":
            notes.append(f"{name}: nothing more could happen, some flows have no live path left")
        for note in run.manifest["notes"]:
            said.setdefault(note, []).append(name)
    for note, names in said.items():
        every = len(names) == len(scenario.runs) > 1
        notes += [f"All runs: {note}"] if every else [f"{name}: {note}" for name in names]
    return notes


def _optimum_notes(scenario: StoredScenario) -> list[str]:
    """What was maximised, what the answers rest on, and what a reader must know of them."""
    found = [
        (run, about)
        for run in scenario.runs
        if (about := run.optimum or run.manifest.get("optimum")) is not None
    ]
    if not found:
        return []
    utilities = list(dict.fromkeys(optimum["utility"] for _, optimum in found))
    solvers = sorted({name for _, optimum in found for name in optimum["solvers"]})
    worst = max(optimum["worst_residual"] for _, optimum in found)
    tolerance = max(optimum["tolerance"] for _, optimum in found)
    about = (
        f"Utility: {', '.join(utilities)}. Solved with {', '.join(solvers)}; the largest residual"
        f" of feasibility and optimality is {worst:.1e}, the tolerance {tolerance:g}."
    )
    notes = [about]
    for run, optimum in found:
        name = f"{run.label or scenario.name}, seed {run.seed}"
        notes += [f"{name}: {note}" for note in optimum.get("notes", [])]
    return notes


def _page(
    parts: Sequence[Part],
    besides: Sequence[Beside],
    apart: Sequence[tuple[str, list[str]]],
    unusable: Sequence[str],
    changes: Changed | None,
    script: str,
    *,
    pictures: bool,
) -> str:
    import jinja2

    here = files("pathweave.report")
    environment = jinja2.Environment(
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        finalize=in_page,
    )
    template = environment.from_string((here / "page.html.j2").read_text(encoding="utf-8"))
    charts = {
        f"{part.anchor}-{figure.name}": figure.spec()
        for part in (*besides, *parts)
        for figure in part.figures
    } | {
        f"{part.anchor}-{part.answer.figure.name}": part.answer.figure.spec()
        for part in parts
        if part.answer.figure is not None
    }
    return template.render(
        most_sections=_MOST_SECTIONS,
        title=" · ".join(part.scenario.heading for part in parts),
        parts=parts,
        besides=besides,
        apart=apart,
        unusable=unusable,
        changes=changes,
        style=(here / "page.css").read_text(encoding="utf-8"),
        script=(here / "page.js").read_text(encoding="utf-8"),
        library=script,
        pictures=pictures,
        charts=_script_json(charts),
        light=_script_json(theme.config()),
        dark=_script_json(theme.config(dark=True)),
        colours=_script_json(dark_colours(_FLOW_COLOURS)),
        schemes=_script_json(SCHEMES_LIGHT),
        insides=_script_json(
            {f"{part.anchor}-map": part.inside.data for part in parts if part.inside}
        ),
        map_script=(here / "map.js").read_text(encoding="utf-8"),
    )


def _script_json(value: Any) -> str:
    """JSON that can stand inside a script element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return visible_json(text).replace("<", "\\u003c")
