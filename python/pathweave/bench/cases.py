"""The bench cases and what is measured of each."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from pathweave.bench import native
from pathweave.errors import InputError, PathweaveError
from pathweave.results.units import scale

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

CASES = (
    "permutation-dctcp",
    "permutation-lia4",
    "permutation-xmp4",
    "k16-xmp4",
    "linux-dctcp",
    "linux-xmp4",
    "k10-ecmp",
    "k10-fmp",
)
"""Files under benches/, without suffix."""
UNTIL = "20 ms"
COUNT_UNTIL_MS = 10.0
"""Simulated milliseconds of the shorter run whose instructions are counted; the other has twice."""
REPEATS = 3
_TIME = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?(us|ms|s)")


@dataclass(frozen=True)
class Result:
    """One case; instructions are None where valgrind is not there."""

    case: str
    packet_hops: int
    packet_hops_per_cpu_s: float
    instructions_per_packet_hop: float | None
    peak_rss_mb: float
    goodput_share: float
    results_hash: str


def run_cases(
    tree: Path,
    until: str,
    *,
    count: bool,
    said: Callable[[str], None],
) -> Iterator[Result]:
    """Measure each case: the fastest of three runs, and instructions when `count` is set.

    `until` is the simulated time ("20 ms"); `said` hears what is being done.
    """
    simulated_ns(until)
    missing = [case for case in CASES if not case_file(tree, case).is_file()]
    if missing:
        raise InputError(f"there is no {case_file(tree, missing[0])}")
    said(f"building {native.BINARY}")
    binary = native.build(tree)
    for case in CASES:
        said(f"{case}: {until} of simulated time, {REPEATS} times")
        runs = [native.measure(binary, case_file(tree, case), until) for _ in range(REPEATS)]
        if len({run.results_hash for run in runs}) > 1:
            raise PathweaveError(f"{case}: runs with the same seed differ in their results")
        best = min(runs, key=lambda run: run.cpu_s)
        per_hop = None
        if count:
            said(f"{case}: counting instructions")
            per_hop = instructions_per_hop(binary, case_file(tree, case))
        yield Result(
            case=case,
            packet_hops=best.packet_hops,
            packet_hops_per_cpu_s=best.packet_hops / best.cpu_s if best.cpu_s > 0 else 0.0,
            instructions_per_packet_hop=per_hop,
            peak_rss_mb=max(run.peak_rss_mb for run in runs),
            goodput_share=best.goodput_share,
            results_hash=best.results_hash,
        )


def simulated_ns(until: str) -> int:
    """A simulated time ("20 ms") in nanoseconds. Raises `InputError` if it is none, or 0."""
    found = _TIME.fullmatch(until)
    nanoseconds = round(float(found[1]) * scale(found[2]) * 1e9) if found else 0
    if found is None:
        raise InputError(f'"{until}" is not a time; write "20 ms"')
    if nanoseconds == 0:
        raise InputError(f'the simulated time must be above 0, got "{until}"; write "20 ms"')
    return nanoseconds


def instructions_per_hop(binary: Path, scenario: Path) -> float:
    """(I(2T) - I(T)) / (hops(2T) - hops(T)): start-up cancels out."""
    short, short_hops = native.instructions(binary, scenario, f"{COUNT_UNTIL_MS:g} ms")
    double, double_hops = native.instructions(binary, scenario, f"{2 * COUNT_UNTIL_MS:g} ms")
    if double_hops <= short_hops:
        raise PathweaveError(f"{scenario.name}: the longer run has no more packet-hops")
    return (double - short) / (double_hops - short_hops)


def to_json(results: list[Result]) -> dict[str, dict[str, Any]]:
    """Results by case, as `pathweave bench --json` writes them."""
    found: dict[str, dict[str, Any]] = {}
    for result in results:
        entry = asdict(result)
        found[entry.pop("case")] = entry
    return found


def case_file(tree: Path, case: str) -> Path:
    """The scenario of a case."""
    return tree / "benches" / f"{case}.toml"
