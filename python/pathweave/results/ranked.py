"""Rankings as a polars frame, in base units."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pathweave.results.merit import rankings

if TYPE_CHECKING:
    from collections.abc import Iterable

    import polars as pl

    from pathweave.results.runs import StoredScenario


def ranked(scenarios: Iterable[StoredScenario], baseline: str | None = None) -> pl.DataFrame:
    """One row per scenario, workload and variant, in order of merit.

    Columns: scenario, settings, quantity (as `[report]` writes it), panel (the variant's names on
    the other axes), variant, name (on the axis that is compared), baseline, seeds, value, half (of
    the 95 % interval), at_least (whether the value is only a lower bound), unfinished (share of the
    flows); difference, difference_half, percent, percent_half (paired, to the baseline),
    adjusted_p, verdict; of the costs short_p99_s, queue_packets, drops, marks, timeouts, fairness,
    optimum (shares of 1). Values are in bit/s, s, packets or shares of 1.
    """
    import polars as pl

    rows = [
        {
            "scenario": scenario.name,
            "settings": scenario.folder.name,
            "quantity": ranking.subject.written,
            "panel": each.panel,
            "variant": each.label,
            "name": each.name,
            "baseline": ranking.baseline,
            "seeds": len(each.values),
            "value": each.mean,
            "half": each.half,
            "at_least": each.at_least,
            "unfinished": each.unfinished,
            "difference": each.difference.mean if each.difference else None,
            "difference_half": each.difference.half if each.difference else None,
            "percent": each.difference.percent if each.difference else None,
            "percent_half": each.difference.half_percent if each.difference else None,
            "adjusted_p": each.verdict.adjusted_p if each.verdict else None,
            "verdict": "baseline"
            if each.name == ranking.baseline
            else each.verdict.outcome
            if each.verdict
            else "not ranked",
            "short_p99_s": each.costs.short_p99_s.value if each.costs.short_p99_s else None,
            "queue_packets": each.costs.queue_packets,
            "drops": each.costs.drops,
            "marks": each.costs.marks,
            "timeouts": each.costs.timeouts,
            "fairness": each.costs.fairness,
            "optimum": each.costs.optimum,
        }
        for scenario in scenarios
        for ranking in rankings(scenario, baseline)
        for each in ranking.standings
    ]
    return pl.DataFrame(rows, infer_schema_length=None)
