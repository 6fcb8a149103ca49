"""Print what the tables of the FMPTCP paper show and `pathweave run` does not.

    python papers/fmptcp/figures.py results/tab2 results/fig6 ...

Each argument is the folder that `pathweave run papers/fmptcp/<name>.toml` wrote. A line is a
variant, over all its seeds. Rates are of payload, in Gbps: 96 fill a link of 100. What comes out is
decided by the scenario's name:

- tab2, tab6: what each subflow delivered from 4 to 10 ms; the share of the two links to D1 that was
  used; RTTs of both flows in the same time, mean of the recorded samples, in us;
- fig6: mean rates of the five flows from 10 to 20 ms; Jain's index of them; mean over flows of the
  range (largest less smallest) of the rate from 11 to 20 ms; mean RTT of the whole run in us; mean
  and standard deviation of the queue at A from 10 to 20 ms; the time in ms that flows 2, 3 and 4
  take from their start to within 20 % of their fair share;
- fig13: ms from Flow 2's start until both flows together have 95 % of their mean rate from 7 to
  10 ms, averages over 100 us; that mean; the share of the two links to D1 that was used; the
  largest queue before D1 from 4.5 to 10 ms;
- fig9 to fig12: mean over flows of throughput in Mbps and of RTT in us, and what FMP changes of
  both against ECMP with the same seed, in %, each with half its 95 % interval over the seeds;
  what FMP takes: entries of all price tables, the most of a switch, feedback on all links in Mbps.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from pathweave.results.collection import Results
from pathweave.results.read import find_runs
from pathweave.statistics.interval import half_width

if TYPE_CHECKING:
    from collections.abc import Callable

    from pathweave.results.read import StoredScenario

TO_RECEIVER = ["B3->D1", "B4->D1"]
RUN = ["variant", "seed"]
FAIR_SHARES = {"MPTCP 2": 96.0, "MPTCP 3": 64.0, "MPTCP 4": 48.0}
"""Payload in Gbps that a flow's share of both links carries when it has started."""


def shared_bottlenecks(results: Results) -> pl.DataFrame:
    """Rates of subflows, use of the receiver's links and round-trip times."""
    subflows = (
        named(results, "subflows")
        .with_columns(
            pl.format("{} {}", "name", pl.col("subflow") + 1),
            pl.col("goodput_bps") / 1e9,
        )
        .group_by("variant", "name", maintain_order=True)
        .agg(pl.col("goodput_bps").mean())
        .pivot(on="name", index="variant", values="goodput_bps")
    )
    rtts = (
        named(results, "rtts")
        .filter(pl.col("time_s").is_between(0.004, 0.010))
        .group_by("variant", "name", maintain_order=True)
        .agg(pl.col("rtt_s").mean() * 1e6)
        .sort("name", maintain_order=True)
        .with_columns(pl.format("RTT {}", "name").alias("name"))
        .pivot(on="name", index="variant", values="rtt_s")
    )
    return together([subflows, used(results), rtts])


def five_flows(results: Results) -> pl.DataFrame:
    """Fairness, fluctuation, delay and convergence."""
    rate = pl.col("goodput_bps") / 1e9
    flows = results.table("flows")
    shares = (
        flows.group_by("variant", "name", maintain_order=True)
        .agg(rate.mean())
        .sort("name", maintain_order=True)
        .pivot(on="name", index="variant", values="goodput_bps")
    )
    jain = mean_over_runs(flows.group_by(*RUN).agg(Jain=rate.sum() ** 2 / (5 * (rate**2).sum())))
    rates = by_flow(results)
    settled = rates.filter(pl.col("time_s").is_between(0.011, 0.020))
    ranges = settled.group_by(*RUN, "name").agg(range=pl.col("rate").max() - pl.col("rate").min())
    delays = flows.group_by("variant").agg(RTT=pl.col("rtt_mean_s").mean() * 1e6)
    queues = (
        results.table("queues")
        .filter(pl.col("time_s").is_between(0.010, 0.020))
        .group_by("variant")
        .agg(queue=pl.col("packets").mean(), queue_std=pl.col("packets").std())
    )
    return together(
        [shares, jain, mean_over_runs(ranges), delays, queues, convergence(flows, rates)]
    )


def convergence(flows: pl.DataFrame, rates: pl.DataFrame) -> pl.DataFrame:
    """Milliseconds from a flow's start until its rate is within 20 % of its fair share."""
    fair = pl.col("name").replace_strict(FAIR_SHARES, return_dtype=pl.Float64)
    late = rates.filter(pl.col("name").is_in(list(FAIR_SHARES))).join(
        flows.select(*RUN, "name", "start_s"), on=[*RUN, "name"]
    )
    first = (
        late.filter((pl.col("rate") / fair - 1).abs() <= 0.2)
        .group_by(*RUN, "name")
        .agg(to_share=(pl.col("time_s").min() - pl.col("start_s").first()) * 1e3)
    )
    return mean_over_runs(first)


def steps(results: Results) -> pl.DataFrame:
    """Time to the final rate under each rule for the step."""
    starts = results.table("flows").filter(pl.col("name") == "Flow 2").select(*RUN, "start_s")
    total = (
        by_flow(results, average=5)
        .group_by(*RUN, "time_s", maintain_order=True)
        .agg(pl.col("rate").sum())
        .join(starts, on=RUN)
        .filter(pl.col("time_s") > pl.col("start_s") + 100e-6, pl.col("time_s") <= 0.010)
    )
    final = pl.col("rate").filter(pl.col("time_s") > 0.007).mean()
    there = pl.col("time_s").filter(pl.col("rate") >= 0.95 * final).min()
    found = total.group_by(*RUN, maintain_order=True).agg(
        to_final=(there - pl.col("start_s").first()) * 1e3, final_rate=final
    )
    largest = (
        results.table("queues")
        .filter(pl.col("time_s").is_between(0.0045, 0.010))
        .group_by(*RUN)
        .agg(largest_queue=pl.col("packets").max())
    )
    return together([mean_over_runs(found), used(results), mean_over_runs(largest)])


def routings(results: Results) -> pl.DataFrame:
    """Throughput and RTT of each variant, and FMP against ECMP."""
    flows = results.flows.with_columns(ecmp=pl.col("variant").str.replace("FMP", "ECMP"))
    runs = flows.group_by("variant", "ecmp", "seed", maintain_order=True).agg(
        rate=pl.col("goodput_bps").mean() / 1e6, rtt=pl.col("rtt_mean_s").mean() * 1e6
    )
    beside = runs.select("seed", ecmp="variant", ecmp_rate="rate", ecmp_rtt="rtt")
    runs = runs.join(beside, on=["ecmp", "seed"], how="left", maintain_order="left").with_columns(
        (100 * (pl.col("rate") / pl.col("ecmp_rate") - 1)).alias("rate, %"),
        (100 * (pl.col("rtt") / pl.col("ecmp_rtt") - 1)).alias("RTT, %"),
    )
    rows: list[dict[str, str | float | None]] = []
    for (variant,), part in runs.group_by("variant", maintain_order=True):
        row: dict[str, str | float | None] = {"variant": str(variant)}
        for name in ("rate", "rtt", "rate, %", "RTT, %"):
            values = [float(value) for value in part[name].drop_nulls()]
            row[name] = sum(values) / len(values) if values else None
            row[f"{name} +-"] = half_width(values)
        rows.append(row)
    return together([pl.DataFrame(rows, infer_schema_length=None), feedback(results)])


def feedback(results: Results) -> pl.DataFrame:
    """Entries of price tables, all and the most of a switch; feedback on all links, in Mbps."""
    ends = pl.DataFrame(
        [(run.label, run.seed, run.manifest["counters"]["ended_s"]) for run in results.stored],
        schema=["variant", "seed", "ended"],
        orient="row",
    )
    switches = results.table("fmp").join(ends, on=RUN)
    runs = switches.group_by(*RUN, maintain_order=True).agg(
        prices=pl.col("prices").sum(),
        most=pl.col("prices").max(),
        feedback=pl.col("feedback_bytes").sum() * 8e-6 / pl.col("ended").first(),
    )
    return mean_over_runs(runs)


def used(results: Results) -> pl.DataFrame:
    """The share of the links to D1 that was used, in %."""
    links = results.table("links").filter(pl.col("link").is_in(TO_RECEIVER))
    return links.group_by("variant").agg(used=pl.col("utilisation").mean() * 100)


def by_flow(results: Results, average: int = 1) -> pl.DataFrame:
    """Rates of flows in Gbps, averaged over so many intervals of the recording."""
    series = named(results, "rates").group_by(*RUN, "name", "time_s", maintain_order=True)
    rates = series.agg(rate=pl.col("rate_bps").sum() / 1e9)
    over = pl.col("rate").rolling_mean(average, min_samples=1).over(*RUN, "name")
    return rates.with_columns(over)


def named(results: Results, table: str) -> pl.DataFrame:
    """A table that has flows by number, with their names."""
    names = results.table("flows").select(*RUN, flow="id", name="name")
    return results.table(table).join(names, on=[*RUN, "flow"], maintain_order="left")


def together(tables: list[pl.DataFrame]) -> pl.DataFrame:
    """Tables by variant side by side, in the order of the first."""
    first, *others = tables
    for other in others:
        first = first.join(other, on="variant", how="left", maintain_order="left")
    return first


def mean_over_runs(frame: pl.DataFrame) -> pl.DataFrame:
    """Means by variant of all columns with numbers."""
    return frame.group_by("variant", maintain_order=True).agg(
        pl.selectors.numeric().exclude("seed").mean()
    )


TABLES: dict[str, Callable[[Results], pl.DataFrame]] = {
    "tab2": shared_bottlenecks,
    "tab6": shared_bottlenecks,
    "fig6": five_flows,
    "fig13": steps,
    "fig9": routings,
    "fig10": routings,
    "fig11": routings,
    "fig12": routings,
}


def show(scenario: StoredScenario) -> None:
    """Print a scenario's table."""
    print(f"\n{scenario.heading}")
    table = TABLES[scenario.name](Results([scenario]))
    print(f"{'':22}" + "".join(f"{head:>15}" for head in table.columns[1:]))
    for variant, *values in table.iter_rows():
        shown = ("" if value is None else f"{value:.3f}" for value in values)
        print(f"{variant:22}" + "".join(f"{value:>15}" for value in shown))


def main() -> None:
    """Print the tables of the folders that the command line names."""
    for scenario in find_runs(Path(name) for name in sys.argv[1:]):
        show(scenario)


if __name__ == "__main__":
    main()
