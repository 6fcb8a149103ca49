"""Compiles the functions of a class of controllers, where they are not compiled yet."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pathweave.controller.declaration import DeclarationError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pathweave.controller.compiled import CompiledController

FUNCTIONS = ("on_ack", "on_loss", "on_subflow")


@dataclass(frozen=True)
class Compiled:
    """Where the functions of a class are, and how many bytes of state they have."""

    on_ack: int
    on_loss: int
    on_subflow: int
    state_size: int
    subflow_size: int


def compile_functions(cls: type[CompiledController], shown: str) -> Compiled:
    """Compile the functions of `cls`; the class keeps them. `shown` is what messages call its file.

    Raises `DeclarationError` for what cannot be compiled.
    """
    for key in ("subflow", "state"):
        kind = getattr(cls, key)
        if not isinstance(kind, np.dtype) or kind.hasobject or kind.names is None:
            raise DeclarationError(
                f"{shown}: {cls.__name__} has {key} = {kind!r}; {key} is a numpy.dtype of fields"
            )
    kept: Mapping[str, Any] = {
        name: _function(cls, name, shown) for name in FUNCTIONS if hasattr(cls, name)
    }
    missing = [name for name in FUNCTIONS if name not in kept]
    if missing:
        raise DeclarationError(
            f"{shown}: {cls.__name__} has no {missing[0]}; "
            f"a CompiledController has {', '.join(FUNCTIONS)}"
        )
    cls.kept_functions = kept
    return Compiled(
        **{name: _address(function) for name, function in kept.items()},
        state_size=cls.state.itemsize,
        subflow_size=cls.subflow.itemsize,
    )


def _function(cls: type[CompiledController], name: str, shown: str) -> Any:
    found = getattr(cls, name)
    if isinstance(found, int) or hasattr(found, "address") or isinstance(found, _C_FUNCTION):
        return found
    try:
        from pathweave.controller import jit
    except ImportError as error:
        raise DeclarationError(
            f"{shown}: {cls.__name__}.{name} needs numba to be compiled ({error}); "
            "pip install pathweave[numba], or give the address of a compiled function"
        ) from error
    return jit.function(cls, name, found, shown)


_C_FUNCTION = type(ctypes.CFUNCTYPE(None)()).__mro__[1]


def _address(function: Any) -> int:
    if isinstance(function, int):
        return function
    if hasattr(function, "address"):
        return int(function.address)
    return ctypes.cast(function, ctypes.c_void_p).value or 0
