"""Controllers whose functions are compiled: by numba, or by anything else that gives addresses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from pathweave.controller.base import BaseController, declared

if TYPE_CHECKING:
    from collections.abc import Mapping

PATH = np.dtype(
    [
        ("window", np.float64),
        ("ssthresh", np.float64),
        ("minimum_window", np.float64),
        ("loss_limit", np.float64),
        ("smoothed_rtt", np.uint64),
        ("minimum_rtt", np.uint64),
        ("latest_rtt", np.uint64),
        ("sent", np.uint64),
        ("acked", np.uint64),
        ("packet_bytes", np.uint64),
        ("in_flight", np.uint32),
        ("slow_start_limit", np.uint32),
        ("state", np.uint8),
        ("in_recovery", np.uint8),
        ("growth_by_marked_acks", np.uint8),
        ("may_send", np.uint8),
        ("reserved", np.uint8, (4,)),
    ]
)
"""`pathweave_path` of the C header, 96 bytes."""

ACK = np.dtype(
    [
        ("now", np.uint64),
        ("rtt", np.uint64),
        ("packets", np.uint32),
        ("ce", np.uint32),
        ("recovery", np.uint8),
        ("window_limited", np.uint8),
        ("reserved", np.uint8, (6,)),
    ]
)
"""`pathweave_ack` of the C header, 32 bytes."""

CONNECTION = np.dtype(
    [
        ("paths", np.uint64),
        ("count", np.uint32),
        ("flow", np.uint32),
        ("parameters", np.uint64),
        ("state", np.uint64),
        ("subflows", np.uint64),
    ]
)
"""`pathweave_connection` of the C header, 40 bytes: pointers are addresses."""

OPENING, ACTIVE, STANDBY, PATH_FAILED, PATH_CLOSED = range(5)
"""The states of a path."""
FAST_RETRANSMIT, TIMEOUT = range(2)
"""The losses."""
OPENED, STOOD_BY, FAILED, RECOVERED, CLOSED = range(5)
"""The changes."""

NOTHING = np.dtype([])
"""State of no bytes."""


class CompiledController(BaseController):
    """A controller whose functions are compiled and run without the interpreter.

    It declares itself and its parameters as a `Controller` does. Its functions are static methods
    that numba compiles (`pip install pathweave[numba]`):

    ```python
    @staticmethod
    def on_ack(paths, r, ack, subflows, state, parameters): ...
    @staticmethod
    def on_loss(paths, r, loss, now, subflows, state, parameters): ...
    @staticmethod
    def on_subflow(paths, r, change, subflows, state, parameters): ...
    ```

    `paths` is an array of records `PATH` and `ack` a record `ACK`: `paths[r].window`.
    `subflows[r]` is the state of a subflow, a record of the class's `subflow`; `state` that of the
    connection, of the class's `state`. Both are zero at first. `parameters` is a record with the
    parameters as numbers, of which a choice is the number of its word. Divisions by zero give
    infinities, which end the run when they come into a window; an exception ends it, too,
    without its text.

    In place of such a function, a class can have anything with an attribute `address` (what
    `numba.cfunc` gives), a function of ctypes, or the address itself, with the signature that
    `pathweave_controller.h` has.
    """

    subflow: ClassVar[np.dtype[Any]] = NOTHING
    """The state of a subflow."""
    state: ClassVar[np.dtype[Any]] = NOTHING
    """The state of a connection."""
    kept_functions: ClassVar[Mapping[str, Any]]
    """What has been compiled: it lives as long as the class."""


def parameter_record(cls: type[CompiledController]) -> np.dtype[Any]:
    """The parameters of a class as functions get them."""
    return np.dtype([(parameter.name, np.float64) for parameter in declared(cls)])
