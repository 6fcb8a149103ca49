"""How large a change has to be to count. Code that only names it does not load the statistics."""

from __future__ import annotations

from typing import Final

RELEVANT: Final = 0.01
"""Smallest change, as a part of the baseline's mean, that counts unless another is asked for."""
