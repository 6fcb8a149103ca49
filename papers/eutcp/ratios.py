"""x12 over x2 in the EUTCP paper's Figures 3 and 5: goodput on the shared link, mean over seeds.

    pathweave run papers/eutcp/loss-laws.toml
    python papers/eutcp/ratios.py results/loss-laws

Prints a Markdown table with a row for each variant; README.md has the ratios that arithmetic gives.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from statistics import fmean

import polars as pl

import pathweave
from pathweave.statistics.interval import half_width


def main(folder: str) -> None:
    """Print the table of the runs in this folder."""
    ratios: dict[str, list[float]] = defaultdict(list)
    for run in pathweave.load(folder).stored:
        groups = run.read("flows").select(pl.col("id").alias("flow"), "group")
        subflows = run.read("subflows").join(groups, on="flow")
        multipath = (pl.col("group") == "multipath") & (pl.col("subflow") == 1)
        x12, x2 = (
            subflows.filter(chosen)["goodput_bps"].sum()
            for chosen in (multipath, pl.col("group") == "single path")
        )
        ratios[run.label].append(x12 / x2)
    print("| variant | x12 over x2 | 95 % |")
    print("|---|---:|---:|")
    for label, values in ratios.items():
        print(f"| {label} | {fmean(values):.3f} | ± {half_width(values) or 0:.3f} |")


if __name__ == "__main__":
    main(*sys.argv[1:])
