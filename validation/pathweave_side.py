"""Runs Pathweave on the cases of `validation/scenarios` and writes what `compare.py` reads.

    pathweave_side.py NS3_RESULTS FOLDER [--seeds N] [--set KEY=VALUE]...

For each case that the folder of ns-3's results holds, runs the scenario of that name, keeps its
results under FOLDER and writes FOLDER/pathweave.json. Results that stand there with the same
settings are not run again. A case `NAME-overshoot` is the size `overshoot` of the scenario NAME.
It needs Pathweave's own environment: `.venv/bin/python validation/pathweave_side.py ...`.
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

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pathweave.results.read import StoredRun

SCENARIOS = Path(__file__).parent / "scenarios"
OVERSHOOT = "overshoot"
BOTTLENECK = "A->B"


def cases_in(folder: Path) -> list[str]:
    """Cases that a folder of ns-3's results holds."""
    results = (json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*.json"))
    return sorted({result["case"] for result in results})


def run_case(
    case: str, folder: Path, seeds: int | None, changes: dict[str, str]
) -> list[dict[str, Any]]:
    """Run a case, and return one object for each seed."""
    name = case.removesuffix(f"-{OVERSHOOT}")
    scenario = SCENARIOS / f"{name}.toml"
    size = None if name == case else OVERSHOOT
    results = pathweave.run(
        scenario, size=size, seeds=seeds, set=changes, out=folder, progress=False
    )
    return [measurement(run) for run in results.stored]


def measurement(run: StoredRun) -> dict[str, Any]:
    """What `compare.py` reads of one run."""
    flows = pl.read_parquet(run.path("flows")).sort("id")
    queue = pl.read_parquet(run.path("links")).row(
        by_predicate=pl.col("link") == BOTTLENECK, named=True
    )
    transport = run.manifest["resolved"]["traffic"][0]["transport"]
    payload_share = in_bytes(transport["maximum_segment"]) / in_bytes(transport["data_packet"])
    ceiling_mbps = 1e-6 * queue["capacity_bps"] * payload_share
    goodput_mbps = [1e-6 * rate for rate in flows["goodput_bps"]]
    return {
        "seed": run.seed,
        "goodput_mbps": goodput_mbps,
        "goodput_share": [rate / ceiling_mbps for rate in goodput_mbps],
        "queue_mean_packets": queue["queue_mean"],
        # From 64 packets on in steps of four: 96 stands for 96 to 99.
        "queue_p99_packets": queue["queue_p99"],
        "series": series(run, flows),
        # Not compared, but telling where something differs; over the whole run.
        "marks_in_run": flows["marks"].to_list(),
        "retransmissions_in_run": flows["retransmits"].to_list(),
        "timeouts_in_run": flows["timeouts"].to_list(),
    }


def in_bytes(size: str) -> int:
    """Read a size as the resolved scenario writes it: "1448 B"."""
    return int(size.removesuffix(" B"))


def series(run: StoredRun, flows: pl.DataFrame) -> dict[str, Any]:
    """The flows' rates in bins from time zero on.

    A bin counts payload when it arrives, ns-3's when it is handed over in order; where nothing is
    lost, as in the cases whose time to fair share is compared, that is the same.
    """
    rates = pl.read_parquet(run.path("rates"))
    bin_ends = rates["time_s"].unique().sort()
    last_bin = len(bin_ends)
    bin_s = float(bin_ends[-1]) / last_bin
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
        "--set", action="append", default=[], metavar="KEY=VALUE", help="a change to the scenarios"
    )
    options = parser.parse_args(arguments)
    cases = cases_in(options.ns3_results)
    if not cases:
        print(f"pathweave_side.py: no results in {options.ns3_results}", file=sys.stderr)
        return 2
    try:
        changes = dict(change.split("=", 1) for change in options.set)
        results = {case: run_case(case, options.folder, options.seeds, changes) for case in cases}
    except PathweaveError as error:
        print(f"pathweave_side.py: {error}", file=sys.stderr)
        return 2
    path = options.folder / "pathweave.json"
    path.write_text(json.dumps(results) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
