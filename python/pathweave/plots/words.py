"""What charts show, in words and numbers, for those who do not see them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pathweave.results.units import number, scale

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_PANELS = 6
"""Panels that are described one by one, at most."""
_STEP = 0.25
"""Part of the mean by which a line has to rise or fall before it is said to."""
_LONGEST = 1200
"""Characters of a description, about: who listens cannot skip."""


def value_text(value: float, unit: str, digits: int = 3) -> str:
    """A value with its unit: "23.1 Gbps"."""
    return f"{number(value, digits)} {unit}".rstrip()


def listed(words: Sequence[str]) -> str:
    """Words in a row: "a, b and c"."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def by_panel(said: Iterable[tuple[str, Sequence[str]]]) -> str:
    """Sentences about panels: "Permutation: XMP-4 735 Mbps, DCTCP 513 Mbps."."""
    sentences: list[str] = []
    pairs = [(panel, texts) for panel, texts in said if texts]
    for panel, texts in pairs[:_PANELS]:
        sentences.append(f"{f'{panel}: ' if panel else ''}{'; '.join(texts)}.")
    if len(pairs) > _PANELS:
        sentences.append(f"{len(pairs) - _PANELS} more panels.")
    return shortened(" ".join(sentences))


def shortened(text: str) -> str:
    """`text`, cut after a sentence where it is too long to be listened to."""
    if len(text) <= _LONGEST:
        return text
    end = text.rfind(". ", 0, _LONGEST)
    return text[: end + 1] if end > 0 else text[:_LONGEST]


def course(times_s: Sequence[float], values: Sequence[float], unit: str, moment: str) -> str:
    """How a line runs: its level, or how it rises or falls where it does so most clearly.

    `times_s` are in seconds and increase, `values` are in `unit`; `moment` is the unit in which a
    time is said, "s" or "ms".
    """
    levels = np.asarray(values, dtype=np.float64)
    times = np.asarray(times_s, dtype=np.float64)
    mean = float(levels.mean())
    place = _change(levels)
    if place is not None and mean > 0:
        before, after = float(levels[:place].mean()), float(levels[place:].mean())
        if abs(after - before) > _STEP * mean:
            word = "rises" if after > before else "falls"
            at = value_text(float(times[place]) / scale(moment), moment)
            return (
                f"{word} from {number(before, 3)} to {value_text(after, unit)} at {at}"
                f" (smallest {number(float(levels.min()), 3)},"
                f" largest {number(float(levels.max()), 3)})"
            )
    return (
        f"stays about {value_text(mean, unit)} (smallest {number(float(levels.min()), 3)},"
        f" largest {number(float(levels.max()), 3)})"
    )


def _change(levels: np.ndarray[tuple[int], np.dtype[np.float64]]) -> int | None:
    """Where to cut a line in two, so that each part is as level as can be; None for short ones."""
    n = len(levels)
    least = max(2, n // 20)
    if n < 2 * least:
        return None
    sums = np.cumsum(levels)
    cuts = np.arange(least, n - least + 1)
    left = sums[cuts - 1] / cuts
    right = (sums[-1] - sums[cuts - 1]) / (n - cuts)
    between = cuts * (n - cuts) * (left - right) ** 2
    return int(cuts[int(between.argmax())])
