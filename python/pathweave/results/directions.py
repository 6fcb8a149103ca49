"""Which links carry data, and which the acknowledgements of data that goes the other way."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

    from pathweave.results.runs import StoredScenario

_LARGER = 1.5
"""Mean packet size, in acknowledgements, from which a link is taken to carry data."""


def carries_data(scenario: StoredScenario) -> pl.Expr:
    """Whether a row of the table `links` is of a link with data, or of one without any packets.

    It goes by the mean size of the link's packets (columns `bytes` and `packets`).
    """
    import polars as pl

    sizes = [
        _bytes(str(each["transport"]["ack_packet"]))
        for run in scenario.runs
        for each in run.manifest["resolved"].get("traffic", [])
        if "ack_packet" in each.get("transport", {})
    ]
    largest = max(sizes, default=0)
    return (pl.col("packets") == 0) | (pl.col("bytes") > _LARGER * largest * pl.col("packets"))


def _bytes(text: str) -> int:
    """A size as the resolved scenario writes it: "40 B"."""
    found = re.fullmatch(r"([0-9]+) ?B", text)
    if found is None:
        raise ValueError(f"not a size in bytes: {text}")
    return int(found[1])
