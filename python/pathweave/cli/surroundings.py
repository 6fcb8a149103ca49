"""What a process can be given that no verb copes with: said in a line before anything is begun."""

from __future__ import annotations

import os
import resource
import sys
from pathlib import Path
from typing import Final, NamedTuple

from pathweave.errors import PathweaveError
from pathweave.reading import require_utf8

_MEBIBYTE: Final = 1 << 20


class _Need(NamedTuple):
    """What the libraries need of a limited resource."""

    resource: int
    name: str
    option: str
    """The option of `ulimit` that limits it."""
    least: int
    by_core: int
    """More for their threads, for each core."""


_NEEDS: Final = (
    # Most of these addresses are never used.
    _Need(resource.RLIMIT_AS, "the address space", "-v", 1536 * _MEBIBYTE, 256 * _MEBIBYTE),
    _Need(resource.RLIMIT_DATA, "the data segment", "-d", 512 * _MEBIBYTE, 128 * _MEBIBYTE),
)
_LIGHT: Final = ("init", "check", "list", "explain", "schema", "kernel")
"""Verbs that load none of these libraries."""


def check_surroundings() -> None:
    """Raise `PathweaveError` for a command line or a limit that would end in a traceback or worse.

    Libraries abort the process, or wait for ever, where their threads get no addresses.
    """
    for argument in sys.argv[1:]:
        require_utf8(Path(argument))
    verb = next((each for each in sys.argv[1:] if not each.startswith("-")), "init")
    if verb in _LIGHT:
        return
    for need in _NEEDS:
        limit, _ = resource.getrlimit(need.resource)
        needed = need.least + need.by_core * len(os.sched_getaffinity(0))
        if limit != resource.RLIM_INFINITY and limit < needed:
            raise PathweaveError(
                f"{need.name} is limited to {limit // _MEBIBYTE} MiB (ulimit {need.option}), and"
                f" {needed // _MEBIBYTE} MiB are needed here: raise the limit, or limit memory by"
                " other means, such as a control group"
            )
