#!/usr/bin/env python3
"""Compares XCP, `variant = "ns2"`, with ns-2 2.35 on the dumbbell of this folder.

    .venv/bin/python validation/ns2/compare.py [--keep FOLDER]

Installs ns-2 when it is missing, runs both sides (seconds) and prints what differs by how much.
Exits with 1 when that is more than allowed, with 2 when a side cannot be run.

- Utilisation of the bottleneck and its mean queue (packets waiting, the one in service not
  counted): of the first flow alone from 0.5 to 1 s, and of both from 1.5 to 2 s.
- Time to fair share: from the second flow's start to the first round trip from which both flows
  stay within 10 % of half the link for ten, in bins of one.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import polars as pl

import pathweave
from pathweave.errors import PathweaveError
from pathweave.results.arrivals import whole_intervals
from pathweave.results.units import seconds

HERE = Path(__file__).parent
ROUND_S = 0.006
SECOND_START_S = 1.0
PHASES = {"alone": (0.5, 1.0), "together": (1.5, 2.0)}
LINK_BPS = 1e9
PACKET_BITS = 8 * 1500
BINS = 10
NEAR = 0.1

# Largest differences that count as equal.
UTILISATION = 0.02
QUEUE = 2.0
TIME = 0.3


@dataclass(frozen=True)
class Side:
    """What one simulator measured."""

    utilisation: dict[str, float]
    """By phase, of what the link could carry."""
    queue: dict[str, float]
    """By phase, packets waiting on average."""
    rounds: int | None
    """Round trips to fair share; None when the flows do not come to it."""


def rounds_to_fair_share(shares: list[tuple[float, float]]) -> int | None:
    """Count the bins before the first from which both shares stay near one half.

    `shares` has a pair for each bin after the second flow's start: parts of the link.
    """
    fair = [all(abs(share - 0.5) <= NEAR * 0.5 for share in pair) for pair in shares]
    starts = range(len(fair) - BINS + 1)
    return next((start for start in starts if all(fair[start : start + BINS])), None)


def read_ns2(lines: list[str]) -> Side:
    """What `dumbbell.tcl` printed."""
    port: dict[float, tuple[float, float]] = {}
    acked: list[tuple[float, int, int]] = []
    for words in map(str.split, lines):
        if words[0] == "port":
            port[float(words[1])] = (float(words[2]), float(words[3]))
        else:
            # Before a flow starts, its highest acknowledged packet is number -1.
            acked.append((float(words[0]), int(words[1]), int(words[2])))
    utilisation: dict[str, float] = {}
    queue: dict[str, float] = {}
    for name, (start, end) in PHASES.items():
        both = zip(port[start], port[end], strict=True)
        sent, waited = (after - before for before, after in both)
        utilisation[name] = 8 * sent / LINK_BPS / (end - start)
        queue[name] = waited / (end - start)
    packets = LINK_BPS * ROUND_S / PACKET_BITS
    late = [counts for time, *counts in acked if time > SECOND_START_S - ROUND_S]
    shares = [
        (
            (after[0] - before[0]) / packets,
            (after[1] - before[1]) / packets,
        )
        for before, after in pairwise(late)
    ]
    return Side(utilisation, queue, rounds_to_fair_share(shares))


def read_pathweave(results: pathweave.Results, variant: str) -> Side:
    """What Pathweave measured of one of the scenario's variants."""
    run = results.where(variant=variant)
    links = run.table("phase_links").filter(pl.col("link") == "A->B")
    by_phase = {row["phase"]: row for row in links.iter_rows(named=True)}
    transport = run.stored[0].manifest["resolved"]["traffic"][0]["transport"]
    payload = int(transport["maximum_segment"].removesuffix(" B"))
    full_bps = LINK_BPS * 8 * payload / PACKET_BITS
    bin_s = seconds(run.stored[0].manifest["resolved"]["record"]["rates"])
    rates = (
        whole_intervals(run.table("rates"), bin_s)
        .filter(pl.col("time_s") > SECOND_START_S)
        .pivot(on="flow", index="time_s", values="rate_bps")
        .sort("time_s")
        .fill_null(0.0)
    )
    flows = sorted(name for name in rates.columns if name != "time_s")
    shares = [(first / full_bps, second / full_bps) for first, second in rates.select(flows).rows()]
    return Side(
        {name: float(by_phase[name]["utilisation"]) for name in PHASES},
        {name: float(by_phase[name]["queue_mean"]) for name in PHASES},
        rounds_to_fair_share(shares),
    )


def compare(reference: Side, other: Side, label: str, judged: bool) -> bool:
    """Print the differences; false when one that is judged is too large."""
    fine = True

    def line(quantity: str, left: float, right: float, allowed: float, decimals: int) -> None:
        nonlocal fine
        verdict = ""
        if judged:
            verdict = "ok" if abs(right - left) <= allowed else "DIFFERS"
            fine = fine and verdict == "ok"
        print(
            f"  {quantity:<28}{left:>10.{decimals}f}{right:>12.{decimals}f}"
            f"{right - left:>+12.{decimals}f}{allowed:>10.{decimals}f}  {verdict}".rstrip()
        )

    print(f"{label:<34}ns-2   Pathweave  difference   allowed")
    for name in PHASES:
        left, right = reference.utilisation[name], other.utilisation[name]
        line(f"utilisation {name}, %", 100 * left, 100 * right, 100 * UTILISATION, 2)
    for name in PHASES:
        line(f"queue {name}, packets", reference.queue[name], other.queue[name], QUEUE, 2)
    if reference.rounds is None or other.rounds is None:
        print(f"  no fair share: ns-2 {reference.rounds}, Pathweave {other.rounds} round trips")
        return not judged
    left, right = (1e3 * ROUND_S * rounds for rounds in (reference.rounds, other.rounds))
    line("time to fair share, ms", left, right, TIME * left, 0)
    return fine


def main() -> int:
    """Run both sides and return the exit code."""
    parser = argparse.ArgumentParser(description="Compares XCP with ns-2 2.35.")
    parser.add_argument("--keep", type=Path, help="where Pathweave's results stay")
    options = parser.parse_args()
    try:
        subprocess.run([HERE / "install.sh"], check=True)  # noqa: S603
        command = ["ns", HERE / "dumbbell.tcl"]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout  # noqa: S603
        with tempfile.TemporaryDirectory() as scratch:
            folder = options.keep or Path(scratch)
            results = pathweave.run(HERE / "dumbbell.toml", out=folder, progress=False)
            sides = {name: read_pathweave(results, name) for name in ("ns2", "paper")}
    except (OSError, subprocess.CalledProcessError, PathweaveError) as error:
        print(f"compare.py: {error}", file=sys.stderr)
        return 2
    reference = read_ns2(printed.splitlines())
    fine = compare(reference, sides["ns2"], 'variant = "ns2"', judged=True)
    print()
    compare(reference, sides["paper"], 'variant = "paper", for comparison', judged=False)
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
