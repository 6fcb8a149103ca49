"""Runs Pathweave on the cases of `validation/scenarios` and writes what `compare.py` reads.

    pathweave_side.py NS3_RESULTS FOLDER [--seeds N] [--case CASE]... [--set KEY=VALUE]...

A case is a scenario and, behind hyphens, the names of a variant: `dctcp-alone-k5-ack2`. The axis
`phase` does not belong to the name: its variants are the samples of one case. Runs the scenarios
of the cases that the folder of ns-3's results holds, or of those that `--case` names, keeps their
results under FOLDER and writes FOLDER/pathweave.json. Results that stand there with the same
settings are not run again. It needs Pathweave's own environment:
`.venv/bin/python validation/pathweave_side.py ...`.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

import pathweave
from pathweave.errors import PathweaveError
from pathweave.results.arrivals import whole_intervals
from pathweave.results.units import seconds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pathweave.results.read import StoredRun

SCENARIOS = Path(__file__).parent / "scenarios"
PHASE = "phase"


def cases_in(folder: Path) -> set[str]:
    """Cases that a folder of ns-3's results holds."""
    results = (json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*.json"))
    return {result["case"] for result in results}


def run_cases(
    scenario: Path, wanted: set[str], folder: Path, seeds: int | None, changes: dict[str, str]
) -> dict[str, list[dict[str, Any]]]:
    """Run a scenario, and return one object for each run of the cases that are wanted."""
    if not any(f"{case}-".startswith(f"{scenario.stem}-") for case in wanted):
        return {}
    results = pathweave.run(scenario, seeds=seeds, set=changes, out=folder, progress=False)
    cases: dict[str, list[dict[str, Any]]] = {}
    for run in results.stored:
        names = [name for axis, name in run.axes.items() if axis != PHASE]
        case = "-".join([scenario.stem, *names])
        if case in wanted:
            cases.setdefault(case, []).append(measurement(run))
    return cases


def measurement(run: StoredRun) -> dict[str, Any]:
    """What `compare.py` reads of one run."""
    flows = pl.read_parquet(run.path("flows")).sort("id")
    links = pl.read_parquet(run.path("links"))
    transport = run.manifest["resolved"]["traffic"][0]["transport"]
    payload_share = in_bytes(transport["maximum_segment"]) / in_bytes(transport["data_packet"])
    # All links of these scenarios are equally fast.
    ceiling_mbps = 1e-6 * links["capacity_bps"][0] * payload_share
    goodput_mbps = [1e-6 * rate for rate in flows["goodput_bps"]]
    return {
        "seed": run.seed,
        "goodput_mbps": goodput_mbps,
        "goodput_share": [rate / ceiling_mbps for rate in goodput_mbps],
        "smoothed_rtt_us": smoothed_rtt_us(run, flows),
        # Acknowledgements are not ECN-capable: only data are marked.
        "marks": links["marks"].sum(),
        "ports": {
            link["link"]: {
                "queue_mean_packets": link["queue_mean"],
                # From 64 packets on in steps of four: 96 stands for 96 to 99.
                "queue_p99_packets": link["queue_p99"],
            }
            for link in links.iter_rows(named=True)
        },
        "series": series(run, flows),
        # Not compared, but telling where something differs; over the whole run.
        "retransmissions_in_run": flows["retransmits"].to_list(),
        "timeouts_in_run": flows["timeouts"].to_list(),
    }


def smoothed_rtt_us(run: StoredRun, flows: pl.DataFrame) -> list[float]:
    """Each flow's smoothed round-trip time, averaged over the measurement window."""
    begin = in_seconds(run.manifest["resolved"]["measure"]["from"])
    rtts = pl.read_parquet(run.path("rtts")).filter(pl.col("time_s") > begin)
    means = dict(rtts.group_by("flow").agg(pl.col("smoothed_rtt_s").mean()).iter_rows())
    return [1e6 * means[flow] for flow in flows["id"]]


def in_seconds(time: str) -> float:
    """Read a time as the resolved scenario writes it: "100 ms"."""
    number, unit = time.split()
    return float(number) * {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "ps": 1e-12}[unit]


def in_bytes(size: str) -> int:
    """Read a size as the resolved scenario writes it: "1448 B"."""
    return int(size.removesuffix(" B"))


def series(run: StoredRun, flows: pl.DataFrame) -> dict[str, Any]:
    """The flows' rates in bins from time zero on.

    A bin counts payload when it arrives, ns-3's when it is handed over in order; where nothing is
    lost, as in the cases whose time to fair share is compared, that is the same.
    """
    bin_s = seconds(run.manifest["resolved"]["record"]["rates"])
    rates = whole_intervals(pl.read_parquet(run.path("rates")), bin_s)
    last_bin = round(float(rates["time_s"].max() or 0.0) / bin_s)  # pyright: ignore[reportArgumentType]
    goodput: list[list[float]] = []
    for flow in flows["id"]:
        bins = [0.0] * last_bin
        own = rates.filter(pl.col("flow") == flow)
        for end, rate in zip(own["time_s"], own["rate_bps"], strict=True):
            bins[round(end / bin_s) - 1] += 1e-6 * rate
        goodput.append(bins)
    return {"bin_s": bin_s, "goodput_mbps": goodput, "last_start_s": max(flows["start_s"])}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all cases and return the exit code."""
    parser = argparse.ArgumentParser(description="Runs Pathweave on the cases that ns-3 ran.")
    parser.add_argument("ns3_results", type=Path, help="folder of ns-3 results: names the cases")
    parser.add_argument("folder", type=Path, help="where Pathweave's results go")
    parser.add_argument("--seeds", type=int, help="number of seeds instead of the scenarios' own")
    parser.add_argument(
        "--case", action="append", default=[], help="a case to run; without it all run"
    )
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="a change to the scenarios"
    )
    options = parser.parse_args(arguments)
    cases = cases_in(options.ns3_results)
    if options.case:
        cases &= set(options.case)
    if not cases:
        print(f"pathweave_side.py: no results in {options.ns3_results}", file=sys.stderr)
        return 2
    try:
        changes = dict(change.split("=", 1) for change in options.set)
        results: dict[str, list[dict[str, Any]]] = {}
        for scenario in sorted(SCENARIOS.glob("*.toml")):
            results |= run_cases(scenario, cases, options.folder, options.seeds, changes)
    except PathweaveError as error:
        print(f"pathweave_side.py: {error}", file=sys.stderr)
        return 2
    path = options.folder / "pathweave.json"
    path.write_text(json.dumps(results) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
