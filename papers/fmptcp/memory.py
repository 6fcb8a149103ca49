"""Memory of FMP's switches (the FMPTCP paper, section V-C), from the table `fmp` of runs.

    pathweave run papers/fmptcp/fig9.toml --only "scheme=FCC" --only "routing=FMP"
    python papers/fmptcp/memory.py results/fig9

Prints a Markdown table with a row for each variant and layer of switches: the most lines that the
tables of one switch have, and their bytes. Sizes of lines are assumptions; the paper has none.

- The price table has a line for each destination edge switch and port that leads there: a
  congestion degree and a delay of 4 B each, which is what feedback packets carry. It is an array,
  so that no key is stored.
- The routing table is a hash table, at most half full. A line has two addresses and two TCP ports
  (12 B), the connection's MPTCP token (4 B), the port that the subflow takes (2 B) and when it was
  last used (4 B).
"""

from __future__ import annotations

import sys

import polars as pl

import pathweave

PRICE_BYTES = 4 + 4
ROUTE_BYTES = 2 * (12 + 4 + 2 + 4)


def memory(fmp: pl.DataFrame) -> pl.DataFrame:
    """By layer of switches: the most lines and bytes that one of them needs."""
    state = pl.col("prices") * PRICE_BYTES + pl.col("routes") * ROUTE_BYTES
    layer = pl.col("switch").cast(str).str.extract("^([A-Za-z]+)").alias("layer")
    return (
        fmp.with_columns(layer, state_bytes=state)
        .group_by("layer")
        .agg(pl.max("prices"), pl.max("routes"), pl.max("state_bytes"))
        .sort("layer")
    )


def main(folder: str) -> None:
    """Print the table of the runs in this folder."""
    tables = [
        memory(run.read("fmp")).with_columns(run=pl.lit(run.label))
        for run in pathweave.load(folder).stored
        if "fmp" in run.tables
    ]
    if not tables:
        sys.exit(f"no run in {folder} routes by FMP")
    most = (
        pl.concat(tables)
        .group_by("run", "layer", maintain_order=True)
        .agg(pl.max("prices"), pl.max("routes"), pl.max("state_bytes"))
    )
    print("| variant | layer | prices | routes | KB |")
    print("|---|---|---:|---:|---:|")
    for run, layer, prices, routes, size in most.iter_rows():
        print(f"| {run} | {layer} | {prices} | {routes} | {size / 1e3:.1f} |")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python papers/fmptcp/memory.py FOLDER")
    main(sys.argv[1])
