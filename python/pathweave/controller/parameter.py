"""What a scenario can set of a controller."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast, overload

if TYPE_CHECKING:
    from collections.abc import Sequence

_T = TypeVar("_T", float, int, str)


class Parameter(Generic[_T]):
    """A parameter of a controller, declared in its class.

    ```python
    gain = Parameter(default=0.5, minimum=0, maximum=1, help="Share that a mark costs.")
    rounds = Parameter(default=4, minimum=1, maximum=64, help="Rounds between two increases.")
    mode = Parameter(default="fast", choices=["fast", "slow"], help="How windows grow.")
    ```

    A number whose default is an `int` takes whole numbers alone. In an object of the class, the
    attribute is the value: `self.gain` is 0.5 unless the scenario says otherwise.
    """

    def __init__(
        self,
        *,
        default: _T,
        help: str,  # noqa: A002 - what the scenario's lists call it
        minimum: float = -math.inf,
        maximum: float = math.inf,
        choices: Sequence[str] = (),
    ) -> None:
        self.name = ""
        self.default = default
        self.help = help
        self.minimum = float(minimum)
        self.maximum = float(maximum)
        self.choices = tuple(choices)

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Parameter[_T]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> _T: ...
    def __get__(self, instance: object | None, owner: type) -> Parameter[_T] | _T:
        # Objects have the value under the same name, and that goes first.
        return self if instance is None else self.default

    @property
    def integer(self) -> bool:
        """Whether it takes whole numbers alone."""
        return isinstance(self.default, int)

    def value(self, given: Any) -> _T:
        """`given` as the controller gets it: whole numbers as `int`."""
        return cast("_T", int(given)) if self.integer else given

    def mistake(self) -> str | None:
        """What is wrong with the declaration; None when nothing is."""
        if not self.help.strip():
            return "needs a help text: one sentence, with the unit"
        if self.choices:
            return self._mistake_in_choices()
        if isinstance(self.default, bool) or not isinstance(self.default, int | float):
            return f"needs choices, or a number as its default, got {self.default!r}"
        if math.isnan(self.minimum) or math.isnan(self.maximum) or self.minimum > self.maximum:
            bounds = f"{self.minimum} and {self.maximum}"
            return f"needs a minimum that is at most its maximum, got {bounds}"
        if not math.isfinite(self.default):
            return f"needs a finite default, got {self.default}"
        if not self.minimum <= self.default <= self.maximum:
            return f"needs a default between {self.minimum} and {self.maximum}, got {self.default}"
        return None

    def _mistake_in_choices(self) -> str | None:
        if not all(isinstance(word, str) and word for word in self.choices):
            return f"needs choices that are words, got {list(self.choices)}"
        if len(set(self.choices)) < len(self.choices):
            return f"needs choices that differ, got {list(self.choices)}"
        if self.default not in self.choices:
            return f"needs one of its choices as its default, got {self.default!r}"
        return None
