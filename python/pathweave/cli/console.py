"""Where the command line prints: results to stdout, progress and errors to stderr."""

from __future__ import annotations

import json
import sys

from rich.console import Console

PIPE_WIDTH = 80
"""Columns of output that no terminal shows."""
MAX_WIDTH = 110
"""Columns that tables use at most, however wide the terminal."""


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


def print_json(value: object) -> None:
    """Print `value` to stdout as JSON; characters beyond ASCII stand as they are."""
    sys.stdout.write(json.dumps(value, indent=1, ensure_ascii=False) + "\n")
