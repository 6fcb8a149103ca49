"""The comparison with ns-2: what it reads, and what makes it fail."""

from __future__ import annotations

import dataclasses

import pytest

from scripts_of_tree import script

ns2 = script("validation/ns2/compare.py")

# A link of 1 Gbps carries 500 packets of 1500 bytes in 6 ms.
ROUND = 0.006


def printed(unfair: int, share: float = 0.5) -> list[str]:
    """A first flow alone, then the second without anything for some round trips, then a share."""
    lines = [
        "port 0.5 1000 0.5",
        # 31,250,000 bytes in half a second are half of the link.
        "port 1 31251000 1.5",
        "port 1.5 60000000 2.0",
        "port 2 122500000 2.25",
    ]
    first, second = 0.0, 0.0
    for number in range(330):
        lines.append(f"{number * ROUND:.6g} {first:.0f} {second:.0f}")
        late = number * ROUND >= 1.0 + unfair * ROUND - ROUND / 2
        second += 500 * share if late else 0.0
        first += 500 * (1 - share) if late else 500
    return lines


def test_what_ns_2_printed_is_read() -> None:
    side = ns2.read_ns2(printed(unfair=20))
    assert side.utilisation == pytest.approx({"alone": 0.5, "together": 1.0})
    assert side.queue == pytest.approx({"alone": 2.0, "together": 0.5})
    assert side.rounds == pytest.approx(20, abs=1)


@pytest.mark.parametrize(("share", "fair"), [(0.46, True), (0.44, False)])
def test_near_is_within_a_tenth_of_the_fair_share(share: float, fair: bool) -> None:
    assert (ns2.read_ns2(printed(5, share)).rounds is not None) == fair


def test_ten_round_trips_in_a_row() -> None:
    half, other = (0.5, 0.5), (0.7, 0.3)
    assert ns2.rounds_to_fair_share([other] * 3 + [half] * 9 + [other] + [half] * 10) == 13
    assert ns2.rounds_to_fair_share([half] * 9) is None


def test_differences_beyond_the_tolerances_fail() -> None:
    side = ns2.read_ns2(printed(unfair=20))

    def verdict(**changes: object) -> bool:
        return ns2.compare(side, dataclasses.replace(side, **changes), "", judged=True)

    assert verdict()
    assert verdict(rounds=round(1.25 * side.rounds))
    assert not verdict(rounds=round(1.4 * side.rounds))
    assert not verdict(rounds=None)
    assert not verdict(utilisation={"alone": 0.5, "together": 0.97})
    assert not verdict(queue={"alone": 4.5, "together": 0.5})
