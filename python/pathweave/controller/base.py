"""The class that controllers derive from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeVar

from pathweave.controller.parameter import Parameter

if TYPE_CHECKING:
    from collections.abc import Callable

    from pathweave._core import Ack, Path

Loss = Literal["fast-retransmit", "timeout"]
"""A loss event: found by duplicate or selective acknowledgements, or by the timer."""

Change = Literal["opened", "stood-by", "failed", "recovered", "closed"]
"""What has become of a subflow. `Path.state` is up to date."""

_State = TypeVar("_State")


class Paths(tuple["Path", ...]):
    """All subflows of a connection, by number, for one call."""

    __slots__ = ()

    def active(self) -> list[Path]:
        """The subflows that are coupled: open, not failed and not on standby."""
        return [path for path in self if path.is_active]

    def sending(self) -> list[Path]:
        """Of these, the subflows that may take new data: a controller has not suspended them."""
        return [path for path in self if path.is_active and path.may_send]


class PerSubflow(dict[int, _State]):
    """A controller's state of each subflow, by number; made when it is first asked for.

    `cuts = PerSubflow(OncePerRound)`, and `cuts[r]` is that of subflow `r`.
    """

    def __init__(self, fresh: Callable[[], _State]) -> None:
        super().__init__()
        self._fresh = fresh

    def __missing__(self, r: int) -> _State:
        state = self[r] = self._fresh()
        return state

    def restart(self, r: int) -> None:
        """Forget what was known of subflow `r`."""
        self[r] = self._fresh()


class BaseController:
    """What all controllers declare: their name, what they do with marks, their parameters."""

    name: ClassVar[str] = ""
    """What results call it. Default: the name of the class. With the name of one of Pathweave's own
    it has that one's values of transport presets, and its utility in `pathweave solve`."""
    summary: ClassVar[str] = ""
    """One sentence. Default: the first paragraph of the class's documentation."""
    source: ClassVar[str] = ""
    """Paper section or RFC. Default: the file."""
    coupled: ClassVar[bool] = False
    """Whether it takes the subflows of a connection together."""
    ecn: ClassVar[int | Literal["off"]] = "off"
    """What it does with marks: "off" sends packets that are not ECN-capable; a number from 1 to 255
    is how many marks one acknowledgement can echo to it at most."""


class Controller(BaseController):
    """A congestion controller; each connection has an object of its own.

    A class overrides the three methods and, where it differs, what `BaseController` declares.
    Parameters are class attributes, too: `gain = Parameter(default=0.5, minimum=0, maximum=1,
    help="...")`, read as `self.gain`. A class with state begins it in `__init__`:

    ```python
    def __init__(self, **parameters: object) -> None:
        super().__init__(**parameters)
        self.cuts = PerSubflow(OncePerRound)
    ```

    What it decides must follow from what it is told alone: no clock, no random numbers, and nothing
    that connections share, such as variables of the module or the class.
    """

    def __new__(cls, **parameters: Any) -> Self:
        """Make an object whose parameters have these values, and the others their defaults."""
        self = super().__new__(cls)
        for parameter in declared(cls):
            given = parameters.get(parameter.name, parameter.default)
            setattr(self, parameter.name, parameter.value(given))
        return self

    def __init__(self, **parameters: Any) -> None:
        """Begin; the parameters have their values already."""

    def on_ack(self, paths: Paths, r: int, ack: Ack) -> None:
        """Hear of an acknowledgement on subflow `r`; also of duplicates that echo marks."""
        raise NotImplementedError

    def on_loss(self, paths: Paths, r: int, loss: Loss, now: int) -> None:
        """Set window and ssthresh of subflow `r`, which has lost packets at `now` (picoseconds)."""
        raise NotImplementedError

    def on_subflow(self, paths: Paths, r: int, change: Change) -> None:
        """Hear that subflow `r` opened, went on standby, failed, recovered or closed."""


def declared(cls: type) -> list[Parameter[Any]]:
    """The parameters of a class, those of its bases first, in the order of their declaration."""
    found: dict[str, Parameter[Any]] = {}
    for each in reversed(cls.__mro__):
        for name, value in vars(each).items():
            if isinstance(value, Parameter):
                found[name] = value
            elif name in found:
                del found[name]
    return list(found.values())
