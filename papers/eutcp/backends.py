"""Table 2 of the EUTCP paper on three backends: goodput on both links and unfairness, means over seeds.

    pathweave solve papers/eutcp/tab2.toml --size testbed
    pathweave run papers/eutcp/tab2.toml --size testbed
    sudo pathweave testbed papers/eutcp/tab2.toml --size testbed --valid 3
    python papers/eutcp/backends.py results/tab2/testbed-optimum results/tab2/testbed results/tab2/testbed-testbed

Prints a Markdown table with a row for each variant and folder. Invalid runs of the testbed do not count.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from statistics import fmean

import polars as pl

import pathweave
from pathweave.statistics.interval import half_width

ONE_MBPS = 1e6


def main(*folders: str) -> None:
    """Print the table of the runs in these folders."""
    found: dict[tuple[str, str], list[tuple[float, float, float]]] = defaultdict(list)
    for folder in folders:
        for run in pathweave.load(folder).stored:
            groups = run.read("flows").select(pl.col("id").alias("flow"), "group")
            subflows = run.read("subflows").join(groups, on="flow")
            multipath = pl.col("group") == "multipath"
            x11, x12, x2 = (
                subflows.filter(chosen)["goodput_bps"].sum() / ONE_MBPS
                for chosen in (
                    multipath & (pl.col("subflow") == 0),
                    multipath & (pl.col("subflow") == 1),
                    ~multipath,
                )
            )
            found[run.label, run.backend].append((x11, x12, x2))
    print("| variant | backend | x11, Mbps | x12, Mbps | x2, Mbps | unfairness, % | 95 % |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for (label, backend), values in sorted(found.items(), key=lambda each: each[0][0]):
        rates = " | ".join(f"{fmean(column):.1f}" for column in zip(*values, strict=True))
        unfair = [100 * ((x11 + x12) / x2 - 1) for x11, x12, x2 in values]
        interval = half_width(unfair) if len(unfair) > 1 else None
        print(f"| {label} | {backend} | {rates} | {fmean(unfair):.1f} | ± {interval or 0:.1f} |")


if __name__ == "__main__":
    main(*sys.argv[1:])
