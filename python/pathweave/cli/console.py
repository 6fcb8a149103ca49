"""Where the command line prints: results to stdout, progress and errors to stderr."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from rich.console import Console
from rich.segment import Segment
from rich.text import Text

from pathweave.shown import json_escaped, message, visible

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import ConsoleOptions, RenderableType

PIPE_WIDTH = 80
"""Columns of output that no terminal shows."""
MAX_WIDTH = 110
"""Columns that tables use at most, however wide the terminal."""


SCHEMA = 1
"""Version of the JSON documents: it grows when a key changes its meaning or goes."""


class VisibleConsole(Console):
    """A console that shows what would act on the terminal, or turn a line round, as escapes."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """The segments of `renderable`, as they may be shown."""
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                yield Segment(visible(segment.text), segment.style)


def output() -> Console:
    """The console for results."""
    return _console(stderr=False)


def messages() -> Console:
    """The console for progress, notes and errors."""
    return _console(stderr=True)


def _console(*, stderr: bool) -> Console:
    # Names from scenarios, folders and files are printed, and no text of ours has markup.
    console = VisibleConsole(stderr=stderr, highlight=False, soft_wrap=False, markup=False)
    if not console.is_terminal:
        console.width = PIPE_WIDTH
    elif console.width > MAX_WIDTH:
        console.width = MAX_WIDTH
    return console


def say(console: Console, text: str | Text) -> None:
    """Print a message: folded to a terminal's width, in one line where no terminal shows it.

    The end of one that is too long is left out, with a note.
    """
    text = _message(text)
    if console.is_terminal:
        console.print(text, markup=False, overflow="fold")
    else:  # programs and people with editors read it
        console.print(text, markup=False, soft_wrap=True)


def say_error(text: str, hint: str = "") -> None:
    """Say what went wrong, and what would help."""
    console = messages()
    say(console, Text.assemble(("error: ", "bold red"), text))
    if hint:
        say(console, Text(f"  help: {hint}"))


def _message(text: str | Text) -> str | Text:
    """The message as it may be printed, with its styles where it is not too long."""
    plain = text if isinstance(text, str) else text.plain
    shown = message(plain)
    if shown == plain:
        return text
    return shown if isinstance(text, str) else Text(shown, text.style)


def print_json(value: object) -> None:
    """Print `value` to stdout as JSON; characters beyond ASCII stand as they are.

    Numbers that are not finite, which have no JSON, become null. An object begins with the version
    of its keys, `schema`.
    """
    from pathweave.results.jsonfile import finite

    if isinstance(value, dict):
        value = {"schema": SCHEMA, **value}
    text = json.dumps(finite(value), indent=1, ensure_ascii=False, allow_nan=False)
    sys.stdout.write(json_escaped(text) + "\n")
