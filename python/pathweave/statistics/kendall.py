"""How steadily a series rises."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def kendall_tau(values: Sequence[float]) -> float:
    """How steadily a series rises: 1 where each value is above all before it, -1 where below.

    Source: M. G. Kendall, "A new measure of rank correlation", Biometrika 30 (1938) 81-93, without
    a correction for ties, which count as neither.
    """
    pairs = [(a, b) for place, a in enumerate(values) for b in values[place + 1 :]]
    return sum((b > a) - (b < a) for a, b in pairs) / len(pairs)
