"""Round trips until two flows share a link equally, from what dumbbell.tcl prints.

    ns dumbbell.tcl | python convergence.py

Convergence is the first round trip after the second flow's start from which both flows stay
within 10 % of half the link for ten round trips, in bins of one.
"""

import sys
from collections.abc import Iterable

ROUND = 0.006
BINS = 10
TOLERANCE = 0.1
# Packets of 1500 bytes in a round trip of half a 1 Gbps link.
FAIR = 0.5e9 * ROUND / (8 * 1500)


def read(lines: Iterable[str]) -> list[tuple[int, int]]:
    """Packets that each flow has had acknowledged so far, a pair for each round trip."""
    rows = [line.split() for line in lines]
    return [(int(first), int(second)) for _, first, second in rows]


def convergence(counts: list[tuple[int, int]], begins: int) -> int | None:
    """Round trips after number `begins` until shares are equal; None when they never are."""
    pairs = zip(counts[begins:], counts[begins + 1 :], strict=False)
    fair = [
        all(
            abs(after - before - FAIR) <= TOLERANCE * FAIR
            for before, after in zip(*pair, strict=True)
        )
        for pair in pairs
    ]
    starts = range(len(fair) - BINS + 1)
    return next((start for start in starts if all(fair[start : start + BINS])), None)


def main() -> None:
    """Prints the number of round trips and of milliseconds."""
    counts = read(sys.stdin)
    begins = next(number for number, (_, second) in enumerate(counts) if second >= 0) - 1
    rounds = convergence(counts, begins)
    if rounds is None:
        sys.exit("The flows do not come to equal shares.")
    print(f"{rounds} round trips, {rounds * ROUND * 1e3:.0f} ms")


if __name__ == "__main__":
    main()
