"""Where controllers in Python files are: the lines that threads are in right now."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path
    from types import FrameType

_shown: dict[str, str] = {}


def remember(path: Path, shown: str) -> None:
    """From now on lines of this file are found; `shown` is what messages call it."""
    _shown[str(path)] = shown


def lines() -> list[str]:
    """The innermost line of each thread that is in such a file: "mine.py, line 7, in on_ack"."""
    found = map(_line, sys._current_frames().values())  # noqa: SLF001 - the one way to see them
    return sorted({text for text in found if text is not None})


def is_beneath() -> bool:
    """Whether the caller was called from such a file, however far up."""
    return _line(sys._getframe(1)) is not None  # noqa: SLF001


def _line(frame: FrameType | None) -> str | None:
    while frame is not None:
        shown = _shown.get(frame.f_code.co_filename)
        if shown is not None:
            return f"{shown}, line {frame.f_lineno}, in {frame.f_code.co_name}"
        frame = frame.f_back
    return None
