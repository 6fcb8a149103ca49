"""Commands that execute controllers in files do so in a child process, which this one watches.

A controller can end its process, crash it, never return or leave processes behind. The command
begins as it always does; when the first such file is about to be executed, it starts again in a
child, and this process waits for that. It is a failsafe against mistakes, no isolation: the child
has all rights of the user.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

from pathweave.running import line
from pathweave.running.loaded import listening

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_given = b""


def remember_stdin(text: str) -> None:
    """Keep what has been read from standard input: a child has to read it again."""
    global _given  # noqa: PLW0603 - there is one standard input
    _given = text.encode()


@contextmanager
def apart() -> Iterator[None]:
    """Within the context controllers in files are executed in a child, or this process is one."""
    descriptor = line.attach()
    if descriptor is None:
        with listening(_go_on_in_a_child):
            yield
        return
    _end_with_parent()
    import faulthandler

    # Works even where the interpreter is held for ever.
    faulthandler.register(signal.SIGUSR1, file=descriptor, all_threads=True)
    status: object = 1
    try:
        with listening(line.say_loaded):
            yield
        status = 0
    except SystemExit as end:
        status = 0 if end.code is None else end.code
        raise
    finally:
        # Whatever does not end from here on is not waited for.
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(AttributeError, OSError, ValueError):
                stream.flush()
        line.say_done(status if isinstance(status, int) else 1)


def _end_with_parent() -> None:
    """Let the kernel end this process when the one that watches it is killed."""
    if sys.platform == "linux":
        import ctypes

        set_parent_death_signal = 1
        ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL)


def _go_on_in_a_child(_path: Path, _content: bytes) -> None:
    """Start the command again in a child; this process ends as the child does."""
    if threading.current_thread() is not threading.main_thread():
        return  # signals come to the main thread alone, so others cannot watch
    # What called this cannot go on, and an exception would be taken for a mistake in the file.
    from pathweave.cli.watched import Child

    _leave(Child(_given).status())


def _leave(status: int) -> NoReturn:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, OSError, ValueError):
            stream.flush()
    os._exit(status)
