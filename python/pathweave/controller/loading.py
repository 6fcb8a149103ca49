"""Loads a class of controllers from a Python file, when the core asks for one."""

from __future__ import annotations

import linecache
import sys
import traceback
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any

from pathweave.controller.base import BaseController, Controller, Paths
from pathweave.controller.declaration import DeclarationError, Declared, read
from pathweave.controller.refused import refuse_calls
from pathweave.running.loaded import note_interruption, tell
from pathweave.running.under_way import remember

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pathweave.controller.compiling import Compiled


@dataclass(frozen=True)
class Loaded(Declared):
    """A class, what it declares, and what the core needs to call its objects."""

    class_: type[BaseController]
    paths: type[Paths]
    describe: Callable[[BaseException], str]
    """Says what an exception is and where in the file it came from."""
    shown: str
    """What messages call the class."""
    compiled: Compiled | None
    """Where its functions are, if they are compiled."""


def load(path: Path, shown: str, content: bytes, name: str | None) -> Loaded:
    """Load the class `name` from a file with this content.

    `shown` is what messages call the file. Raises `DeclarationError` for what is wrong with it.
    """
    try:
        return _loaded(path, shown, content, name)
    except KeyboardInterrupt as error:
        # No mistake of the file, but the core knows nothing else.
        where = described(path, shown, error).removesuffix(": KeyboardInterrupt")
        note_interruption(where)
        raise DeclarationError(f"{where}: interrupted") from error


def _loaded(path: Path, shown: str, content: bytes, name: str | None) -> Loaded:
    tell(path, content)
    remember(path, shown)
    refuse_calls()
    linecache.checkcache(str(path))
    with _module(path) as module:
        _run(module, path, shown, content)
        cls = _find(module, shown, name)
        describe = partial(described, path, shown)
        compiled = None
        if issubclass(cls, Controller):
            found = read(cls, shown)
            _try(cls, describe)
        else:
            # numpy and numba are loaded by those alone that need them.
            from pathweave.controller.compiled import CompiledController
            from pathweave.controller.compiling import compile_functions

            if not issubclass(cls, CompiledController):
                raise DeclarationError(
                    f"{shown}: {name or cls.__name__} is not a controller; "
                    "a controller is a class that derives from Controller or CompiledController"
                )
            found = read(cls, shown, {})
            compiled = compile_functions(cls, shown)
    return Loaded(
        **vars(found),
        class_=cls,
        paths=Paths,
        describe=describe,
        shown=f"{shown}: {cls.__name__}",
        compiled=compiled,
    )


def _try(cls: type[BaseController], describe: Callable[[BaseException], str]) -> None:
    """Make an object; raises `DeclarationError` where that fails."""
    try:
        cls()
    except (Exception, SystemExit) as error:
        where = describe(error)
        raise DeclarationError(
            f"{where} (raised when an object was made without parameters)"
        ) from error


def described(path: Path, shown: str, error: BaseException) -> str:
    """What an exception says, and the last line of the file that led to it."""
    exception = traceback.TracebackException.from_exception(error)
    # Notes follow the line that names the exception. pyo3 adds one with the argument's name.
    notes, exception.__notes__ = exception.__notes__, None
    what = "".join(exception.format_exception_only()).strip().splitlines()[-1]
    if isinstance(notes, list):
        what += "".join(f" ({note})" for note in notes)
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename == str(path)]
    if own:
        return f"{shown}, line {own[-1].lineno}, in {own[-1].name}: {what}"
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return f"{shown}, line {error.lineno}: {type(error).__name__}: {error.msg}"
    return f"{shown}: {what}"


@contextmanager
def _module(path: Path) -> Iterator[ModuleType]:
    """An empty module for a file: its own, however often and by whatever scenario it is loaded.

    Others find it under its name within the context alone; then it lives as long as its classes.
    """
    module = ModuleType(f"pathweave.controller.loaded.{path.stem}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module
    try:
        yield module
    finally:
        sys.modules.pop(module.__name__, None)


def _run(module: ModuleType, path: Path, shown: str, content: bytes) -> None:
    try:
        exec(compile(content, str(path), "exec"), vars(module))  # noqa: S102 - the user's own file
    except (Exception, SystemExit) as error:  # the file ends itself, not the command
        raise DeclarationError(described(path, shown, error)) from error


def _find(module: ModuleType, shown: str, name: str | None) -> type[BaseController]:
    own = {
        key: value
        for key, value in vars(module).items()
        if isinstance(value, type)
        and issubclass(value, BaseController)
        and value.__module__ == module.__name__
    }
    if name is None:
        if len(own) == 1:
            return next(iter(own.values()))
        raise DeclarationError(f"{shown} has {_count(own)}; {_write(shown, own)}")
    if name in own:
        return own[name]
    value: Any = getattr(module, name, None)
    if isinstance(value, type) and issubclass(value, BaseController):
        return value
    if value is not None:
        raise DeclarationError(
            f"{shown}: {name} is not a controller; a controller is a class that derives from "
            "pathweave.controller.Controller"
        )
    raise DeclarationError(f"{shown} has no class {name}; {_write(shown, own)}")


def _count(own: dict[str, type[BaseController]]) -> str:
    return "no class of controllers" if not own else f"{len(own)} classes of controllers"


def _write(shown: str, own: dict[str, type[BaseController]]) -> str:
    if not own:
        return "a controller is a class that derives from pathweave.controller.Controller"
    names = [f'"{shown}:{name}"' for name in own]
    return f"write {' or '.join(names)}"
