"""Controllers must not fork: the copy would go on simulating beside the process that it is of."""

from __future__ import annotations

import sys

from pathweave.running.under_way import is_beneath

_FORKS = ("os.fork", "os.forkpty")
_refused = False


def refuse_forks() -> None:
    """From now on `os.fork` is an error where a controller's file calls it."""
    global _refused  # noqa: PLW0603 - a hook cannot be taken back
    if not _refused:
        _refused = True
        sys.addaudithook(_hear)


def _hear(event: str, _arguments: tuple[object, ...]) -> None:
    if event in _FORKS and is_beneath():
        raise RuntimeError(f"a controller must not start processes ({event})")
