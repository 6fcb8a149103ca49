"""Errors that a user can mend; the command line shows them in one line, without a traceback."""

from __future__ import annotations


class PathweaveError(Exception):
    """Something outside the program went wrong: a disk, a tool, a run that failed."""


class InputError(PathweaveError, ValueError):
    """What was asked for cannot be: a wrong option, a folder without results, a bad file."""


class ScenarioError(InputError):
    """A mistake in a scenario; the message is laid out with file, line, column and a hint."""


class OptimumError(PathweaveError):
    """No solver found an allocation that can be trusted."""
