"""Whose a half-written file is: a process of a machine, told from those of other machines.

Several machines may write into one folder. What a dead process has left there may be deleted; what
a living one is at must not be, and only its own machine can say whether it lives.
"""

from __future__ import annotations

import hashlib
import os
import socket
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

STALE_S = 24 * 3600.0
"""Seconds without a change after which what another machine was at counts as left behind."""

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_PROCESSES = Path("/proc/self/ns/pid")


def owner() -> str:
    """The name of the running process in the names of files: "3fa9c1d2b7e04451-4711"."""
    return f"{_machine()}-{os.getpid()}"


def abandoned(owned_by: str, path: Path) -> bool:
    """Whether `path`, whose name ends with this owner, was left by a process that has died."""
    machine, _, process = owned_by.rpartition("-")
    if not process.isdigit() or (machine and not _is_machine(machine)):
        return False  # not a name that `owner` gives
    if machine in ("", _machine()):  # without a machine: as earlier versions wrote it
        return not _lives(int(process))
    return _unchanged_s(path) > STALE_S


@cache
def _machine() -> str:
    """What tells this machine from others: also one container, and one boot, from another.

    Numbers of processes mean something within a container and until the next boot.
    """
    words = [socket.gethostname()]
    with suppress(OSError):
        words.append(_BOOT.read_text())
    with suppress(OSError):
        words.append(str(_PROCESSES.stat().st_ino))
    return hashlib.sha256("\0".join(words).encode()).hexdigest()[:16]


def _is_machine(text: str) -> bool:
    return len(text) == 16 and set(text) <= set("0123456789abcdef")


def _lives(process: int) -> bool:
    """Whether there is a process with this number on this machine."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def _unchanged_s(path: Path) -> float:
    """Seconds since something in the file or folder was changed; 0 where it has just gone."""
    try:
        paths = [path, *path.iterdir()] if path.is_dir() else [path]
        return time.time() - max(each.stat().st_mtime for each in paths)
    except OSError:
        return 0.0
