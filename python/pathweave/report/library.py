"""The script that draws a page's charts: Vega, Vega-Lite and Vega-Embed in one piece.

To put it together takes seconds and depends on nothing but the version of vl-convert, so it is kept
where programs keep what they can make again.
"""

from __future__ import annotations

import os
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from pathweave.results.wholefile import write_whole

if TYPE_CHECKING:
    from collections.abc import Callable

    from pathweave.plots.painters import Painters

_END = "\n// whole\n"
"""Last line of a file that is all there."""


def kept() -> Path:
    """Where the script of this version of vl-convert is kept, whether it is there or not.

    That is in `$XDG_CACHE_HOME/pathweave`, or in `~/.cache/pathweave`.
    """
    base = os.environ.get("XDG_CACHE_HOME", "")
    folder = Path(base) if Path(base).is_absolute() else Path("~/.cache").expanduser()
    return folder / "pathweave" / f"vega-{version('vl-convert-python')}.js"


def library(painters: Painters) -> Callable[[], str]:
    """The script, from where it is kept or put together by `painters` in the meantime."""
    path = kept()
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        text = ""
    if text.endswith(_END):
        return lambda: text
    made = painters.library()

    def wait() -> str:
        whole = made.result() + _END
        _keep(path, whole)
        return whole

    return wait


def _keep(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text.encode())
    except OSError:  # a home that cannot be written costs time, no more
        return
