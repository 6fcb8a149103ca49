"""Controllers of one's own: a class in one Python file that a scenario names.

```toml
[[traffic]]
controller = { python = "mine.py:MyController", gain = 0.5 }
```

The class derives from `Controller`. docs/python-controllers.md has a complete one and says what the
transport promises, how fast it is, and what is faster.
"""

from __future__ import annotations

from pathlib import Path as _File

from pathweave._core import (
    Ack,
    OncePerRound,
    Path,
    Round,
    cut_to,
    cut_within,
    respond_to_loss,
    slow_start,
    slow_start_by,
)
from pathweave.controller.base import Change, Controller, Loss, Paths, PerSubflow
from pathweave.controller.declaration import DeclarationError
from pathweave.controller.parameter import Parameter

__all__ = [
    "NO_RTT",
    "SECOND",
    "Ack",
    "Change",
    "Controller",
    "DeclarationError",
    "Loss",
    "OncePerRound",
    "Parameter",
    "Path",
    "Paths",
    "PerSubflow",
    "Round",
    "cut_to",
    "cut_within",
    "header",
    "include",
    "respond_to_loss",
    "slow_start",
    "slow_start_by",
]

SECOND = 10**12
"""Picoseconds in a second: times are whole picoseconds."""
NO_RTT = 2**64 - 1
"""`Path.minimum_rtt` before the first sample."""


def include() -> _File:
    """Folder of the C header, for `cc -I`."""
    return _File(__file__).parent / "include"


def header() -> _File:
    """The C header, which describes the interface of shared libraries and compiled functions."""
    return include() / "pathweave_controller.h"
