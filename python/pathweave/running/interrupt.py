"""Ctrl-C: the first asks for a clean end, the second ends the process at once."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self

from pathweave.running.line import say_heard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType, TracebackType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupt:
    """A flag that SIGINT and SIGTERM raise while the context lasts.

    Works in the main thread only; elsewhere (a notebook's worker) the flag stays down and signals
    keep their usual meaning. `before_kill` runs before a second signal ends the process: the place
    to give a terminal its cursor back.
    """

    def __init__(self, before_kill: Callable[[], None] | None = None) -> None:
        self._before_kill = before_kill
        self._previous: dict[signal.Signals, object] = {}
        self._raised = False

    @property
    def raised(self) -> bool:
        """Whether an end has been asked for."""
        return self._raised

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in _SIGNALS:
                self._previous[number] = signal.signal(number, self._receive)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)  # pyright: ignore[reportArgumentType]
        self._previous.clear()

    def _receive(self, number: int, _frame: FrameType | None) -> None:
        if self._raised:
            if self._before_kill is not None:
                self._before_kill()
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        self._raised = True
        say_heard()


@contextmanager
def ended_at_once() -> Iterator[None]:
    """Within the context SIGINT and SIGTERM end the process, where all that matters is done."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = {number: signal.signal(number, signal.SIG_DFL) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
