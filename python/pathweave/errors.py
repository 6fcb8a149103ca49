"""Errors that a user can mend; the command line shows them in one line, without a traceback."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pathweave.shown import message, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pathweave._core import Mistake


class PathweaveError(Exception):
    """Something outside the program went wrong: a disk, a tool, a run that failed."""

    def _render_traceback_(self) -> list[str]:
        """What IPython shows in place of a traceback: where it was found out does not help."""
        return [message(f"{type(self).__name__}: {self}".rstrip())]


class InputError(PathweaveError, ValueError):
    """What was asked for cannot be: a wrong option, a folder without results, a bad file."""


class ScenarioError(InputError):
    """A mistake in a scenario; the message is laid out with file, line, column and a hint."""

    mistakes: Sequence[Mistake] = ()
    """The mistakes one by one, where whoever raised it has them apart."""

    def in_one_line(self) -> str:
        """The first mistake with its place and what would be right, and how many more there are."""
        if not self.mistakes:
            lines = str(self).strip().splitlines()
            return lines[0].strip() if lines else "the scenario has a mistake"
        first = self.mistakes[0]
        hint = f"; {first['help']}" if first["help"] else ""
        more = f" (and {len(self.mistakes) - 1} more)" if len(self.mistakes) > 1 else ""
        place = f"{first['file']}:{first['line']}:{first['column']}"
        return f"{place}: {first['message']}{hint}{more}"

    def _render_traceback_(self) -> list[str]:
        """The message alone, on lines of its own."""
        return [f"{type(self).__name__}:", visible(str(self).rstrip())]


class OptimumError(PathweaveError):
    """No solver found an allocation that can be trusted."""
