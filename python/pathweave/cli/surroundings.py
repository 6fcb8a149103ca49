"""What a process can be given that no verb copes with: said in a line before anything is begun."""

from __future__ import annotations

import os
import resource
import sys
from pathlib import Path
from typing import Final

from pathweave.errors import PathweaveError
from pathweave.reading import require_utf8

_MEBIBYTE: Final = 1 << 20
_LEAST: Final = 1536 * _MEBIBYTE
"""Addresses that the libraries take, most of which are never used."""
_LEAST_BY_CORE: Final = 256 * _MEBIBYTE
"""The same of their threads on each core."""
_LIGHT: Final = ("init", "check", "list", "explain", "schema", "kernel")
"""Verbs that load none of these libraries."""


def check_surroundings() -> None:
    """Raise `PathweaveError` for a command line or a limit that would end in a traceback or worse.

    Libraries abort the process, or wait for ever, where their threads get no addresses.
    """
    for argument in sys.argv[1:]:
        require_utf8(Path(argument))
    verb = next((each for each in sys.argv[1:] if not each.startswith("-")), "init")
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    needed = _LEAST + _LEAST_BY_CORE * len(os.sched_getaffinity(0))
    if verb not in _LIGHT and limit != resource.RLIM_INFINITY and limit < needed:
        raise PathweaveError(
            f"the address space is limited to {limit // _MEBIBYTE} MiB (ulimit -v), and"
            f" {needed // _MEBIBYTE} MiB are needed here: raise the limit, or limit memory by other"
            " means, such as a control group"
        )
