"""Confidence intervals of a mean over a few seeds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

# Student's t, 0.975 quantile, for 1 to 30 degrees of freedom (any table of the distribution).
_T975 = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
    2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip


def t975(degrees: int) -> float:
    """The 0.975 quantile of Student's t with `degrees` degrees of freedom, within 0.001."""
    if degrees <= len(_T975):
        return _T975[degrees - 1]
    # Cornish-Fisher expansion about the normal quantile; the next term is below 0.0005 from here.
    z = 1.959964
    return z + (z**3 + z) / (4 * degrees) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * degrees**2)


def half_width(values: Sequence[float]) -> float | None:
    """Half the width of the 95 % confidence interval of the mean; None below two values."""
    n = len(values)
    if n < 2:
        return None
    mean = math.fsum(values) / n
    variance = math.fsum((value - mean) ** 2 for value in values) / (n - 1)
    return t975(n - 1) * math.sqrt(variance / n)
