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
_programs: list[Hear] = []
_interrupted: list[str] = []


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


def tell_program(path: Path, content: bytes) -> None:
    """Say that a program with this content is about to be executed, in a process of its own."""
    for hear in _programs:
        hear(path, content)


@contextmanager
def hearing_of_programs(hear: Hear) -> Iterator[None]:
    """Within the context `hear` is called for each program, before it is executed."""
    _programs.append(hear)
    try:
        yield
    finally:
        _programs.remove(hear)


def note_interruption(where: str) -> None:
    """Remember where in a file Ctrl-C came while it was loaded: the core makes a mistake of it."""
    _interrupted.append(where)


def raise_interruption() -> None:
    """Raise `KeyboardInterrupt` if it came while a file was loaded."""
    if _interrupted:
        raise KeyboardInterrupt


def interrupted_at() -> str:
    """Where in a file it came; empty where it did not."""
    return _interrupted[-1] if _interrupted else ""
