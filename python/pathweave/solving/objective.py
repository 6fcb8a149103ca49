"""What is maximised, as users name it: `proportional`, `alpha:alpha=2`, `controller` and so on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pathweave.errors import InputError
from pathweave.optimum.utility import (
    AlphaFairness,
    DelayWeighted,
    Eutcp,
    MaxMin,
    ProportionalFairness,
    Tcp,
    Utility,
    Wutcp,
    Xmp,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_LARGEST_ALPHA = 20.0
"""Beyond it rates to that power leave what numbers can hold; max-min is the limit."""
CONTROLLER = "controller"
"""Each flow's own: the utility that its controller is known to maximise."""

_KINDS: dict[str, tuple[Callable[..., Utility], str]] = {
    "proportional": (ProportionalFairness, "log of a flow's rate"),
    "alpha": (AlphaFairness, "alpha-fairness of flows' rates; alpha"),
    "delay-weighted": (DelayWeighted, "FCC's: paths count less the longer they are; alpha"),
    "max-min": (MaxMin, "the smallest rate first; over = flows or subflows"),
    "xmp": (Xmp, "XMP's; beta"),
    "tcp": (Tcp, "Reno's of a flow's rate; mu, b"),
    "eutcp": (Eutcp, "EUTCP's; gamma"),
    "wutcp": (Wutcp, "WUTCP's and EWTCP's; omega"),
}


_EXAMPLES = {
    "alpha": "alpha:alpha=2",
    "delay-weighted": "delay-weighted:alpha=1",
    "max-min": "max-min:over=subflows",
    "xmp": "xmp:beta=4",
    "tcp": "tcp:mu=1e8,b=5000",
    "eutcp": "eutcp:gamma=1.05",
    "wutcp": "wutcp:omega=1/m",
}


@dataclass(frozen=True)
class Objective:
    """A utility for all flows, or, when it is None, each flow's controller's own."""

    text: str
    utility: Utility | None

    def of(self, controller: str, parameters: Mapping[str, Any]) -> Utility:
        """The utility of a flow under this controller."""
        return self.utility or of_controller(controller, parameters)


def names() -> dict[str, str]:
    """The names that `parse` knows, with a line of help each."""
    named = {name: text for name, (_, text) in _KINDS.items()}
    return named | {CONTROLLER: "what each flow's controller is known to maximise"}


def parse(text: str) -> Objective:
    """Read NAME or NAME:KEY=VALUE[,KEY=VALUE]; raises `InputError` that lists what is known."""
    name, _, rest = text.partition(":")
    if name == CONTROLLER and not rest:
        return Objective(text, None)
    if name not in _KINDS:
        raise InputError(f'unknown utility "{name}"; known are {", ".join(names())}')
    given: dict[str, float | str] = {}
    for part in filter(None, rest.split(",")):
        key, equals, value = part.partition("=")
        if not equals:
            raise InputError(f'utility "{text}": write {name}:key=value, as in alpha:alpha=2')
        given[key.strip()] = _value(value.strip())
    kind, about = _KINDS[name]
    for key, value in given.items():
        if isinstance(value, str) and (name, key) not in (("wutcp", "omega"), ("max-min", "over")):
            raise InputError(f'utility "{text}": {key} is "{value}"; it must be a number')
    if abs(given.get("alpha", 1.0)) > _LARGEST_ALPHA:  # pyright: ignore[reportArgumentType]
        raise InputError(f'utility "{text}": alpha is at most {_LARGEST_ALPHA:g}')
    try:
        return Objective(text, kind(**given))
    except TypeError as error:
        raise InputError(
            f'utility "{text}" has a parameter missing or unknown; {name} is {about}, as in'
            f" {_EXAMPLES.get(name, name)}"
        ) from error


def _value(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def of_controller(name: str, parameters: Mapping[str, Any]) -> Utility:
    """What the controller maximises where its paper or its differential equation says so.

    AMP's increase and cut are XMP's where RTTs are equal. Raises `InputError` for a controller
    that is not known to maximise anything.
    """
    match name:
        case "xmp" | "bos" | "amp":
            return Xmp(parameters["beta"])
        case "eutcp":
            return Eutcp(parameters["gamma"])
        case "semicoupled":
            return Eutcp(1.0)
        case "wutcp":
            return Wutcp(parameters["omega"])
        case "ewtcp":
            return Wutcp("1/m^2")
        case "uncoupled":
            return Wutcp(1.0)
        case "reno":
            return Tcp()
        case "fcc":
            return DelayWeighted(1.0)
        case _:
            raise InputError(
                f"{name} is not known to maximise a utility; known are xmp, bos, amp, eutcp,"
                " semicoupled, wutcp, ewtcp, uncoupled, reno and fcc: choose a common --utility"
            )
