#!/usr/bin/env python3
"""Compares Pathweave with ns-3 on the cases of `validation/ns3`.

    compare.py NS3_RESULTS PATHWEAVE_JSON

NS3_RESULTS is the folder that `make -C validation/ns3 results` fills: one file for each case
and seed. PATHWEAVE_JSON maps each case to what Pathweave measured, either one object or a list
with one object for each seed:

    {"dctcp-together": {
        "goodput_mbps": [482.0, 482.1],     # one number a flow, over the measurement window
        "goodput_share": [0.4995, 0.4996],  # the same, over payload / wire size x link rate
        "queue_mean_packets": 18.7,         # packets waiting, not the one in service, over time
        "queue_p99_packets": 23,            # packets waiting as arriving packets find them
        "time_to_fair_share_s": 0.004}}     # null when it is never reached

Instead of `time_to_fair_share_s` an object may give the goodput in bins, from time zero on, and
when the last flow started; the time is then found by the same function as for ns-3:

        "series": {"bin_s": 0.001, "goodput_mbps": [[...], [...]], "last_start_s": 2.0}

Goodput is compared as a share of what the wire can carry, because the simulators' packets differ
by the link header. Flows that start together are compared from the slowest to the fastest of each
run, so that such cases need an object for each seed. Exits with 1 when a difference is larger
than allowed, with 2 when there is nothing to compare.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    queue: float = 0.10
    queue_packets: float = 1.0
    time: float = 0.50


@dataclass(frozen=True)
class Measurement:
    """One run of one case."""

    goodput_share: list[float]
    queue_mean: float
    queue_p99: float
    time_to_fair_share: float | None


@dataclass(frozen=True)
class Row:
    """One line of the table; without an allowed difference it informs only."""

    quantity: str
    reference: float | None
    pathweave: float | None
    allowed: float | None
    decimals: int

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
        if self.difference is None:
            return "DIFFERS"
        return "ok" if abs(self.difference) <= self.allowed else "DIFFERS"


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
    # So many windows, each one bin after the other, cover a stretch as long as `hold`.
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
    packets = result["ports"]["bottleneck"]["packets"]
    return Measurement(
        goodput_share=[flow["goodput_share"] for flow in flows],
        queue_mean=packets["waiting"]["mean"],
        queue_p99=packets["waiting_seen_by_arrivals"]["p99"],
        time_to_fair_share=time_from_series(
            result["series"],
            result["wire_ceiling_mbps"],
            max(flow["start_s"] for flow in flows),
            rule,
        ),
    )


def flows_start_apart(result: dict[str, Any], rule: FairShareRule) -> bool:
    """Tell whether a flow meets one that is under way.

    Only then is the time to fair share one of convergence: flows that start together share fairly
    at once, or wander by chance.
    """
    starts = [flow["start_s"] for flow in result["flows"]]
    return max(starts) - min(starts) > rule.smoothing


def read_pathweave(result: dict[str, Any], rule: FairShareRule) -> Measurement:
    """Take what is compared from one object in Pathweave's file."""
    if "series" in result:
        series = result["series"]
        ceiling = sum(result["goodput_mbps"]) / sum(result["goodput_share"])
        time = time_from_series(series, ceiling, series["last_start_s"], rule)
    else:
        time = result["time_to_fair_share_s"]
    return Measurement(
        goodput_share=result["goodput_share"],
        queue_mean=result["queue_mean_packets"],
        queue_p99=result["queue_p99_packets"],
        time_to_fair_share=time,
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


def compare_case(
    reference: Sequence[Measurement],
    pathweave: Sequence[Measurement],
    tolerances: Tolerances,
    starts_apart: bool,
) -> list[Row]:
    """Compare the runs of one case on both sides."""
    flows = len(reference[0].goodput_share)
    if starts_apart:
        names = [f"goodput of flow {flow + 1}, %" for flow in range(flows)]
        reference_shares = [run.goodput_share for run in reference]
        pathweave_shares = [run.goodput_share for run in pathweave]
    else:
        # Nothing but an order of simultaneous events, which is each simulator's own, tells such
        # flows apart. Ranks compare, numbers do not.
        names = [f"goodput, {rank + 1} from below, %" for rank in range(flows)]
        reference_shares = [sorted(run.goodput_share) for run in reference]
        pathweave_shares = [sorted(run.goodput_share) for run in pathweave]

    total = statistics.fmean(sum(run.goodput_share) for run in reference)
    rows = [
        Row(
            "goodput of all, % of wire",
            100 * total,
            100 * statistics.fmean(sum(run.goodput_share) for run in pathweave),
            100 * tolerances.goodput * total,
            2,
        )
    ]
    for flow, name in enumerate(names):
        shares = [run_shares[flow] for run_shares in reference_shares]
        mean = statistics.fmean(shares)
        # Where losses decide, one flow's goodput scatters more between seeds than two
        # simulators may differ.
        allowed = max(tolerances.goodput * mean, scatter(shares))
        rows.append(
            Row(
                name,
                100 * mean,
                100 * statistics.fmean(run_shares[flow] for run_shares in pathweave_shares),
                100 * allowed,
                2,
            )
        )
    queue_mean = statistics.fmean(run.queue_mean for run in reference)
    rows.append(
        Row(
            "queue mean, packets",
            queue_mean,
            statistics.fmean(run.queue_mean for run in pathweave),
            max(tolerances.queue * queue_mean, tolerances.queue_packets),
            2,
        )
    )
    rows.append(
        Row(
            "queue p99, packets",
            statistics.fmean(run.queue_p99 for run in reference),
            statistics.fmean(run.queue_p99 for run in pathweave),
            None,
            1,
        )
    )
    time = mean_time(reference)
    other_time = mean_time(pathweave)
    rows.append(
        Row(
            "time to fair share, ms",
            None if time is None else 1e3 * time,
            None if other_time is None else 1e3 * other_time,
            # Where ns-3 does not always get to the fair share, no time is there to compare with.
            None if time is None or not starts_apart else 1e3 * tolerances.time * time,
            1,
        )
    )
    return rows


def format_number(value: float | None, decimals: int, sign: str = "") -> str:
    """Format a value, or a dash when there is none."""
    return "-" if value is None else f"{value:{sign}.{decimals}f}"


def format_row(row: Row) -> str:
    """Format one line of the table."""
    return (
        f"  {row.quantity:<26}"
        f"{format_number(row.reference, row.decimals):>10}"
        f"{format_number(row.pathweave, row.decimals):>11}"
        f"{format_number(row.difference, row.decimals, '+'):>12}"
        f"{format_number(row.allowed, row.decimals):>9}"
        f"  {row.verdict}"
    ).rstrip()


def load_reference(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """Read the results of ns-3 by case."""
    cases: dict[str, list[dict[str, Any]]] = {}
    for path in sorted(folder.glob("*.json")):
        result = json.loads(path.read_text(encoding="utf-8"))
        cases.setdefault(result["case"], []).append(result)
    return cases


def load_pathweave(path: Path) -> dict[str, list[dict[str, Any]]]:
    """Read Pathweave's results by case."""
    cases = json.loads(path.read_text(encoding="utf-8"))
    return {case: runs if isinstance(runs, list) else [runs] for case, runs in cases.items()}


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description="Compares Pathweave with ns-3; the format is described in this file."
    )
    parser.add_argument("ns3_results", type=Path, help="folder of ns-3 results")
    parser.add_argument("pathweave_json", type=Path, help="Pathweave's results")
    rule = FairShareRule()
    limits = Tolerances()
    for option, default, unit, meaning in (
        ("--smoothing", rule.smoothing, "SECONDS", "window that rates are averaged over"),
        ("--fair-tolerance", rule.tolerance, "PART", "distance from the fair share, of it"),
        ("--hold", rule.hold, "SECONDS", "how long the fair share must be kept"),
        ("--goodput-tolerance", limits.goodput, "PART", "difference of goodput, of ns-3's"),
        ("--queue-tolerance", limits.queue, "PART", "difference of the mean queue, of ns-3's"),
        ("--queue-packets", limits.queue_packets, "PACKETS", "the same, accepted in any case"),
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
        options.time_tolerance,
    )
    try:
        reference_cases = load_reference(options.ns3_results)
        pathweave_cases = load_pathweave(options.pathweave_json)
    except (OSError, json.JSONDecodeError) as error:
        print(f"compare.py: {error}", file=sys.stderr)
        return 2

    shared = [case for case in reference_cases if case in pathweave_cases]
    if not shared:
        print("compare.py: no case is in both results", file=sys.stderr)
        return 2

    print(
        f"{'':<28}{'ns-3':>10}{'Pathweave':>11}{'difference':>12}{'allowed':>9}",
    )
    differs = False
    for case in shared:
        results = reference_cases[case]
        try:
            rows = compare_case(
                [read_reference(result, rule) for result in results],
                [read_pathweave(result, rule) for result in pathweave_cases[case]],
                tolerances,
                flows_start_apart(results[0], rule),
            )
        except KeyError as error:
            print(f"compare.py: {case}: {error} is missing", file=sys.stderr)
            return 2
        print(f"{case} ({len(results)} and {len(pathweave_cases[case])} runs)")
        for row in rows:
            print(format_row(row))
            differs = differs or row.verdict == "DIFFERS"
    for case in sorted(set(reference_cases) ^ set(pathweave_cases)):
        side = "ns-3" if case in reference_cases else "Pathweave"
        print(f"{case}: only in the results of {side}")
    return 1 if differs else 0


if __name__ == "__main__":
    sys.exit(main())
