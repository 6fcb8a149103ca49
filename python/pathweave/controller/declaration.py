"""What a class of controllers declares, checked."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pathweave._core import OncePerRound, Round
from pathweave.controller.base import BaseController, Controller, declared

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


class DeclarationError(Exception):
    """A controller's file that cannot be used; its text says what is wrong, and where."""


RESERVED = ("name", "python", "library", "sha256")
"""Keys of a controller in a scenario that are not its parameters."""

_MUTABLE = (list, dict, set, bytearray, Round, OncePerRound)
"""What changes: it belongs to an object."""

CALLS: Mapping[str, tuple[str, ...]] = {
    "on_ack": ("paths", "r", "ack"),
    "on_loss": ("paths", "r", "loss", "now"),
    "on_subflow": ("paths", "r", "change"),
}
"""The methods of a controller that the interpreter runs, and their arguments."""


@dataclass(frozen=True)
class DeclaredParameter:
    """A parameter as the core takes it. With `choices` the numbers mean nothing."""

    name: str
    help: str
    default: float
    minimum: float
    maximum: float
    integer: bool
    choices: list[str]


@dataclass(frozen=True)
class Declared:
    """What a class says of its controllers."""

    name: str
    summary: str
    source: str
    explanation: str
    coupled: bool
    marks: int | None
    """Marks that an acknowledgement echoes at most; None without ECN."""
    parameters: list[DeclaredParameter]


def read(
    cls: type[BaseController], shown: str, calls: Mapping[str, tuple[str, ...]] = CALLS
) -> Declared:
    """What `cls` declares; `shown` is the file, and it has methods with these arguments.

    Raises `DeclarationError` for what is wrong with it.
    """

    def wrong(text: str, of: object = cls) -> DeclarationError:
        return DeclarationError(f"{shown}{_line(of)}: {cls.__name__} {text}")

    for method, arguments in calls.items():
        own = getattr(cls, method)
        if own is getattr(Controller, method) and method != "on_subflow":
            raise wrong(f"has no {method}; write def {method}(self, {', '.join(arguments)})")
        if not _takes(own, len(arguments) + 1):
            taken = ", ".join(arguments)
            raise wrong(
                f"has {method} without the arguments {taken}; write def {method}(self, {taken})",
                own,
            )
    for key, value in _own_attributes(cls):
        if isinstance(value, _MUTABLE):
            raise wrong(
                f"has {key} = {value!r}, which all connections would share; "
                f"make it in __init__: self.{key} = ..."
            )
    texts = {key: getattr(cls, key) for key in ("name", "summary", "source")}
    for key, text in texts.items():
        if not isinstance(text, str):
            raise wrong(f"has {key} = {text!r}; {key} is a text")
    if not isinstance(cls.coupled, bool):
        raise wrong(f"has coupled = {cls.coupled!r}; coupled is True or False")
    marks = _marks(cls.ecn)
    if marks == 0:
        raise wrong(f'has ecn = {cls.ecn!r}; ecn is "off" or a number from 1 to 255')
    documentation = inspect.cleandoc(cls.__doc__ or "") if "__doc__" in vars(cls) else ""
    first = documentation.split("\n\n", 1)[0].replace("\n", " ")
    return Declared(
        name=texts["name"] or cls.__name__,
        summary=texts["summary"] or first or f"A controller in {shown}.",
        source=texts["source"] or shown,
        explanation=documentation or f"{cls.__name__} in {shown} has no documentation.",
        coupled=cls.coupled,
        marks=marks,
        parameters=[_parameter(parameter, wrong) for parameter in declared(cls)],
    )


def _own_attributes(cls: type[BaseController]) -> Iterator[tuple[str, object]]:
    """What the file's own classes have."""
    for each in cls.__mro__:
        if each.__module__ == cls.__module__:
            yield from ((key, value) for key, value in vars(each).items() if key[:2] != "__")


def _parameter(parameter: Any, wrong: Any) -> DeclaredParameter:
    name = parameter.name
    if name in RESERVED:
        raise wrong(f'cannot have a parameter "{name}", a key of its own; use another name')
    mistake = parameter.mistake()
    if mistake is not None:
        raise wrong(f'has a parameter "{name}" that {mistake}')
    # The first choice is the default.
    choices = [word for word in parameter.choices if word != parameter.default]
    return DeclaredParameter(
        name=name,
        help=parameter.help,
        default=0.0 if parameter.choices else float(parameter.default),
        minimum=parameter.minimum,
        maximum=parameter.maximum,
        integer=parameter.integer,
        choices=[parameter.default, *choices] if parameter.choices else [],
    )


def _marks(ecn: object) -> int | None:
    """How many marks; None for off, 0 for what is neither."""
    if ecn == "off":
        return None
    if isinstance(ecn, int) and not isinstance(ecn, bool) and 1 <= ecn <= 255:
        return ecn
    return 0


def _takes(method: Any, count: int) -> bool:
    """Whether it can be called with this many arguments."""
    try:
        inspect.signature(method).bind(*range(count))
    except TypeError:
        return False
    return True


def _line(of: object) -> str:
    """Where it stands in its file."""
    try:
        return f", line {inspect.getsourcelines(of)[1]}"  # type: ignore[arg-type]
    except (OSError, TypeError):
        return ""
