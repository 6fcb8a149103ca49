"""Print what Figures 1 and 8 of the DECN paper are about and `pathweave run` does not show.

    python papers/decn/figures.py results/fig1 results/fig8bc ...

Each argument is the folder that `pathweave run papers/decn/<name>.toml` wrote. For each variant and
seed: the time to fair share, in ms and in bins, and the mean queue after it.

The time to fair share counts from Flow 2's start. It is the first time from which both flows stay
within 10 % of the fair share, half of what both have together at the end, for 10 bins of the
scenario's `record.rates`: a round trip in Figure 1, and ten in Figure 8, where one is eight packets.
"""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl

from pathweave.results.read import find_runs

HOLD = 10
"""Bins for which both flows stay."""
NEAR = 0.1


def time_to_fair_share(rates: pl.DataFrame, start_s: float, bin_s: float) -> float | None:
    """Seconds from `start_s`; None when the flows never stay near their share.

    `rates` has the columns time_s, flow and rate_bps.
    """
    both = (
        rates.group_by("time_s", "flow")
        .agg(pl.col("rate_bps").sum())
        .pivot(on="flow", index="time_s", values="rate_bps")
        .sort("time_s")
        .fill_null(0.0)
    )
    flows = [name for name in both.columns if name != "time_s"]
    late = both.tail(max(1, both.height // 10))
    fair = sum(float(late[name].mean() or 0.0) for name in flows) / len(flows)  # pyright: ignore[reportArgumentType]
    after = both.filter(pl.col("time_s") > start_s)
    near = [
        all(abs(row[name] - fair) <= NEAR * fair for name in flows)
        for row in after.iter_rows(named=True)
    ]
    times = after["time_s"].to_list()
    for first in range(len(near) - HOLD + 1):
        if all(near[first : first + HOLD]):
            # A bin is named by its end.
            return times[first] - bin_s - start_s
    return None


def main(folders: list[str]) -> None:
    """Print a line for each run."""
    for scenario in find_runs(Path(folder) for folder in folders):
        print(scenario.heading)
        for run in scenario.runs:
            flows = pl.read_parquet(run.path("flows")).sort("id")
            if flows.height != 2:
                sys.exit(f"{scenario.name} does not have two flows")
            rtt = _seconds(run.manifest["resolved"]["record"]["rates"])
            start = float(flows["start_s"][1])
            found = time_to_fair_share(pl.read_parquet(run.path("rates")), start, rtt)
            queues = pl.read_parquet(run.path("queues"))
            queue = queues.filter(pl.col("time_s") > start + (found or 0.0))["packets"].mean()
            share = "never" if found is None else f"{1e3 * found:.2f} ms = {found / rtt:.0f} bins"
            print(f"  {run.label}, seed {run.seed}: {share}; queue {queue:.1f}")


def _seconds(text: str) -> float:
    number, unit = text.split()
    return float(number) * {"s": 1.0, "ms": 1e-3, "us": 1e-6}[unit]


if __name__ == "__main__":
    main(sys.argv[1:])
