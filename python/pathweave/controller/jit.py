"""Functions of controllers compiled by numba, and what controllers share, for use in them.

`from pathweave.controller.jit import slow_start, ...` in the file of a `CompiledController`.
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
from numba import carray, types  # pyright: ignore[reportPrivateImportUsage]
from numba.core.errors import NumbaError
from numba.extending import intrinsic, register_jitable

from pathweave.controller.compiled import (
    ACK,
    ACTIVE,
    CONNECTION,
    FAST_RETRANSMIT,
    PATH,
    CompiledController,
    parameter_record,
)
from pathweave.controller.declaration import DeclarationError

__all__ = [
    "ONCE_PER_ROUND",
    "cut_on_loss",
    "cut_on_mark",
    "cut_to",
    "cut_within",
    "has_rtt",
    "in_slow_start",
    "is_active",
    "lets_window_grow",
    "may_cut",
    "may_grow_by",
    "packets_per_second",
    "respond_to_loss",
    "round_is_over",
    "rtt_seconds",
    "slow_start",
]

ONCE_PER_ROUND = np.dtype(
    [("end", np.uint64), ("window_before", np.float64), ("has_cut", np.uint64)]
)
"""Remembers a subflow's last cut; zero: nothing has been cut yet."""


@register_jitable
def is_active(path):  # noqa: D103
    return path.state == ACTIVE


@register_jitable
def has_rtt(path):  # noqa: D103
    return path.smoothed_rtt > 0


@register_jitable
def rtt_seconds(path):  # noqa: D103
    return np.float64(path.smoothed_rtt) / 1e12


@register_jitable
def packets_per_second(path):  # noqa: D103
    return path.window / rtt_seconds(path) if has_rtt(path) else 0.0


@register_jitable
def in_slow_start(path):  # noqa: D103
    return path.window < path.ssthresh


@register_jitable
def lets_window_grow(ack):  # noqa: D103
    return ack.window_limited != 0 and ack.recovery == 0


@register_jitable
def may_grow_by(path, ack):  # noqa: D103
    return (ack.ce == 0 or path.growth_by_marked_acks != 0) and lets_window_grow(ack)


@register_jitable
def slow_start(path, packets):
    """Grow below ssthresh by a packet for each acknowledged one; how many are left."""
    if not in_slow_start(path):
        return np.int64(packets)
    packets = min(np.int64(packets), np.int64(path.slow_start_limit))
    steps = math.ceil(path.ssthresh - path.window) if path.ssthresh < np.inf else packets
    if steps >= packets:
        path.window += packets
        return np.int64(0)
    path.window += steps
    return np.int64(packets - steps)


@register_jitable
def cut_within(path, window, least):
    """Set ssthresh to `window`, at least `least`, and lower the window to it."""
    path.ssthresh = max(window, least)
    path.window = min(max(path.window, least), path.ssthresh)


@register_jitable
def cut_to(path, window):
    """`cut_within` with the path's minimum window."""
    cut_within(path, window, path.minimum_window)


@register_jitable
def respond_to_loss(path, loss, window):
    """Halve `window` after a fast retransmit; begin from one packet after a timeout."""
    if loss == FAST_RETRANSMIT:
        cut_to(path, window / 2.0)
    else:
        path.ssthresh = max(window / 2.0, 2.0)
        path.window = 1.0


@register_jitable
def round_is_over(end, path):
    """Whether all packets below `end`, `path.sent` when the round began, are acknowledged."""
    return path.acked > end or (path.acked == end and path.acked == path.sent)


@register_jitable
def may_cut(cuts, path):
    """Whether a mark may cut: the round of the last cut is over."""
    return cuts.has_cut == 0 or round_is_over(cuts.end, path)


@register_jitable
def _remember(cuts, path):
    cuts.end = path.sent
    cuts.has_cut = 1
    cuts.window_before = path.window


@register_jitable
def cut_on_mark(cuts, path, share):
    """If the round has not been cut yet, take `share` off the window, and be true."""
    if not may_cut(cuts, path):
        return False
    _remember(cuts, path)
    cut_to(path, path.window * (1.0 - share))
    return True


@register_jitable
def cut_on_loss(cuts, path, loss, share):
    """Take `share` off the window before the round's mark; a timeout is the common one."""
    window = path.window
    if not may_cut(cuts, path):
        window = max(window, min(cuts.window_before, path.loss_limit))
    if loss == FAST_RETRANSMIT:
        cut_to(path, min(window * (1.0 - share), path.window))
    else:
        respond_to_loss(path, loss, window)
    _remember(cuts, path)


def function(cls: type[CompiledController], name: str, python: Any, shown: str) -> Any:
    """Compile one of the functions of `cls` behind the C interface.

    Raises `DeclarationError` with what numba says.
    """
    try:
        return _compiled(cls, name, python)
    except NumbaError as error:
        where = _where(python)
        text = " ".join(str(error).split())
        raise DeclarationError(
            f"{shown}{where}: numba cannot compile {cls.__name__}.{name}: {text[:500]}"
        ) from error


def _where(python: Any) -> str:
    code = getattr(python, "__code__", None)
    return f", line {code.co_firstlineno}" if code is not None else ""


def _compiled(cls: type[CompiledController], name: str, python: Any) -> Any:
    inner = numba.njit(error_model="numpy")(python)
    paths_at = _pointer_to(PATH)
    parameters_at = _pointer_to(_some(parameter_record(cls)))
    state_at = _pointer_to(_some(cls.state))
    subflows_at = _pointer_to(_some(cls.subflow))

    def on_ack(lent, r, told):
        it = carray(lent, 1)[0]
        paths = carray(paths_at(it.paths), it.count)
        subflows = carray(subflows_at(it.subflows), it.count)
        state = carray(state_at(it.state), 1)[0]
        parameters = carray(parameters_at(it.parameters), 1)[0]
        ack = carray(told, 1)[0]
        try:
            inner(paths, r, ack, subflows, state, parameters)
        except Exception:  # noqa: BLE001 - the interface has numbers for exceptions
            return 1
        return 0

    def on_loss(lent, r, loss, now):
        it = carray(lent, 1)[0]
        paths = carray(paths_at(it.paths), it.count)
        subflows = carray(subflows_at(it.subflows), it.count)
        state = carray(state_at(it.state), 1)[0]
        parameters = carray(parameters_at(it.parameters), 1)[0]
        try:
            inner(paths, r, loss, now, subflows, state, parameters)
        except Exception:  # noqa: BLE001 - the interface has numbers for exceptions
            return 1
        return 0

    def on_subflow(lent, r, change):
        it = carray(lent, 1)[0]
        paths = carray(paths_at(it.paths), it.count)
        subflows = carray(subflows_at(it.subflows), it.count)
        state = carray(state_at(it.state), 1)[0]
        parameters = carray(parameters_at(it.parameters), 1)[0]
        try:
            inner(paths, r, change, subflows, state, parameters)
        except Exception:  # noqa: BLE001 - the interface has numbers for exceptions
            return 1
        return 0

    wrappers: dict[str, tuple[Any, tuple[Any, ...]]] = {
        "on_ack": (on_ack, (types.uint32, types.CPointer(numba.from_dtype(ACK)))),
        "on_loss": (on_loss, (types.uint32, types.uint32, types.uint64)),
        "on_subflow": (on_subflow, (types.uint32, types.uint32)),
    }
    wrapper, arguments = wrappers[name]
    connection = types.CPointer(numba.from_dtype(CONNECTION))
    signature = types.int32(connection, *arguments)
    return numba.cfunc(signature, error_model="numpy")(wrapper)


def _some(kind: np.dtype[Any]) -> np.dtype[Any]:
    """The same, or a record of a field that nobody may use where there is none."""
    return kind if kind.names else np.dtype([("nothing", np.uint8)])


def _pointer_to(kind: np.dtype[Any]) -> Any:
    """A compiled function that turns an address into a pointer to records of this kind."""
    pointer = types.CPointer(numba.from_dtype(kind))

    @intrinsic
    def at(typing: Any, address: Any) -> Any:  # noqa: ARG001 - numba's signature
        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))

        return pointer(types.uint64), code

    return at
