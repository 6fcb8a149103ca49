"""400 short runs by `--jobs 2` and by `--dask local --jobs 2`, in turn: how long each takes.

    .venv/bin/python benches/many_runs.py --rounds 7

Starting Python and the workers counts, and so does ending them. What is said is the median of the
rounds, for other work on the machine makes single ones slow.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SCENARIO = Path(__file__).with_name("short-runs.toml")
WAYS = {"--jobs 2": ["--jobs", "2"], "--dask local --jobs 2": ["--dask", "local", "--jobs", "2"]}


def seconds(options: list[str]) -> float:
    """Wall time of one command with these options, whose results are thrown away."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pathweave", "run", str(SCENARIO), "--out", folder]
        began = time.monotonic()
        subprocess.run([*command, *options, "--json"], check=True, capture_output=True)  # noqa: S603
        return time.monotonic() - began


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    rounds: int = parser.parse_args().rounds
    times: dict[str, list[float]] = {way: [] for way in WAYS}
    for _ in range(rounds):
        for way, options in WAYS.items():
            times[way].append(seconds(options))
    for way, taken in times.items():
        each = " ".join(f"{value:.1f}" for value in taken)
        print(f"{way}: {statistics.median(taken):.2f} s (of {each})")
    here, there = (statistics.median(times[way]) for way in WAYS)
    print(f"{there / here:.2f} times as long")


if __name__ == "__main__":
    main()
