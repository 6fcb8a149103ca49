"""Tries all of it, several attempts at a time, and prints how many ended how."""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from abuse.attempt import Ended, tried
from abuse.kinds import everything, table


def main() -> int:
    """Make the attempts; 1 if one has failed."""
    parser = argparse.ArgumentParser(prog="python -m abuse", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1, help="attempts at a time")
    parser.add_argument("--only", default="", help="a part of the kind or the name")
    wanted = parser.parse_args()
    chosen = [
        number
        for number, each in enumerate(everything(wanted.seed))
        if wanted.only in f"{each.kind}: {each.name}"
    ]
    ended: list[Ended] = []
    with ProcessPoolExecutor(wanted.jobs) as pool:
        for each in pool.map(partial(_tried, wanted.seed), chosen):
            ended.append(each)
            if each.why:
                sys.stdout.write(f"{each.kind}: {each.name}: {each.why}\n")
                sys.stdout.flush()
    sys.stdout.write(table(ended))
    return int(any(each.why for each in ended))


def _tried(seed: int, number: int) -> Ended:
    """The attempt of this number, which cannot be sent to another process."""
    return tried(everything(seed)[number])


if __name__ == "__main__":
    sys.exit(main())
