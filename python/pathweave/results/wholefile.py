"""Files that others read: on disk either whole or not at all."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A draft beside `path` to write to; it takes the place of `path` when the context ends well.

    Whatever ends the context otherwise, an interruption or a full disk, leaves no draft, and what
    stood at `path` stays. A device or a pipe is written to as it is. Raises `OSError` when the
    draft cannot take its place.
    """
    if path.exists() and not path.is_file():
        yield path
        return
    path = path.resolve()  # a symbolic link goes on to name the same file
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield draft
        with draft.open("rb") as file:
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
