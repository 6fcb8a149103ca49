"""Calls that controllers in files must not make: what they change is the whole command's.

The copy that a fork leaves would go on simulating beside the process that it is of, and in another
folder results would be written elsewhere.
"""

from __future__ import annotations

import sys
from typing import Final

from pathweave.running.under_way import is_beneath

_REFUSED: Final = {
    "os.fork": "start processes (os.fork)",
    "os.forkpty": "start processes (os.forkpty)",
    "os.chdir": "change the folder that the command works in (os.chdir)",
}
_listens = False


def refuse_calls() -> None:
    """From now on these calls are errors where a controller's file makes them."""
    global _listens  # noqa: PLW0603 - a hook cannot be taken back
    if not _listens:
        _listens = True
        sys.addaudithook(_hear)


def _hear(event: str, _arguments: tuple[object, ...]) -> None:
    if event in _REFUSED and is_beneath():
        raise RuntimeError(f"a controller must not {_REFUSED[event]}")
