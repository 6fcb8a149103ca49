"""Colours. A scheme keeps one colour in every chart and report; flows within it go by order.

The families that are compared most have colours of their own, others take what is free. What a
scenario is compared with has none: it is grey.
Scheme colours are told apart under the common colour-vision deficiencies and have a contrast of at
least 3 to 1 with their background. Where there are more schemes than colours, dashes tell them
apart as well.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SCHEMES_LIGHT = ("#006dce", "#d66a00", "#009f72", "#b0489d", "#894d00", "#4d9ad5", "#5e6166")
"""The strongest first, the neutral one last."""
SCHEMES_DARK = ("#4ea4e8", "#ff8950", "#2ccc9b", "#ee94c9", "#f5d14f", "#a3dbff", "#87878c")
FAMILIES = {"xmp": 0, "lia": 1, "amp": 2, "olia": 3, "balia": 4, "dctcp": 5, "eutcp": 2, "fmp": 0}
"""The colours of families of schemes, by what their names begin with."""
DASHES = ((1, 0), (6, 3), (2, 2), (8, 3, 2, 3))
PAPER_LIGHT = "#fefefe"
"""The page's background, in either theme."""
PAPER_DARK = "#16181d"
EVENT_LIGHT = "#b3261e"
"""What fails and what comes back, where time goes by."""
EVENT_DARK = "#ff8a80"
PHASE_LIGHT = "#f0f1f4"
"""Shade of every other phase."""
PHASE_DARK = "#22262e"
WORDS_LIGHT = "#555b65"
"""Names that stand in a chart."""
WORDS_DARK = "#a9adb5"

# Nine points of viridis (CC0), of which each theme takes the part that it can show.
_VIRIDIS = (
    "#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30",
    "#fde725",
)  # fmt: skip


class Palette:
    """Colours and dashes of schemes: by family, and else by the order in which they are named."""

    def __init__(
        self, schemes: Iterable[str], *, baseline: str | None = None, subjects: Iterable[str] = ()
    ) -> None:
        """`baseline` is grey; `subjects` are first to choose."""
        self.schemes = tuple(dict.fromkeys(schemes))
        self.baseline = baseline if baseline in self.schemes and len(self.schemes) > 1 else None
        chosen = [name for name in dict.fromkeys(subjects) if name in self.schemes]
        ranked = [*chosen, *(name for name in self.schemes if name not in chosen)]
        coloured = [name for name in ranked if name != self.baseline]
        self._colours = len(SCHEMES_LIGHT) - (self.baseline is not None)
        self._places = _places(coloured, self._colours)

    def colour(self, scheme: str) -> str:
        """The colour of `scheme` on a light page."""
        if scheme == self.baseline:
            return SCHEMES_LIGHT[-1]
        return SCHEMES_LIGHT[self._place(scheme) % self._colours]

    def dash(self, scheme: str) -> list[int]:
        """The dash pattern of `scheme`: solid as long as there are colours."""
        place = 0 if scheme == self.baseline else self._place(scheme)
        return list(DASHES[place // self._colours % len(DASHES)])

    def rank(self, scheme: str) -> int:
        """How strong the colour of `scheme` is, 0 for the strongest; what is drawn last is seen."""
        return len(self._places) if scheme == self.baseline else self._place(scheme)

    def _place(self, scheme: str) -> int:
        return self._places.get(scheme, 0)


def _places(schemes: Sequence[str], colours: int) -> dict[str, int]:
    """The place of each scheme among the colours; beyond them it has a dash as well.

    The first of a family has the family's place, so that it has the same in every report.
    """
    found: dict[str, int] = {}
    for name in schemes:
        place = FAMILIES.get(_family(name))
        if place is not None and place < colours and place not in found.values():
            found[name] = place
    free = (place for place in range(len(schemes) + colours) if place not in found.values())
    return {name: found[name] if name in found else next(free) for name in schemes}


def _family(scheme: str) -> str:
    """What a scheme's name begins with, up to a number or another word: "xmp" of "XMP-4"."""
    first = re.match(r"[A-Za-z]+", scheme)
    return first[0].lower() if first else ""


def flow_colours(count: int) -> list[str]:
    """Colours on a light page for flows in order, dark to bright."""
    return [_sample(at, 0.0, 0.8) for at in _steps(count)]


def dark_colours(flows: int) -> dict[str, str]:
    """What each colour of a light page becomes on a dark one, for up to `flows` flows."""
    pairs: dict[str, str] = dict(zip(SCHEMES_LIGHT, SCHEMES_DARK, strict=True))
    pairs |= {
        PAPER_LIGHT: PAPER_DARK,
        EVENT_LIGHT: EVENT_DARK,
        PHASE_LIGHT: PHASE_DARK,
        WORDS_LIGHT: WORDS_DARK,
    }
    for count in range(1, flows + 1):
        bright = [_sample(at, 0.3, 1.0) for at in _steps(count)]
        pairs |= dict(zip(flow_colours(count), bright, strict=True))
    return pairs


def _steps(count: int) -> Sequence[float]:
    return [0.0] if count == 1 else [place / (count - 1) for place in range(count)]


def _sample(at: float, low: float, high: float) -> str:
    place = (low + at * (high - low)) * (len(_VIRIDIS) - 1)
    left = min(int(place), len(_VIRIDIS) - 2)
    share = place - left
    first, second = (_channels(_VIRIDIS[index]) for index in (left, left + 1))
    mixed = (round(a + (b - a) * share) for a, b in zip(first, second, strict=True))
    return "#" + "".join(f"{channel:02x}" for channel in mixed)


def _channels(colour: str) -> tuple[int, ...]:
    return tuple(int(colour[start : start + 2], 16) for start in (1, 3, 5))
