"""Files that others read: on disk either whole or not at all."""

from __future__ import annotations

import errno
import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from pathweave.errors import InputError
from pathweave.results.owner import abandoned, owner

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK)


@contextmanager
def whole_file(path: Path, *, follow: bool = False) -> Iterator[Path]:
    """A draft beside `path` to write to; it takes the place of `path` when the context ends well.

    A symbolic link at `path` is replaced: a folder from elsewhere can have links to any file. With
    `follow`, for paths that the user has given, the file that the link names is replaced. Whatever
    ends the context otherwise, an interruption or a full disk, leaves no draft, and what
    stood at `path` stays. Drafts of killed processes are deleted. A device or a pipe is written to
    as it is. Raises `OSError` with `path` when the draft cannot be written or take its place.
    """
    link = path.is_symlink() and not follow
    if not link and path.exists() and not path.is_file():
        yield path
        return
    # A link that is followed goes on to name the same file.
    target = path.parent.resolve() / path.name if link else path.resolve()
    for draft in abandoned_drafts(target):
        with suppress(OSError):
            draft.unlink(missing_ok=True)
    draft = target.with_name(f".{target.name}.{owner()}")
    try:
        yield draft
        with draft.open("rb") as file:
            os.fsync(file.fileno())
        draft.replace(target)
    except OSError as error:
        # Of another file, or what a library says without a number.
        if error.errno is None or error.filename not in (None, str(draft)):
            raise
        # The draft's name would mean nothing to a reader.
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        with suppress(NotADirectoryError):  # there is no such folder, and so no draft
            draft.unlink(missing_ok=True)


def folder_below(base: Path, *below: str) -> Path:
    """The folder at the end of these names below `base`, whether or not it is there yet.

    Raises `InputError` where one of them is a symbolic link, which may lead anywhere.
    """
    folder = base
    for name in below:
        folder = folder / name
        if folder.is_symlink():
            raise InputError(f"{folder} is a link, through which nothing is written: remove it")
    return folder


def write_whole(path: Path, content: bytes) -> None:
    """Write `content` so that a reader sees the old file or the new one, never a part of it.

    Raises `OSError` where the disk is full or the folder cannot be written; the old file stays.
    """
    with whole_file(path) as draft:
        draft.write_bytes(content)


def create_whole(path: Path, content: bytes) -> bool:
    """Write `content` as `write_whole` does, unless `path` is there; whether it was not.

    Of several processes that do so at a time one alone is told that it was not, on any machine:
    a hard link is made by one. A file system without hard links has no such promise.
    """
    draft = path.with_name(f".{path.name}.{owner()}")
    try:
        draft.write_bytes(content)
        try:
            path.hardlink_to(draft)
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            if path.exists():
                return False
            draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    return True


def abandoned_drafts(path: Path) -> list[Path]:
    """The drafts of `path` that killed processes have left."""
    start = f".{path.name}."
    try:
        drafts = [each for each in path.parent.iterdir() if each.name.startswith(start)]
    except OSError:
        return []
    return sorted(draft for draft in drafts if abandoned(draft.name[len(start) :], draft))
