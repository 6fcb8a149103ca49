"""Print what the figures of the AMP paper show and `pathweave run` does not: ratios and the like.

    python papers/amp/figures.py results/fig8 results/fig4a ...

Each argument is the folder that `pathweave run papers/amp/<figure>.toml` wrote. A line is a
variant, over all its seeds. Which figures come out is decided by the scenario's name:

- fig2, fig8: timeouts per 1,000 flows; mean and standard deviation of the FCT in ms; the largest
  number of timeouts and its 90th percentile, over flows;
- fig4a, fig4b, fig9: goodput of the mean multipath flow over that of the mean DCTCP flow, and
  Jain's index of the goodput of all flows;
- fig7: suppression episodes of the mean flow, the median of the queue in packets, and its mean
  after 50 ms;
- fig10: percentiles 10, 50 and 90 of the queue in packets;
- fig11: shifting time in ms.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from pathweave.results.collection import Results
from pathweave.results.read import find_runs

if TYPE_CHECKING:
    from collections.abc import Callable

    from pathweave.results.read import StoredScenario

BOTTLENECK = "A->D1"


def incast(results: Results) -> dict[str, pl.DataFrame]:
    """Timeouts and completion times."""
    timeouts, fct = pl.col("timeouts"), pl.col("fct_s") * 1e3
    return {
        variant: flows.select(
            flows=pl.len(),
            timeouts_per_1000=timeouts.mean() * 1e3,
            fct_mean_ms=fct.mean(),
            fct_std_ms=fct.std(),
            timeouts_max=timeouts.max(),
            timeouts_p90=timeouts.quantile(0.9),
        )
        for variant, flows in by_variant(results.table("flows"))
    }


def fairness(results: Results) -> dict[str, pl.DataFrame]:
    """Ratio of mean goodputs, and Jain's index: 1 when all have the same, 1/n when one has all."""
    goodput = pl.col("goodput_bps")
    multipath = goodput.filter(pl.col("group") == "multipath").mean()
    rivals = goodput.filter(pl.col("group") == "dctcp").mean()
    return {
        variant: flows.group_by("seed")
        .agg(
            ratio=multipath / rivals,
            jain=goodput.sum() ** 2 / (pl.len() * (goodput**2).sum()),
        )
        .select(pl.col("ratio", "jain").mean())
        for variant, flows in by_variant(results.table("flows"))
    }


def suppression(results: Results) -> dict[str, pl.DataFrame]:
    """Episodes: the subflows but the first all begin to deliver nothing for an interval or more."""
    queues = dict(by_variant(results.table("queues").filter(pl.col("link") == BOTTLENECK)))
    found: dict[str, pl.DataFrame] = {}
    for variant, rates in by_variant(results.table("rates").filter(pl.col("subflow") > 0)):
        silent = (
            rates.group_by("seed", "flow", "time_s")
            .agg(silent=pl.col("rate_bps").sum() == 0)
            .sort("seed", "flow", "time_s")
            .with_columns(before=pl.col("silent").shift(1).over("seed", "flow"))
        )
        # Before a flow has opened its subflows they are silent too: that is no episode.
        begun = pl.col("silent") & ~pl.col("before")
        episodes = silent.group_by("seed", "flow").agg(episodes=begun.sum())
        packets, late = pl.col("packets"), pl.col("time_s") >= 0.05
        found[variant] = pl.DataFrame(
            {
                "episodes": episodes["episodes"].mean(),
                "queue_p50": queues[variant].select(packets.median()).item(),
                "queue_mean_late": queues[variant].select(packets.filter(late).mean()).item(),
            }
        )
    return found


def queue(results: Results) -> dict[str, pl.DataFrame]:
    """Percentiles of the bottleneck's queue, without the first 10 ms."""
    queues = results.table("queues").filter(pl.col("link") == BOTTLENECK, pl.col("time_s") >= 0.01)
    return {
        variant: part.select(
            pl.col("packets").quantile(at / 100).alias(f"queue_p{at}") for at in (10, 50, 90)
        )
        for variant, part in by_variant(queues)
    }


def shifting(results: Results) -> dict[str, pl.DataFrame]:
    """Time from the start of the upper rival until the upper subflow's window is where it stays.

    That is at most the mean and a standard deviation of the last half of the phase.
    """
    flows = results.table("flows")
    flow = flows.filter(pl.col("group") == "multipath")["id"][0]
    start = flows.filter(pl.col("name").str.ends_with("upper"))["start_s"][0]
    upper = results.table("windows").filter(
        pl.col("flow") == flow, pl.col("subflow") == 0, pl.col("time_s") >= start
    )
    time, window = pl.col("time_s"), pl.col("window_packets")
    late = window.filter(time >= (time.min() + time.max()) / 2)
    return {
        variant: part.select(
            shifting_ms=(time.filter(window <= late.mean() + late.std()).min() - start) * 1e3,
            window_before=window.first(),
            window_after=late.mean(),
        )
        for variant, part in by_variant(upper)
    }


def by_variant(table: pl.DataFrame) -> list[tuple[str, pl.DataFrame]]:
    """The rows of each variant, in the order of the table."""
    parts = table.partition_by("variant", maintain_order=True, as_dict=True)
    return [(str(key[0]), part) for key, part in parts.items()]


FIGURES: dict[str, Callable[[Results], dict[str, pl.DataFrame]]] = {
    "fig2": incast,
    "fig4a": fairness,
    "fig4b": fairness,
    "fig7": suppression,
    "fig8": incast,
    "fig9": fairness,
    "fig10": queue,
    "fig11": shifting,
}


def show(scenario: StoredScenario) -> None:
    """Print a scenario's figures."""
    print(f"\n{scenario.heading}")
    rows = FIGURES[scenario.name](Results([scenario]))
    heads = next(iter(rows.values())).columns
    print(f"{'':44}" + "".join(f"{head:>18}" for head in heads))
    for variant, row in rows.items():
        cells = "".join(
            f"{value:>18,}" if isinstance(value, int) else f"{value:>18.3f}" for value in row.row(0)
        )
        print(f"{variant:44}{cells}")


def main() -> None:
    """Print the figures of the folders that the command line names."""
    for scenario in find_runs(Path(name) for name in sys.argv[1:]):
        show(scenario)


if __name__ == "__main__":
    main()
