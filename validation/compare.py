#!/usr/bin/env python3
"""Compares Pathweave with ns-3 on the cases of `validation/ns3`.

    compare.py NS3_RESULTS PATHWEAVE_JSON [--ablation NAME NS3_RESULTS PATHWEAVE_JSON]...

NS3_RESULTS is the folder that `make -C validation/ns3 results` fills: one file for each case
and seed or phase. PATHWEAVE_JSON maps each case to a list with what Pathweave measured in each
of its runs:

    {"dctcp-together-k20-ack2": [{
        "goodput_mbps": [482.0, 482.1],     # one number a flow, over the measurement window
        "goodput_share": [0.4995, 0.4996],  # the same, over payload / wire size x link rate
        "smoothed_rtt_us": [475.1, 474.9],  # one number a flow, mean over the window's time
        "marks": 17600,                     # data packets marked in the window, at all ports
        "ports": {"A->B": {                 # by link
            "queue_mean_packets": 18.7,     # packets waiting, not the one in service, over time
            "queue_p99_packets": 23}},      # packets waiting as arriving packets find them
        "series": {                         # goodput in bins, from time zero on
            "bin_s": 0.001, "goodput_mbps": [[...], [...]], "last_start_s": 2.0}}]}

Goodput is compared as a share of what the wire can carry. Flows of a dumbbell that start together
are compared from the smallest to the largest value of each run: nothing but an order of
simultaneous events, which is each simulator's own, tells them apart. Queues are compared at every
port where at least one packet waits on average. Of more than two flows or ports the table shows
those that differ, or else the one that is closest to the limit.

An ablation is the same cases again with one or more mechanisms off, or with the other's rule, on
one side or on both. A line that differs is explained by an ablation when the same line of the
ablated runs is within the same tolerance; that line is printed below it. What no ablation explains
differs. Exits with 1 when a line differs or a case is missing on one side, with 2 when there is
nothing to compare.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import statistics
import sys
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# Three standard deviations of the difference of two means, in standard errors of one of them.
SCATTER_FACTOR = 3 * math.sqrt(2)


@dataclass(frozen=True)
class FairShareRule:
    """When the flows count as sharing fairly; times in seconds."""

    smoothing: float = 0.010
    """Length of the sliding window over which rates are averaged."""
    tolerance: float = 0.30
    """Largest distance of every flow's rate from the fair share, as a part of the latter.

    DCTCP's flows keep wandering by some 20 % around their fair share. A tolerance inside of that
    measures when they wander least, which differs manifold from seed to seed.
    """
    hold: float = 0.100
    """How long the rates must stay within the tolerance."""


@dataclass(frozen=True)
class Tolerances:
    """Largest accepted differences, relative to ns-3 unless a unit is named."""

    goodput: float = 0.02
    queue: float = 0.05
    queue_packets: float = 0.5
    rtt: float = 0.03
    marks: float = 0.05
    time: float = 0.30


@dataclass(frozen=True)
class Queue:
    """Waiting packets at one port."""

    mean: float
    p99: float


@dataclass(frozen=True)
class Measurement:
    """One run of one case."""

    goodput_share: list[float]
    smoothed_rtt_us: list[float]
    marks: float
    ports: dict[str, Queue]
    time_to_fair_share: float | None


@dataclass(frozen=True)
class Row:
    """One line of the table; without an allowed difference it informs only."""

    quantity: str
    reference: float | None
    pathweave: float | None
    allowed: float | None
    decimals: int
    by_scatter: bool = False
    """Whether `allowed` is how much the runs of ns-3 scatter, which is more than the tolerance."""
    is_explained: bool = False
    """Whether an ablation explains the difference."""

    @property
    def difference(self) -> float | None:
        """Pathweave less ns-3; None when either has no value."""
        if self.reference is None or self.pathweave is None:
            return None
        return self.pathweave - self.reference

    @property
    def verdict(self) -> str:
        """Whether the difference is allowed; empty when it is not judged."""
        if self.allowed is None:
            return ""
        if self.difference is None or abs(self.difference) > self.allowed:
            return "explained" if self.is_explained else "DIFFERS"
        return "ok (scatter)" if self.by_scatter else "ok"

    @property
    def closeness(self) -> float:
        """How much of what is allowed the difference takes."""
        if self.difference is None or not self.allowed:
            return math.inf
        return abs(self.difference) / self.allowed


def time_to_fair_share(
    bin_times: Sequence[float],
    rates: Sequence[Sequence[float]],
    fair_share: float,
    last_start: float,
    rule: FairShareRule,
) -> float | None:
    """Measure the seconds from `last_start` until every flow has, and keeps, its fair share.

    `bin_times` holds the beginnings of equally long bins, in seconds, and `rates` one sequence
    for each flow with its rate in these bins, in the unit of `fair_share`. The time counts to the
    beginning of the first stretch of `rule.hold` seconds in which no window of `rule.smoothing`
    seconds has a flow whose mean rate is outside the tolerance. None when there is none.
    """
    if len(bin_times) < 2:
        return None
    bin_length = (bin_times[-1] - bin_times[0]) / (len(bin_times) - 1)
    window_bins = max(1, round(rule.smoothing / bin_length))
    # This many windows, each one bin after the other, cover a stretch as long as `hold`.
    windows_to_hold = max(1, round(rule.hold / bin_length) - window_bins + 1)

    window_is_fair = [True] * max(0, len(bin_times) - window_bins + 1)
    for flow_rates in rates:
        sums = [0.0, *accumulate(flow_rates)]
        for first in range(len(window_is_fair)):
            mean = (sums[first + window_bins] - sums[first]) / window_bins
            if abs(mean - fair_share) > rule.tolerance * fair_share:
                window_is_fair[first] = False

    fair_in_a_row = 0
    for first, is_fair in enumerate(window_is_fair):
        # The bin in which the last flow starts is the first that counts.
        counts = bin_times[first] + bin_length > last_start
        fair_in_a_row = fair_in_a_row + 1 if is_fair and counts else 0
        if fair_in_a_row == windows_to_hold:
            beginning = bin_times[first - windows_to_hold + 1]
            return max(0.0, beginning - last_start)
    return None


def time_from_series(
    series: dict[str, Any], ceiling_mbps: float, last_start: float, rule: FairShareRule
) -> float | None:
    """Find the time to fair share in goodput that is given in bins."""
    rates: list[list[float]] = series["goodput_mbps"]
    bin_times = [index * series["bin_s"] for index in range(len(rates[0]))]
    return time_to_fair_share(bin_times, rates, ceiling_mbps / len(rates), last_start, rule)


def read_reference(result: dict[str, Any], rule: FairShareRule) -> Measurement:
    """Take what is compared from one result of ns-3."""
    flows = result["flows"]
    return Measurement(
        goodput_share=[flow["goodput_share"] for flow in flows],
        smoothed_rtt_us=[flow["smoothed_rtt_us"] for flow in flows],
        marks=sum(flow["marks"] for flow in flows),
        ports={
            name: Queue(
                port["packets"]["waiting"]["mean"],
                port["packets"]["waiting_seen_by_arrivals"]["p99"],
            )
            for name, port in result["ports"].items()
        },
        time_to_fair_share=time_from_series(
            result["series"],
            result["wire_ceiling_mbps"],
            max(flow["start_s"] for flow in flows),
            rule,
        ),
    )


def flows_start_apart(result: dict[str, Any], rule: FairShareRule) -> bool:
    """Tell whether a flow meets one that is under way.

    Only then is there a time to fair share that tells of convergence: flows that start together
    share fairly at once, or wander by chance.
    """
    starts = [flow["start_s"] for flow in result["flows"]]
    return max(starts) - min(starts) > rule.smoothing


def flows_are_alike(result: dict[str, Any], rule: FairShareRule) -> bool:
    """Tell whether nothing but chance distinguishes the flows of a case."""
    is_dumbbell = result["settings"]["network"] == "dumbbell"
    return is_dumbbell and not flows_start_apart(result, rule)


def read_pathweave(result: dict[str, Any], rule: FairShareRule) -> Measurement:
    """Take what is compared from one object in Pathweave's file."""
    series = result["series"]
    ceiling = sum(result["goodput_mbps"]) / sum(result["goodput_share"])
    return Measurement(
        goodput_share=result["goodput_share"],
        smoothed_rtt_us=result["smoothed_rtt_us"],
        marks=result["marks"],
        ports={
            name: Queue(port["queue_mean_packets"], port["queue_p99_packets"])
            for name, port in result["ports"].items()
        },
        time_to_fair_share=time_from_series(series, ceiling, series["last_start_s"], rule),
    )


def mean_time(runs: Sequence[Measurement]) -> float | None:
    """Average the time to fair share; None unless every run reaches it."""
    times = [run.time_to_fair_share for run in runs if run.time_to_fair_share is not None]
    return statistics.fmean(times) if len(times) == len(runs) else None


def scatter(values: Sequence[float]) -> float:
    """Tell how far the means of two such samples may lie apart by chance."""
    if len(values) < 2:
        return 0.0
    return SCATTER_FACTOR * statistics.stdev(values) / math.sqrt(len(values))


@dataclass(frozen=True)
class Comparison:
    """The runs of one case on both sides."""

    reference: Sequence[Measurement]
    pathweave: Sequence[Measurement]
    tolerances: Tolerances
    alike: bool
    """Whether nothing but chance distinguishes the flows."""
    starts_apart: bool
    """Whether a flow meets one that is under way."""

    def rows(self) -> list[Row]:
        """All lines of the case's table."""
        rows = [self.total_goodput(), *summarise(self.goodput()), *summarise(self.smoothed_rtt())]
        rows += summarise(self.queue_means(self.busy_ports()))
        rows += self.queue_p99s()
        rows += self.marks()
        if self.starts_apart:
            rows.append(self.time_to_fair_share())
        return rows

    def row_like(self, row: Row) -> Row | None:
        """Find the line of the same quantity, also where the table would not show it."""
        rows = [self.total_goodput(), *self.goodput(), *self.smoothed_rtt(), *self.marks()]
        rows += self.queue_means(self.all_ports())
        if self.starts_apart:
            rows.append(self.time_to_fair_share())
        return next((other for other in rows if other.quantity == row.quantity), None)

    def total_goodput(self) -> Row:
        """The goodput of all flows together."""
        total = statistics.fmean(sum(run.goodput_share) for run in self.reference)
        return Row(
            "goodput of all, % of wire",
            100 * total,
            100 * statistics.fmean(sum(run.goodput_share) for run in self.pathweave),
            100 * self.tolerances.goodput * total,
            2,
        )

    def by_flow(
        self, runs: Sequence[Measurement], values: Callable[[Measurement], list[float]]
    ) -> list[list[float]]:
        """Take a value of each flow, or of each rank among flows that are alike, from all runs."""
        of_runs = [sorted(values(run)) if self.alike else values(run) for run in runs]
        return [list(of_flow) for of_flow in zip(*of_runs, strict=True)]

    def flow_name(self, quantity: str, flow: int, unit: str) -> str:
        """Name a flow's value in the table."""
        if len(self.reference[0].goodput_share) == 1:
            return f"{quantity}, {unit}"
        if self.alike:
            return f"{quantity}, {flow + 1} from below, {unit}"
        return f"{quantity} of flow {flow + 1}, {unit}"

    def goodput(self) -> list[Row]:
        """The goodput of each flow; of a single one it is that of all."""
        reference = self.by_flow(self.reference, lambda run: run.goodput_share)
        pathweave = self.by_flow(self.pathweave, lambda run: run.goodput_share)
        if len(reference) == 1:
            return []
        rows: list[Row] = []
        for flow, (shares, other_shares) in enumerate(zip(reference, pathweave, strict=True)):
            mean = statistics.fmean(shares)
            # Where losses decide, one flow's goodput scatters more between seeds than two
            # simulators may differ.
            limit = self.tolerances.goodput * mean
            by_chance = scatter(shares)
            rows.append(
                Row(
                    self.flow_name("goodput", flow, "%"),
                    100 * mean,
                    100 * statistics.fmean(other_shares),
                    100 * max(limit, by_chance),
                    2,
                    by_scatter=by_chance > limit,
                )
            )
        return rows

    def smoothed_rtt(self) -> list[Row]:
        """The mean of each sender's smoothed round-trip time."""
        reference = self.by_flow(self.reference, lambda run: run.smoothed_rtt_us)
        pathweave = self.by_flow(self.pathweave, lambda run: run.smoothed_rtt_us)
        rows: list[Row] = []
        for flow, (times, other_times) in enumerate(zip(reference, pathweave, strict=True)):
            mean = statistics.fmean(times)
            rows.append(
                Row(
                    self.flow_name("smoothed RTT", flow, "us"),
                    mean,
                    statistics.fmean(other_times),
                    self.tolerances.rtt * mean,
                    1,
                )
            )
        return rows

    def all_ports(self) -> list[str]:
        """The ports that either side knows."""
        runs = (*self.reference, *self.pathweave)
        return list({name: None for run in runs for name in run.ports})

    def busy_ports(self) -> list[str]:
        """The ports where at least one packet waits on average, on either side."""
        return [
            name
            for name in self.all_ports()
            if max(mean_queue(self.reference, name), mean_queue(self.pathweave, name)) >= 1
        ]

    def queue_means(self, ports: Sequence[str]) -> list[Row]:
        """The mean queue at each of these ports."""
        rows: list[Row] = []
        for port in ports:
            mean = mean_queue(self.reference, port)
            limit = max(self.tolerances.queue * mean, self.tolerances.queue_packets)
            other = mean_queue(self.pathweave, port)
            rows.append(Row(f"queue {port}, packets", mean, other, limit, 2))
        return rows

    def queue_p99s(self) -> list[Row]:
        """The 99th percentile of the queue where few ports are busy, for information."""
        ports = self.busy_ports()
        if len(ports) > 2:
            return []
        return [
            Row(
                f"queue {port}, p99",
                statistics.fmean(run.ports[port].p99 for run in self.reference),
                statistics.fmean(run.ports[port].p99 for run in self.pathweave),
                None,
                1,
            )
            for port in ports
        ]

    def marks(self) -> list[Row]:
        """The number of marked packets, where ns-3 marks any."""
        mean = statistics.fmean(run.marks for run in self.reference)
        if mean == 0:
            return []
        other = statistics.fmean(run.marks for run in self.pathweave)
        return [Row("marks", mean, other, self.tolerances.marks * mean, 0)]

    def time_to_fair_share(self) -> Row:
        """The time to fair share; it differs when one side does not always get there."""
        time = mean_time(self.reference)
        other = mean_time(self.pathweave)
        return Row(
            "time to fair share, ms",
            None if time is None else 1e3 * time,
            None if other is None else 1e3 * other,
            0.0 if time is None else 1e3 * self.tolerances.time * time,
            1,
        )


def mean_queue(runs: Sequence[Measurement], port: str) -> float:
    """Average the mean queue at a port; a port that a run does not know has none."""
    return statistics.fmean(run.ports[port].mean if port in run.ports else 0.0 for run in runs)


def summarise(rows: list[Row]) -> list[Row]:
    """Of more than two rows keep those that differ, or else the one closest to its limit."""
    if len(rows) <= 2:
        return rows
    differing = [row for row in rows if row.verdict == "DIFFERS"]
    if differing:
        return differing
    worst = max(rows, key=lambda row: row.closeness)
    return [replace(worst, quantity=f"{worst.quantity} (worst of {len(rows)})")]


def format_number(value: float | None, decimals: int, sign: str = "") -> str:
    """Format a value, or a dash when there is none."""
    return "-" if value is None else f"{value:{sign}.{decimals}f}"


def format_row(row: Row) -> str:
    """Format one line of the table."""
    return (
        f"  {row.quantity:<44}"
        f"{format_number(row.reference, row.decimals):>10}"
        f"{format_number(row.pathweave, row.decimals):>11}"
        f"{format_number(row.difference, row.decimals, '+'):>12}"
        f"{format_number(row.allowed, row.decimals):>9}"
        f"  {row.verdict}"
    ).rstrip()


@dataclass(frozen=True)
class Results:
    """What both sides measured, by case."""

    name: str
    """The ablation; empty for the simulators as they are."""
    reference: dict[str, list[dict[str, Any]]]
    pathweave: dict[str, list[dict[str, Any]]]

    def has(self, case: str) -> bool:
        """Tell whether both sides have run a case."""
        return case in self.reference and case in self.pathweave

    def comparison(self, case: str, rule: FairShareRule, tolerances: Tolerances) -> Comparison:
        """Take what is compared of a case."""
        results = self.reference[case]
        return Comparison(
            [read_reference(result, rule) for result in results],
            [read_pathweave(result, rule) for result in self.pathweave[case]],
            tolerances,
            flows_are_alike(results[0], rule),
            flows_start_apart(results[0], rule),
        )


def explain(row: Row, ablations: Sequence[tuple[str, Comparison]]) -> list[Row]:
    """Return a line that differs and, below it, the same line of the ablation that explains it."""
    for name, comparison in ablations:
        ablated = comparison.row_like(row)
        if ablated is not None and ablated.verdict.startswith("ok"):
            return [replace(row, is_explained=True), replace(ablated, quantity=f"  with {name}")]
    return [row]


def compare_case(
    results: Results,
    ablations: Sequence[Results],
    case: str,
    rule: FairShareRule,
    tolerances: Tolerances,
) -> list[Row]:
    """All lines of a case's table, with those of ablations that explain differences."""
    ablated = [
        (ablation.name, ablation.comparison(case, rule, tolerances))
        for ablation in ablations
        if ablation.has(case)
    ]
    rows: list[Row] = []
    for row in results.comparison(case, rule, tolerances).rows():
        rows += explain(row, ablated) if row.verdict == "DIFFERS" else [row]
    return rows


def natural_order(path: Path) -> list[tuple[int, str]]:
    """Put k5 before k10."""
    parts = re.split(r"(\d+)", path.stem)
    return [(int(part), "") if part.isdigit() else (0, part) for part in parts]


def load_reference(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """Read the results of ns-3 by case."""
    cases: dict[str, list[dict[str, Any]]] = {}
    for path in sorted(folder.glob("*.json"), key=natural_order):
        result = json.loads(path.read_text(encoding="utf-8"))
        cases.setdefault(result["case"], []).append(result)
    return cases


def load_pathweave(path: Path) -> dict[str, list[dict[str, Any]]]:
    """Read Pathweave's results by case."""
    cases: dict[str, list[dict[str, Any]]] = json.loads(path.read_text(encoding="utf-8"))
    return cases


def load(name: str, ns3_results: Path, pathweave_json: Path) -> Results:
    """Read the results of both sides."""
    return Results(name, load_reference(ns3_results), load_pathweave(pathweave_json))


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description="Compares Pathweave with ns-3; the format is described in this file."
    )
    parser.add_argument("ns3_results", type=Path, help="folder of ns-3 results")
    parser.add_argument("pathweave_json", type=Path, help="Pathweave's results")
    parser.add_argument(
        "--ablation",
        nargs=3,
        action="append",
        default=[],
        metavar=("NAME", "NS3_RESULTS", "PATHWEAVE_JSON"),
        help="the same cases with something switched off or changed",
    )
    rule = FairShareRule()
    limits = Tolerances()
    for option, default, unit, meaning in (
        ("--smoothing", rule.smoothing, "SECONDS", "window that rates are averaged over"),
        ("--fair-tolerance", rule.tolerance, "PART", "distance from the fair share, of it"),
        ("--hold", rule.hold, "SECONDS", "how long the fair share must be kept"),
        ("--goodput-tolerance", limits.goodput, "PART", "difference of goodput, of ns-3's"),
        ("--queue-tolerance", limits.queue, "PART", "difference of the mean queue, of ns-3's"),
        ("--queue-packets", limits.queue_packets, "PACKETS", "the same, accepted in any case"),
        ("--rtt-tolerance", limits.rtt, "PART", "difference of smoothed RTTs, of ns-3's"),
        ("--marks-tolerance", limits.marks, "PART", "difference of marks, of ns-3's"),
        ("--time-tolerance", limits.time, "PART", "difference of time to fair share, of ns-3's"),
    ):
        parser.add_argument(
            option, type=float, default=default, metavar=unit, help=f"{meaning} (default {default})"
        )
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the comparison and return the exit code."""
    options = parse_arguments(arguments)
    rule = FairShareRule(options.smoothing, options.fair_tolerance, options.hold)
    tolerances = Tolerances(
        options.goodput_tolerance,
        options.queue_tolerance,
        options.queue_packets,
        options.rtt_tolerance,
        options.marks_tolerance,
        options.time_tolerance,
    )
    try:
        results = load("", options.ns3_results, options.pathweave_json)
        ablations = [
            load(name, Path(folder), Path(path)) for name, folder, path in options.ablation
        ]
    except (OSError, json.JSONDecodeError) as error:
        print(f"compare.py: {error}", file=sys.stderr)
        return 2

    shared = [case for case in results.reference if case in results.pathweave]
    if not shared:
        print("compare.py: no case is in both results", file=sys.stderr)
        return 2

    print(
        f"{'':<46}{'ns-3':>10}{'Pathweave':>11}{'difference':>12}{'allowed':>9}",
    )
    differs = False
    for case in shared:
        try:
            rows = compare_case(results, ablations, case, rule, tolerances)
        except KeyError as error:
            print(f"compare.py: {case}: {error} is missing", file=sys.stderr)
            return 2
        runs = len(results.reference[case]), len(results.pathweave[case])
        print(f"{case} ({runs[0]} and {runs[1]} runs)")
        for row in rows:
            print(format_row(row))
            differs = differs or row.verdict == "DIFFERS"
    for case in sorted(set(results.reference) ^ set(results.pathweave)):
        side = "ns-3" if case in results.reference else "Pathweave"
        print(f"{case}: only in the results of {side}  DIFFERS")
        differs = True
    return 1 if differs else 0


if __name__ == "__main__":
    sys.exit(main())
