"""The scenario of a command line: a file, or standard input."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pathweave.cli.apart import remember_stdin
from pathweave.cli.controllers import named
from pathweave.errors import InputError
from pathweave.reading import read_stream
from pathweave.running.session import open_session
from pathweave.running.texts import STDIN, open_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from pathweave.running.session import Request, Session

DEFAULT_NAME = "stdin"


def open_scenario(request: Request, name: str | None) -> Session:
    """Read the request's scenario; a path "-" is standard input, whose results are under `name`.

    Raises `InputError` for a file that is not there, or a name where there is one, and
    `ScenarioError` for a mistake in the scenario.
    """
    if request.path != STDIN:
        if name is not None:
            raise InputError("--name is for a scenario from standard input; a file has its own")
        return _said(request.path.parent, lambda: open_session(request))
    text = read_stream(sys.stdin.buffer, "standard input")
    remember_stdin(text)
    return _said(Path(), lambda: open_text(request, text, name or DEFAULT_NAME))


def _said(folder: Path, opened: Callable[[], Session]) -> Session:
    """The session, with what controllers it loads from files of `folder` on standard error."""
    with named() as said:
        session = opened()
        said.say_all(session.plan.scenario.variants, folder)
    return session
