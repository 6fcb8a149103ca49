"""Verdicts on several comparisons at once, with Holm's step-down correction.

Each comparison at 5 % would find a difference where there is none once in twenty times; of six
comparisons one in four families would hold such a find. Holm's correction keeps the probability of
any false find in the whole family below the level, whatever the dependence between comparisons.
Source: S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
Statistics 6 (1979) 65-70.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pathweave.statistics.paired import Difference

Outcome = Literal["better", "worse", "not told apart", "too few seeds"]

CORRECTION: Final = "Holm"
"""Name of the correction, as reports print it."""


@dataclass(frozen=True)
class Holm:
    """What the correction makes of a family of p-values, in their order."""

    adjusted: tuple[float, ...]
    """Smallest family-wise level at which each hypothesis would be rejected, at most 1."""
    rejected: tuple[bool, ...]
    """Which hypotheses are rejected at `level`."""
    level: float
    """Largest probability of any false rejection in the family."""


@dataclass(frozen=True)
class Verdict:
    """Whether a variant is better than the baseline, as far as the seeds tell."""

    outcome: Outcome
    """"too few seeds" where there are too few pairs for a test."""
    adjusted_p: float | None
    """p-value after the correction; None where there is no test."""
    comparisons: int
    """Number of comparisons that the correction is for: those of the family that have a test."""
    correction: str = CORRECTION
    """Name of the correction."""


def holm(p_values: Sequence[float], level: float = 0.05) -> Holm:
    """Correct a family of p-values; `level` is family-wise.

    Raises ValueError for p-values outside 0 to 1 and for a level that is not between them.
    """
    if not 0 < level < 1:
        raise ValueError(f"a level is between 0 and 1, not {level}")
    for p in p_values:
        if not 0 <= p <= 1:
            raise ValueError(f"a p-value is from 0 to 1, not {p}")
    adjusted = [0.0] * len(p_values)
    running = 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        running = max(running, min(1.0, (len(p_values) - rank) * p_values[place]))
        adjusted[place] = running
    return Holm(tuple(adjusted), tuple(p <= level for p in adjusted), level)


def verdicts(
    differences: Sequence[Difference], larger_is_better: bool, level: float = 0.05
) -> tuple[Verdict, ...]:
    """The verdict on each difference to the baseline; together they are one family.

    The correction can leave "not told apart" a difference whose own 95 % interval excludes 0.
    Comparisons without a p-value are "too few seeds" and do not count in the family. Raises
    ValueError as `holm` does.
    """
    tested = [place for place, each in enumerate(differences) if each.p_value is not None]
    family = holm([each.p_value for each in differences if each.p_value is not None], level)
    found = [Verdict("too few seeds", None, len(tested))] * len(differences)
    for place, adjusted, rejected in zip(tested, family.adjusted, family.rejected, strict=True):
        mean = differences[place].mean
        outcome: Outcome = "not told apart"
        if rejected and mean is not None:
            outcome = "better" if (mean > 0) == larger_is_better else "worse"
        found[place] = Verdict(outcome, adjusted, len(tested))
    return tuple(found)
