"""Where the command line prints: results to stdout, progress and errors to stderr."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from rich.console import Console

if TYPE_CHECKING:
    from rich.text import Text

PIPE_WIDTH = 80
"""Columns of output that no terminal shows."""
MAX_WIDTH = 110
"""Columns that tables use at most, however wide the terminal."""


SCHEMA = 1
"""Version of the JSON documents: it grows when a key changes its meaning or goes."""


def output() -> Console:
    """The console for results."""
    return _console(stderr=False)


def messages() -> Console:
    """The console for progress, notes and errors."""
    return _console(stderr=True)


def _console(*, stderr: bool) -> Console:
    console = Console(stderr=stderr, highlight=False, soft_wrap=False)
    if not console.is_terminal:
        console.width = PIPE_WIDTH
    elif console.width > MAX_WIDTH:
        console.width = MAX_WIDTH
    return console


def say(console: Console, text: str | Text) -> None:
    """Print a message: folded to a terminal's width, in one line where no terminal shows it."""
    if console.is_terminal:
        console.print(text, markup=False, overflow="fold")
    else:  # programs and people with editors read it
        console.print(text, markup=False, soft_wrap=True)


def print_json(value: object) -> None:
    """Print `value` to stdout as JSON; characters beyond ASCII stand as they are.

    Numbers that are not finite, which have no JSON, become null. An object begins with the version
    of its keys, `schema`.
    """
    from pathweave.results.jsonfile import finite

    if isinstance(value, dict):
        value = {"schema": SCHEMA, **value}
    text = json.dumps(finite(value), indent=1, ensure_ascii=False, allow_nan=False)
    sys.stdout.write(text + "\n")
