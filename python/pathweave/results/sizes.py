"""Ranges of flow sizes, and the conventional classes by which completion times are compared."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pathweave.errors import InputError
from pathweave.results.units import SCALES

if TYPE_CHECKING:
    import polars as pl

_SIZE = r"([0-9]+(?:\.[0-9]+)?) ?([KMG]?B)"
_RANGE = re.compile(rf"(?:(?P<rest>.*) )?(?:under {_SIZE}|from {_SIZE}(?: to {_SIZE})?)")
_LOOKS_LIKE_ONE = re.compile(r"(?:.* )?(?:under|over|below|above|from) [0-9].*")
FORMS = '"under 100 KB", "from 100 KB to 1 MB" or "from 10 MB"'
"""How ranges are written, with units B, KB, MB or GB (powers of ten)."""


@dataclass(frozen=True)
class Sizes:
    """A range of flow sizes in bytes; the default holds every flow, also those without a size."""

    least: float = 0.0
    """Smallest size that belongs to it."""
    below: float = math.inf
    """Smallest size that no longer belongs to it."""

    @property
    def every(self) -> bool:
        """Whether no flow is left out."""
        return self.least == 0.0 and self.below == math.inf

    @property
    def text(self) -> str:
        """As `split_sizes` reads it: "under 100 KB"; empty for all sizes."""
        if self.every:
            return ""
        if self.below == math.inf:
            return f"from {_text(self.least)}"
        if self.least == 0.0:
            return f"under {_text(self.below)}"
        return f"from {_text(self.least)} to {_text(self.below)}"

    def holds(self) -> pl.Expr:
        """Whether a row's `size_bytes` is in the range; flows without a size never are."""
        import polars as pl

        if self.every:
            return pl.lit(True)
        size = pl.col("size_bytes").fill_null(0)
        return (size > 0) & (size >= self.least) & (size < self.below)


ALL_SIZES = Sizes()
"""Every flow, also those without a size."""
CLASSES = {
    "<10 KB": Sizes(below=1e4),
    "10–100 KB": Sizes(1e4, 1e5),
    "100 KB–1 MB": Sizes(1e5, 1e6),
    "1–10 MB": Sizes(1e6, 1e7),
    "≥10 MB": Sizes(1e7),
}
"""Classes of flow size as papers on data-centre transport have them, by what charts call them."""
SHORT = Sizes(below=1e5)
"""Flows that count as short, as in the same papers."""


def split_sizes(text: str, where: str) -> tuple[str, Sizes]:
    """Split "bg under 100 KB" into "bg" and the range; all sizes where `text` names no range.

    Raises `InputError` with the accepted forms, beginning with `where`, for a range that is empty
    or not written as `FORMS` says.
    """
    found = _RANGE.fullmatch(text)
    if found is None:
        if _LOOKS_LIKE_ONE.fullmatch(text):
            raise InputError(f'{where}: "{text}" has no range of flow sizes; write {FORMS}')
        return text, ALL_SIZES
    numbers = [
        float(number) * SCALES[unit]
        for number, unit in zip(found.groups()[1::2], found.groups()[2::2], strict=True)
        if number is not None
    ]
    if " under " in f" {text}" and len(numbers) == 1 and found[2] is not None:
        sizes = Sizes(below=numbers[0])
    else:
        sizes = Sizes(numbers[0], numbers[1] if len(numbers) > 1 else math.inf)
    if not sizes.least < sizes.below:
        raise InputError(f'{where}: no flow size is in "{text}"; write {FORMS}')
    return found["rest"] or "", sizes


def _text(value: float) -> str:
    for unit in ("GB", "MB", "KB"):
        if value >= SCALES[unit]:
            return f"{value / SCALES[unit]:g} {unit}"
    return f"{value:g} B"
