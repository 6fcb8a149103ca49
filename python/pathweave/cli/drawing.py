"""Progress of a report: a line that changes on a terminal, lines now and then elsewhere."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Self

from pathweave.cli.console import say
from pathweave.report.steps import Steps
from pathweave.results.units import duration

if TYPE_CHECKING:
    from types import TracebackType

    from rich.console import Console

QUIET_S = 3.0
"""Seconds in which nothing is said where lines stay: most reports are done by then."""
LINE_EVERY_S = 10.0
"""Seconds between two lines that stay."""
_SURE = 3
"""Charts from which on the rest can be guessed."""


class _Telling(Steps):
    """Puts into words how far a report is."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self._first: float | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        return None

    def reading(self, heading: str, place: int, scenarios: int) -> None:
        """The results of a scenario are read."""
        many = f" ({place} of {scenarios})" if scenarios > 1 else ""
        self._tell(f"reading {heading}{many}")

    def drawn(self, done: int, charts: int) -> None:
        """Some of the charts are drawn and written."""
        now = time.monotonic()
        if self._first is None:
            self._first = now
        text = f"charts {done} of {charts}"
        if done >= _SURE:
            left = (now - self._first) / done * (charts - done)
            text += f", about {duration(left)} of wall time left"
        self._tell(text)

    def _tell(self, text: str) -> None:
        raise NotImplementedError


class Changing(_Telling):
    """One line, which goes away when the report is there."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self._status = console.status("reading")

    def __enter__(self) -> Self:
        self._status.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._status.stop()

    def _tell(self, text: str) -> None:
        from rich.text import Text

        self._status.update(Text(text))


class Staying(_Telling):
    """A line now and then, when a report takes long."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self._next = time.monotonic() + QUIET_S

    def _tell(self, text: str) -> None:
        now = time.monotonic()
        if now >= self._next:
            self._next = now + LINE_EVERY_S
            say(self.console, text)


def watch(console: Console) -> _Telling:
    """The kind of progress that suits the console."""
    return (Changing if console.is_terminal else Staying)(console)
