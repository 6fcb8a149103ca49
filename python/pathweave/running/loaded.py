"""Who hears of files with controllers before they are loaded: loading one executes it."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Hear = Callable[[Path, bytes], None]
    """Gets the path of a file and its content."""

_listeners: list[Hear] = []


@contextmanager
def listening(hear: Hear) -> Iterator[None]:
    """Within the context `hear` is called for each file, before any of it is executed."""
    _listeners.append(hear)
    try:
        yield
    finally:
        _listeners.remove(hear)


def tell(path: Path, content: bytes) -> None:
    """Say that a file with this content is about to be loaded."""
    for hear in _listeners:
        hear(path, content)
