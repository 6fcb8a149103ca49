"""Files that are on disk either whole or not at all."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def write_whole(path: Path, content: bytes) -> None:
    """Write `content` so that a reader sees the old file or the new one, never a part of it.

    Raises `OSError` where the disk is full or the folder cannot be written; the old file stays.
    """
    _clear(path)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_bytes(content)
        draft.replace(path)
    except OSError as error:
        # The draft's name would mean nothing to a reader.
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        draft.unlink(missing_ok=True)


def _clear(path: Path) -> None:
    """Delete the drafts of `path` that killed processes have left."""
    start = f".{path.name}."
    with suppress(OSError):
        for beside in path.parent.iterdir():
            owner = beside.name.removeprefix(start)
            if owner != beside.name and owner.isdigit() and not _lives(int(owner)):
                beside.unlink(missing_ok=True)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
