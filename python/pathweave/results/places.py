"""Load and drops by place: hosts' own ports, layers of the fabric, receivers' ports."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from pathweave.results.runs import StoredRun

OWN_PORT = "own port"
RECEIVERS_PORT = "receiver's port"
_NEEDED = {"link", "layer", "capacity_bps", "utilisation", "drops", "packets"}


def has_places(run: StoredRun) -> bool:
    """Whether a run has ports, and says which of them are hosts'."""
    has_tables = {"flows", "links"} <= set(run.tables)
    return has_tables and set(run.scan("links").collect_schema().names()) >= _NEEDED


def ports_by_place(run: StoredRun) -> pl.DataFrame:
    """The table `links` of a run with the columns `place` and `offered_bps`.

    What is offered to a port is what it sent and what it dropped, as if both had packets of the
    same size.
    """
    import polars as pl

    links = run.read("links").with_columns(
        pl.col("link").str.split("->").list.first().alias("from"),
        pl.col("link").str.replace(r"#\d+$", "").str.split("->").list.last().alias("to"),
    )
    flows = run.read("flows", ["source", "destination"])
    hosts = {*flows["source"].unique().to_list(), *flows["destination"].unique().to_list()}
    # Hosts without traffic have one neighbour, as hosts with some have in such fabrics.
    neighbours = links.group_by("from").agg(pl.col("to").n_unique().alias("count"))
    hosts |= set(neighbours.filter(pl.col("count") == 1)["from"].to_list())
    from_host, to_host = pl.col("from").is_in(hosts), pl.col("to").is_in(hosts)
    layer = pl.when(pl.col("layer") == "").then(pl.lit("fabric")).otherwise(pl.col("layer"))
    place = (
        pl.when(from_host)
        .then(pl.lit(OWN_PORT))
        .when(to_host)
        .then(pl.lit(RECEIVERS_PORT))
        .otherwise(layer)
    )
    sent = pl.col("utilisation") * pl.col("capacity_bps")
    offered = sent * (1 + pl.col("drops") / pl.col("packets").clip(lower_bound=1))
    return links.with_columns(place=place, offered_bps=offered)


def by_place(runs: Sequence[StoredRun]) -> pl.DataFrame:
    """A row per place: `load` (offered, as a share of capacity), `drops` and `packets` in a run.

    Places stand in the order of a packet's way.
    """
    import polars as pl

    ports = pl.concat([ports_by_place(run) for run in runs])
    return (
        ports.group_by("place")
        .agg(
            (pl.col("offered_bps").sum() / pl.col("capacity_bps").sum()).alias("load"),
            (pl.col("drops").sum() / len(runs)).alias("drops"),
            (pl.col("packets").sum() / len(runs)).alias("packets"),
        )
        .sort(
            pl.when(pl.col("place") == OWN_PORT)
            .then(0)
            .when(pl.col("place") == RECEIVERS_PORT)
            .then(2)
            .otherwise(1),
            "place",
        )
    )
