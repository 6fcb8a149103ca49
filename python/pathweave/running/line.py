"""The line from a process that executes controllers in files to the process that watches it.

Such a controller may end its process, or never return. So `pathweave.cli.apart` runs the command in
a child, which says over this line how far it is.
"""

from __future__ import annotations

import contextlib
import os
import stat
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

VARIABLE: Final = "PATHWEAVE_LINE"
"""Has the number of the line's descriptor and of the parent's process, for the child alone."""
LOADED: Final = "loaded "
"""Begins what is said of a file that is about to be executed; its path follows."""
HEARD: Final = "heard"
"""Said when a signal has been heard: the command winds down by itself."""
ERROR: Final = "error "
"""Begins an error that whoever watches has to print; its text follows."""
DONE: Final = "done "
"""Begins what is said at the end; the exit status follows."""

_descriptor: int | None = None


def named(descriptor: int) -> str:
    """What the variable says to a child of this process."""
    return f"{descriptor} {os.getpid()}"


def attach() -> int | None:
    """Take the line that this process was given; None if it was given none.

    An environment that somebody has copied names another parent.
    """
    global _descriptor  # noqa: PLW0603 - a process has one
    text, _, parent = os.environ.pop(VARIABLE, "").partition(" ")
    if not text.isdecimal() or parent != str(os.getppid()):
        return None
    try:
        if not stat.S_ISFIFO(os.fstat(int(text)).st_mode):
            return None
        os.set_inheritable(int(text), False)
    except (OSError, OverflowError):
        return None
    _descriptor = int(text)
    return _descriptor


def say_loaded(path: Path, _content: bytes) -> None:
    """Say that a file is about to be executed."""
    _say(f"{LOADED}{path}")


def say_heard() -> None:
    """Say that a signal has been heard."""
    _say(HEARD)


def say_done(status: int) -> None:
    """Say that all is written, and the exit status."""
    _say(f"{DONE}{status}")


def say_error(text: str, status: int) -> bool:
    """Say why there is no result, and the exit status; whether somebody listens.

    Both go out in one write: after it another thread may keep the interpreter for ever.
    """
    return _say(f"{ERROR}{text}", f"{DONE}{status}")


def _say(*texts: str) -> bool:
    if _descriptor is None:
        return False
    said = "".join(text.replace("\n", " ") + "\n" for text in texts)
    with contextlib.suppress(OSError):  # nobody listens any more
        return os.write(_descriptor, said.encode(errors="replace")) > 0
    return False
