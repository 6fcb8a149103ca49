"""Exit codes, and errors that a user can mend in one line instead of a traceback.

0  done
2  wrong input: the command line, a scenario (or one that the testbed cannot play), a folder
   without results
1  anything else: a run failed, a disk was full, or it was interrupted (a second Ctrl-C ends the
   process by the signal itself, which a shell shows as 130)
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import NoReturn

from pathweave.errors import InputError, PathweaveError, ScenarioError

DONE = 0
FAILED = 1
WRONG_INPUT = 2


def guarded(call: Callable[[], object]) -> NoReturn:
    """Run the command line; leave with the exit code that its end calls for."""
    _tolerate_encodings()
    try:
        call()
    except ScenarioError as error:
        # Laid out already: file, line, column, the offending text, what would be accepted.
        sys.stderr.write(str(error).rstrip("\n") + "\n")
        sys.exit(WRONG_INPUT)
    except InputError as error:
        _say(str(error))
        sys.exit(WRONG_INPUT)
    except PathweaveError as error:
        _say(str(error))
        sys.exit(FAILED)
    except BrokenPipeError:
        _close_quietly()
        sys.exit(FAILED)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        _say(f"{where}{error.strerror or error}")
        sys.exit(FAILED)
    except MemoryError:
        _say("out of memory")
        sys.exit(FAILED)
    except KeyboardInterrupt:
        _say("interrupted")
        sys.exit(FAILED)
    sys.exit(DONE)


def _say(message: str) -> None:
    from rich.text import Text

    from pathweave.cli.console import messages

    messages().print(Text.assemble(("error: ", "bold red"), message), overflow="fold")


def _tolerate_encodings() -> None:
    """Let a stream that cannot show a character show a question mark, not fail."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")


def _close_quietly() -> None:
    """Whoever read our output has gone: do not complain again when Python flushes it."""
    import os

    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
