"""Base RTT and queue of the EUTCP paper's testbed by Table 3, and what they make of Table 2.

    pathweave run papers/eutcp/region.toml
    python papers/eutcp/region.py results/region/quick
    pathweave run papers/eutcp/tab2.toml --sweep "fabric.delays=62 us,472 us,972 us,1972 us" \
        --sweep fabric.queue.limit=100,300,1000 --out results/tab2-region
    python papers/eutcp/region.py results/tab2-region/tab2

Prints a Markdown table with a row for each base RTT and queue: by scheme the convergence time of
x12 (s), or the unfairness (%), the mean over seeds, and the mean absolute difference from what was
published. region.toml says how one of them is chosen.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from statistics import fmean
from typing import TYPE_CHECKING

import polars as pl

import pathweave
from pathweave.results.checks.reaching import rate_settling

if TYPE_CHECKING:
    from pathweave.results.runs import StoredRun

TABLE_3 = {"LIA": 2.5, "Balia": 2.5, "EUTCP(1)": 2.0, "EUTCP(1.05)": 1.5, "EUTCP(1.1)": 2.0}
"""Convergence time of x12, s."""
TABLE_2 = {
    "LIA": 14.56,
    "OLIA": 8.11,
    "Balia": 6.29,
    "EUTCP(1)": 6.18,
    "EUTCP(1.05)": 5.83,
    "EUTCP(1.1)": 8.42,
}
"""Unfairness, %."""
BASE_RTT = {"62 us": "0.2 ms", "472 us": "1 ms", "972 us": "2 ms", "1.972 ms": "4 ms"}
"""Of the delays of the two links."""


def convergence_s(run: StoredRun) -> float | None:
    """How long x12's rate takes to what it comes to once the first link is slow."""
    times = rate_settling(run)
    if times is None:
        return None
    return times.row(
        by_predicate=(pl.col("name") == "MPTCP") & (pl.col("subflow") == 1), named=True
    )["settling_s"]


def unfairness(run: StoredRun) -> float:
    """By how many percent a multipath flow has more goodput than a TCP flow."""
    flows = run.read("flows").group_by("group").agg(pl.col("goodput_bps").mean())
    mean = dict(flows.iter_rows())
    return 100 * (mean["multipath"] / mean["single path"] - 1)


def rows(runs: list[StoredRun]) -> tuple[dict[str, float], list[tuple[float, list[str]]]]:
    """What was published, and the cells of each row after the distance from it."""
    of_table_3 = runs[0].manifest["scenario"]["name"] == "region"
    published, measure = (TABLE_3, convergence_s) if of_table_3 else (TABLE_2, unfairness)
    values: dict[tuple[str, int], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for run in runs:
        fabric = run.manifest["resolved"]["fabric"]
        value = measure(run)
        if value is not None:
            cell = (BASE_RTT[fabric["delays"][0]], fabric["queue"]["limit"])
            values[cell][run.axes["scheme"]].append(value)
    table: list[tuple[float, list[str]]] = []
    for (base_rtt, queue), schemes in values.items():
        means = {scheme: fmean(schemes[scheme]) for scheme in published}
        apart = fmean(
            abs(value - published[scheme]) for scheme in published for value in schemes[scheme]
        )
        cells = [base_rtt, str(queue), *(f"{means[scheme]:.2f}" for scheme in published)]
        table.append((apart, cells))
    return published, table


def main(folder: str) -> None:
    """Print the table of the runs in this folder."""
    published, table = rows(pathweave.load(folder).stored)
    print("| base RTT | queue |", " | ".join(published), "| mean difference |")
    print("|---|---:|" + "---:|" * (len(published) + 1))
    print("| published | |", " | ".join(f"{value:.2f}" for value in published.values()), "| |")
    for apart, cells in table:
        print("|", " | ".join(cells), f"| {apart:.2f} |")


if __name__ == "__main__":
    main(*sys.argv[1:])
