"""Print what figures of the DECN paper are about and `pathweave run` does not show.

    python papers/decn/figures.py results/fig1 results/fig8bc results/fig9 results/fig10 ...

Each argument is the folder that `pathweave run papers/decn/<name>.toml` wrote. A line is a variant
and seed.

Of fig1, fig8bc and fig9, for each flow after the first: the time to fair share in ms and in bins,
and the mean queue from then until the next flow starts. The time counts from the flow's start to
the first bin of the scenario's `record.rates` from which all flows stay within 10 % of the fair
share, the mean of what they have in the end, for 10 bins: a round trip each in Figure 1, and ten in
Figure 8, where one is eight packets.

Of fig10: the mean FCT of all flows in ms; of short flows the mean and the 99th percentile in us; of
long flows the mean goodput in Mbps; retransmission timeouts per 1,000 flows; the packets that ports
dropped.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from pathweave.results.convergence import convergence, seconds
from pathweave.results.read import find_runs
from pathweave.results.summary import has_finished

if TYPE_CHECKING:
    from pathweave.results.read import StoredRun


def shares(run: StoredRun) -> str:
    """The times to fair share, and queues."""
    times = convergence(run)
    if times is None:
        return "no rates were recorded"
    queues = pl.read_parquet(run.path("queues"))
    bin_s = seconds(run.manifest["resolved"]["record"]["rates"])
    starts: list[float] = times["start_s"].to_list()
    parts: list[str] = []
    for row, end in zip(times.iter_rows(named=True), [*starts[1:], float("inf")], strict=True):
        found = row["time_to_fair_share_s"]
        after = pl.col("time_s").is_between(row["start_s"] + (found or 0.0), end)
        share = "never" if found is None else f"{1e3 * found:.2f} ms = {found / bin_s:.0f} bins"
        parts.append(f"{share}; queue {queues.filter(after)['packets'].mean():.1f}")
    return " | ".join(parts)


def completion(run: StoredRun) -> str:
    """Completion times and goodput of short and long flows."""
    flows = run.read("flows").filter(has_finished())
    drops = pl.read_parquet(run.path("links"))["drops"].sum()
    fct, short = pl.col("fct_s"), pl.col("group") == "short"
    row = flows.select(
        all=1e3 * fct.mean(),
        mean=1e6 * fct.filter(short).mean(),
        p99=1e6 * fct.filter(short).quantile(0.99, interpolation="linear"),
        goodput=1e-6 * pl.col("goodput_bps").filter(~short).mean(),
        timeouts=1e3 * pl.col("timeouts").mean(),
    ).row(0, named=True)
    return (
        f"all {row['all']:.2f} ms; short {row['mean']:.0f} us, p99 {row['p99']:.0f} us; "
        f"long {row['goodput']:.0f} Mbps; timeouts {row['timeouts']:.0f}; drops {drops}"
    )


def main(folders: list[str]) -> None:
    """Print a line for each run."""
    for scenario in find_runs(Path(folder) for folder in folders):
        print(scenario.heading)
        of_run = completion if scenario.name == "fig10" else shares
        for run in scenario.runs:
            print(f"  {run.label}, seed {run.seed}: {of_run(run)}")


if __name__ == "__main__":
    main(sys.argv[1:])
