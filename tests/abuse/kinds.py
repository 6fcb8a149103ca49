"""All attempts, a sample of them, and the table of how they ended."""

from __future__ import annotations

import random
from collections.abc import Sequence

from abuse import controllers, environments, recordings, results, scenarios
from abuse.attempt import Attempt, End, Ended

_HEADINGS = ("kind", "tried", *End)


def everything(seed: int) -> list[Attempt]:
    """Every attempt of a seed."""
    modules = (scenarios, results, recordings, controllers, environments)
    return [attempt for module in modules for attempt in module.attempts(seed)]


def sample(seed: int) -> list[Attempt]:
    """The same in an order in which each beginning has something of each kind."""
    by_kind: dict[str, list[Attempt]] = {}
    for attempt in everything(seed):
        by_kind.setdefault(attempt.kind, []).append(attempt)
    chance = random.Random(f"sample {seed}")
    for attempts in by_kind.values():
        chance.shuffle(attempts)
    longest = max(map(len, by_kind.values()))
    return [each[at] for at in range(longest) for each in by_kind.values() if at < len(each)]


def table(ended: Sequence[Ended]) -> str:
    """How many of each kind ended how."""
    kinds = list(dict.fromkeys(each.kind for each in ended))
    rows: list[tuple[str, ...]] = [_HEADINGS]
    for kind in [*kinds, "all"]:
        own = [each for each in ended if kind in (each.kind, "all")]
        counts = [sum(each.end is end for each in own) for end in End]
        rows.append((kind, str(len(own)), *map(str, counts)))
    widths = [max(len(row[at]) for row in rows) for at in range(len(_HEADINGS))]
    lines = [
        "  ".join(
            text.ljust(width) if at == 0 else text.rjust(width)
            for at, (text, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
    return "\n".join(lines) + "\n"
