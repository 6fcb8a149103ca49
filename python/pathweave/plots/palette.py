"""Colours. A scheme keeps one colour in every chart; flows within a scheme go by order.

Scheme colours are told apart under the common colour-vision deficiencies and have a contrast of at
least 3 to 1 with their background. After seven, dashes tell schemes apart as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SCHEMES_LIGHT = ("#006dce", "#d66a00", "#009f72", "#b0489d", "#894d00", "#4d9ad5", "#5e6166")
SCHEMES_DARK = ("#4ea4e8", "#ff8950", "#2ccc9b", "#ee94c9", "#f5d14f", "#a3dbff", "#87878c")
DASHES = ((1, 0), (6, 3), (2, 2), (8, 3, 2, 3))
PAPER_LIGHT = "#fefefe"
"""Fill of hollow marks: the page's background, in either theme."""
PAPER_DARK = "#16181d"

# Nine points of viridis (CC0), of which each theme takes the part that it can show.
_VIRIDIS = (
    "#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30",
    "#fde725",
)  # fmt: skip


class Palette:
    """Colours and dashes of schemes, fixed by the order in which they are first named."""

    def __init__(self, schemes: Iterable[str]) -> None:
        self.schemes = tuple(dict.fromkeys(schemes))

    def colour(self, scheme: str) -> str:
        """The colour of `scheme` on a light page."""
        return SCHEMES_LIGHT[self._place(scheme) % len(SCHEMES_LIGHT)]

    def dash(self, scheme: str) -> list[int]:
        """The dash pattern of `scheme`: solid for the first seven."""
        return list(DASHES[self._place(scheme) // len(SCHEMES_LIGHT) % len(DASHES)])

    def _place(self, scheme: str) -> int:
        return self.schemes.index(scheme) if scheme in self.schemes else 0


def flow_colours(count: int) -> list[str]:
    """Colours on a light page for flows in order, dark to bright."""
    return [_sample(at, 0.0, 0.8) for at in _steps(count)]


def dark_colours(flows: int) -> dict[str, str]:
    """What each colour of a light page becomes on a dark one, for up to `flows` flows."""
    pairs: dict[str, str] = dict(zip(SCHEMES_LIGHT, SCHEMES_DARK, strict=True))
    pairs[PAPER_LIGHT] = PAPER_DARK
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
