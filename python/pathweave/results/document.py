"""The results of a scenario for programs: what tables and rankings show, as plain values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pathweave.results.advice import advise
from pathweave.results.merit import rankings
from pathweave.results.optimum import summarise_optimum
from pathweave.results.played import remarks
from pathweave.results.published import compare
from pathweave.results.ranked import ranked
from pathweave.results.sentences import sentences
from pathweave.results.summary import summarise, summarise_jobs
from pathweave.results.tables import shared_tables

if TYPE_CHECKING:
    from pathweave.results.runs import StoredScenario


def document(scenario: StoredScenario, baseline: str | None = None) -> dict[str, Any]:
    """What a scenario's runs found, ready for JSON but for values that are not finite.

    Rows are those of `pathweave.Results`: `summary`, `rankings`, `published`; those of `jobs` and
    `optimum` are of the same form. Values are in base units: bit/s, s, bytes, packets, shares of 1.
    Raises `InputError` for a baseline that is not there.
    """
    found = rankings(scenario, baseline)
    notes = [*remarks(scenario), *(note for ranking in found for note in ranking.notes)]
    return {
        "scenario": scenario.name,
        "title": scenario.title,
        "settings": scenario.folder.name,
        "size": scenario.size,
        "backend": scenario.backend or "simulation",
        "version": scenario.settings.version,
        "folder": str(scenario.folder),
        "axes": scenario.axes,
        "sweeps": [sweep.to_json() for sweep in scenario.sweeps],
        "seeds": sorted({run.seed for run in scenario.runs}),
        "summary": summarise(scenario).to_dicts(),
        "jobs": summarise_jobs(scenario).to_dicts(),
        "rankings": ranked([scenario], baseline).to_dicts(),
        "sentences": [sentence for ranking in found for sentence in sentences(ranking)],
        "advice": [line for ranking in found for line in advise(scenario, ranking)],
        "optimum": summarise_optimum(scenario).to_dicts(),
        "published": compare(scenario).to_dicts() if scenario.published else [],
        "tables": [table.to_json() for table in shared_tables(scenario, baseline)],
        "notes": list(dict.fromkeys(notes)),
    }
