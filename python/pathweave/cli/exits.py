"""Exit codes, and errors that a user can mend in one line instead of a traceback.

0  done
2  wrong input: the command line, a scenario (or one that the testbed cannot play), a folder
   without results
1  anything else: a run failed, a disk was full, or it was interrupted (a second Ctrl-C ends the
   process by the signal itself, which a shell shows as 130); `compare` found that something moved,
   or `check --strict` something to warn of
141  whoever read the output had enough (`| head`); a shell shows the same for SIGPIPE

Whatever the code, no file is left half written.
"""

from __future__ import annotations

import re
import signal
import sys
from collections.abc import Callable
from typing import Any, NoReturn, cast

import typer

from pathweave.cli.surroundings import check_surroundings
from pathweave.errors import InputError, PathweaveError, ScenarioError
from pathweave.running import line, under_way
from pathweave.running.loaded import interrupted_at
from pathweave.shown import cut, message

DONE = 0
FAILED = 1
WRONG_INPUT = 2
READER_GONE = 141

_MOST = 32_768
"""Characters of a scenario's mistakes that are shown: it can have many."""
_UsageError: type[Exception] = typer.BadParameter.__mro__[2]
"""What Typer raises for a wrong command line: ClickException, of whichever Click it has."""
_INTERRUPTED = 130
"""What Typer makes of a KeyboardInterrupt."""
_OURS = (
    (r"Input should be greater than or equal to (\S+)", r"it must be at least \1"),
    (r"Input should be greater than (\S+)", r"it must be greater than \1"),
    (r"Input should be less than or equal to (\S+)", r"it must be at most \1"),
    (r"Input should be less than (\S+)", r"it must be less than \1"),
    (r"Input should be a valid integer\b.*", r"it must be a whole number"),
    (r"Input should be a valid number\b.*", r"it must be a number"),
)
"""What the library that reads options says of their values, and what we say."""


def guarded(call: Callable[[], object]) -> NoReturn:
    """Run the command line; leave with the exit code that its end calls for."""
    _tolerate_encodings()
    try:
        _take_over_ctrl_c()
        check_surroundings()
        code = call()
    except ScenarioError as error:
        # Laid out already: the mistake, file, line, column, the text, what would be accepted.
        sys.stderr.write(_as_errors(str(error)) + "\n")
        sys.exit(WRONG_INPUT)
    except _UsageError as error:
        sys.exit(_refuse(cast("Any", error)))
    except InputError as error:
        _say(str(error))
        sys.exit(WRONG_INPUT)
    except PathweaveError as error:
        _say(str(error))
        sys.exit(FAILED)
    except BrokenPipeError:
        _close_quietly()
        sys.exit(READER_GONE)
    except SystemExit as end:
        # Libraries that print for us leave with 1 then, which means something else here.
        if isinstance(end.__context__, BrokenPipeError):
            sys.exit(READER_GONE)
        raise
    except Exception as error:  # noqa: BLE001 - what is not known goes on
        _leave_for(error)
    except (KeyboardInterrupt, typer.Abort):
        code = _INTERRUPTED
    if code == _INTERRUPTED:
        where = interrupted_at() or "; ".join(under_way.lines())
        text = f"interrupted: {where} had not returned" if where else "interrupted"
        if not line.say_error(text, FAILED):
            _say(text)
        code = FAILED
    sys.exit(code if isinstance(code, int) else DONE)


def _leave_for(error: Exception) -> NoReturn:
    """Leave with what went wrong outside of the program; a fault of its own goes on."""
    known = _outside(error)
    if known is None:
        raise error
    text, code = known
    _say(text)
    sys.exit(code)


def _take_over_ctrl_c() -> None:
    """From now on Ctrl-C is an error in a line; until now it ended the process: see `__main__`."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _outside(error: Exception) -> tuple[str, int] | None:
    """What went wrong outside of the program, in words, and the exit code for it.

    None for a fault of the program itself.
    """
    if isinstance(error, MemoryError):
        return "out of memory", FAILED
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror or error}", FAILED
    if type(error).__module__.startswith("polars"):  # no column is as ours are
        return f"a table of results cannot be used: {error}", FAILED
    if not isinstance(error, UnicodeEncodeError):
        return None
    # The name of a file, which Python has as it is: texts of ours can be encoded.
    name = error.object.encode(errors="surrogateescape").decode(errors="backslashreplace")
    return f"{name} is not UTF-8, which names of files must be: rename it", WRONG_INPUT


def _say(text: str, hint: str = "") -> None:
    from pathweave.cli.console import say_error  # it takes time that most commands need not spend

    say_error(text, hint)


def _refuse(error: Any) -> int:
    """Say what is wrong with a command line; the exit code for it."""
    if type(error).__name__ == "NoArgsIsHelpError":  # a verb is missing: the help has them
        error.show()
        return WRONG_INPUT
    message = error.format_message().replace("Value error, ", "").strip()
    message = re.sub(r"\s*\n\s*", " ", message)
    for theirs, ours in _OURS:
        message = re.sub(theirs, ours, message)
    # As all other errors are written: no capital, no full stop.
    message = message[:1].lower() + message[1:].removesuffix(".")
    context = getattr(error, "ctx", None)
    _say(message, f"{context.command_path} --help" if context is not None else "")
    return WRONG_INPUT


def _as_errors(text: str) -> str:
    """A scenario's mistakes as the core lays them out, begun as all other errors are."""
    lines: list[str] = []
    in_message = False
    for each in text.rstrip("\n").splitlines():
        begun = each.removeprefix("  × ")
        if begun != each:
            in_message = True
            lines.append(f"error: {begun}")
        elif in_message and each.startswith("  │ "):
            lines.append(f"       {each.removeprefix('  │ ')}")
        else:
            in_message = False
            lines.append(each)
    return cut("\n".join(map(message, lines)), _MOST)


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
