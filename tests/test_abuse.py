"""A sample of the abuse that `make test-abuse` tries all of."""

from __future__ import annotations

import time
from collections import Counter

from abuse import kinds
from abuse.attempt import End, Ended, tried

BUDGET_S = 45
"""Seconds in which attempts begin."""
SEED = 1


def test_a_sample_of_it_is_refused_or_carried_out() -> None:
    until = time.monotonic() + BUDGET_S
    ended: list[Ended] = []
    for attempt in kinds.sample(SEED):
        ended.append(tried(attempt))
        if time.monotonic() > until:
            break
    failed = [f"{each.kind}: {each.name}: {each.why}" for each in ended if each.why]
    assert not failed, "\n".join(failed)
    assert Counter(each.end for each in ended)[End.REFUSED]


def test_the_generator_makes_what_it_says_and_the_same_again() -> None:
    counts = Counter(each.kind for each in kinds.everything(SEED))
    assert counts == {
        "scenarios": 200,
        "results folders": 41 * 6,
        "traces and CDFs": 70,
        "controllers": 49,
        "environments": 53,
    }
    names = [f"{each.kind}: {each.name}" for each in kinds.everything(SEED)]
    assert names == [f"{each.kind}: {each.name}" for each in kinds.everything(SEED)]
    assert len(set(names)) == len(names)
