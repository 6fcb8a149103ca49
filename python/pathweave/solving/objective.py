"""What is maximised, as users name it: `proportional`, `alpha:alpha=2`, `controller` and so on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pathweave.errors import InputError
from pathweave.optimum.utility import (
    AlphaFairness,
    Concave,
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
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pathweave._core import Variant

_LARGEST_ALPHA = 20.0
"""Beyond it rates to that power leave what numbers can hold; max-min is the limit."""
CONTROLLER = "controller"
"""Each flow's own: the utility that its controller is known to maximise."""

_KINDS: dict[str, tuple[Callable[..., Utility], str]] = {
    "proportional": (ProportionalFairness, "log of a flow's rate"),
    "alpha": (AlphaFairness, "alpha-fairness of flows' rates; alpha"),
    "delay-weighted": (
        DelayWeighted,
        "paths count less the longer they are, as FCC has it; alpha, weight",
    ),
    "max-min": (MaxMin, "the smallest rate first; over = flows or subflows"),
    "xmp": (Xmp, "XMP's; beta"),
    "tcp": (Tcp, "Reno's of a flow's rate; mu, b"),
    "eutcp": (Eutcp, "EUTCP's; gamma"),
    "wutcp": (Wutcp, "WUTCP's and EWTCP's; omega, a rule or a number or one for each subflow"),
}


_IN_WORDS = (("wutcp", "omega"), ("max-min", "over"), ("delay-weighted", "weight"))
"""Parameters that need not be numbers."""
_EXAMPLES = {
    "alpha": "alpha:alpha=2",
    "delay-weighted": "delay-weighted:alpha=1",
    "max-min": "max-min:over=subflows",
    "xmp": "xmp:beta=4",
    "tcp": "tcp:mu=1e8,b=5000",
    "eutcp": "eutcp:gamma=1.05",
    "wutcp": "wutcp:omega=1/m",
}


_FOR_EQUAL_RTTS = {
    "amp": "xmp:beta=4, which has the shortest of the RTTs",
    "eutcp": "eutcp:gamma=1.05, which has the mean of the RTTs",
    "semicoupled": "tcp, which has the mean of the RTTs",
}
"""Controllers whose prices are the gradient of a utility only if a flow's subflows have one RTT.

With a common utility to name in its place.
"""
_SAME_RTT = 1e-6
"""Relative difference up to which two RTTs are the same."""


@dataclass(frozen=True)
class Objective:
    """A utility for all flows, or, when it is None, each flow's controller's own."""

    text: str
    utility: Utility | None

    def of(
        self,
        controller: str,
        parameters: Mapping[str, Any],
        *,
        subflows: int = 1,
        rtts_s: Sequence[float] = (),
    ) -> Utility:
        """The utility of a flow under this controller, by its subflows and its paths' base RTTs.

        Raises `InputError` when its controller is not known to maximise anything then.
        """
        if self.utility is not None:
            return self.utility
        utility = of_controller(controller, parameters, subflows)
        if controller in _FOR_EQUAL_RTTS and _differ(rtts_s):
            raise InputError(
                f"{controller} maximises a utility only where all subflows of a flow have the same"
                f" RTT, and a flow has base RTTs from {min(rtts_s) * 1e3:.4g} to"
                f" {max(rtts_s) * 1e3:.4g} ms: choose a common --utility, such as"
                f" {_FOR_EQUAL_RTTS[controller]}"
            )
        return utility


def names() -> dict[str, str]:
    """The names that `parse` knows, with a line of help each."""
    named = {name: text for name, (_, text) in _KINDS.items()}
    return named | {CONTROLLER: "what each flow's controller is known to maximise"}


def check(objective: Objective, variants: Iterable[Variant], *, routing: bool = False) -> None:
    """Refuse what no solver could do, before anything is simulated or solved.

    Raises `InputError` when a flow's controller is not known to maximise anything, and with
    `routing` for a utility that cannot judge a choice of paths.
    """
    if objective.utility is not None:
        if routing:
            of_a_sum(objective.utility)
        return
    for variant in variants:
        seen: set[str] = set()
        for name, parameters in variant.controllers():
            if repr((name, parameters)) in seen:
                continue
            seen.add(repr((name, parameters)))
            try:
                utility = of_controller(name, parameters)
                if routing:
                    of_a_sum(utility)
            except InputError as error:
                where = f"{variant.label}: " if variant.label else ""
                raise InputError(f"{where}{error}") from error


def of_a_sum(utility: Utility) -> Concave:
    """The same utility; raises `InputError` for one that cannot judge a choice of paths."""
    if isinstance(utility, MaxMin | Wutcp):
        raise InputError(
            "--routing needs a utility of a flow's whole rate, which max-min and WUTCP's are not:"
            " choose another --utility"
        )
    return utility


def parse(text: str) -> Objective:
    """Read NAME or NAME:KEY=VALUE[,KEY=VALUE]; raises `InputError` that lists what is known.

    WUTCP's omega may be one number for each subflow: wutcp:omega=1,0.5, or wutcp:1,0.5 for short.
    """
    name, _, rest = text.partition(":")
    if name == CONTROLLER and not rest:
        return Objective(text, None)
    if name not in _KINDS:
        raise InputError(f'unknown utility "{name}"; known are {", ".join(names())}')
    if name == "wutcp" and rest and "=" not in rest:
        return parse(f"{name}:omega={rest}")
    given = _given(text, name, rest)
    kind, about = _KINDS[name]
    if abs(given.get("alpha", 1.0)) > _LARGEST_ALPHA:  # pyright: ignore[reportArgumentType]
        raise InputError(f'utility "{text}": alpha is at most {_LARGEST_ALPHA:g}')
    try:
        return Objective(text, kind(**given))
    except TypeError as error:
        raise InputError(
            f'utility "{text}" has a parameter missing or unknown; {name} is {about}, as in'
            f" {_EXAMPLES.get(name, name)}"
        ) from error


def _given(text: str, name: str, rest: str) -> dict[str, float | str | tuple[float, ...]]:
    """Parameters by their keys; of a list the values after the first have none."""
    parts: dict[str, list[str]] = {}
    last: list[str] | None = None
    for part in filter(None, rest.split(",")):
        key, equals, value = part.partition("=")
        if equals:
            last = parts[key.strip()] = [value.strip()]
        elif last is not None and name == "wutcp":
            last.append(part.strip())
        else:
            raise InputError(f'utility "{text}": write {name}:key=value, as in alpha:alpha=2')
    given: dict[str, float | str | tuple[float, ...]] = {}
    for key, values in parts.items():
        words = [value for value in values if _number(value) is None]
        numbers = [number for value in values if (number := _number(value)) is not None]
        if not words:
            given[key] = tuple(numbers) if len(numbers) > 1 else numbers[0]
        elif len(values) == 1 and (name, key) in _IN_WORDS:
            given[key] = words[0]
        else:
            raise InputError(f'utility "{text}": {key} is "{words[0]}"; it must be a number')
    return given


def _differ(rtts_s: Sequence[float]) -> bool:
    return len(rtts_s) > 1 and max(rtts_s) > min(rtts_s) * (1 + _SAME_RTT)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def of_controller(name: str, parameters: Mapping[str, Any], subflows: int = 1) -> Utility:
    """What the controller maximises where its paper or its differential equation says so.

    That of AMP, EUTCP and Semicoupled holds where a flow's subflows have equal RTTs, which
    `Objective.of` checks. Raises `InputError` for a controller that is not known to maximise
    anything, and for one from a file that has the name of another but not its parameters.
    """
    try:
        return _of_controller(name, parameters, subflows)
    except KeyError as error:
        raise InputError(
            f"a controller from a file is called {name} and has no parameter {error}, which the "
            f"utility of {name} needs: choose a common --utility"
        ) from error


def _of_controller(name: str, parameters: Mapping[str, Any], subflows: int) -> Utility:
    match name:
        case "bos" if subflows > 1:
            raise InputError(
                "bos on several subflows runs on each by itself, and the sum of its utilities over"
                " subflows is not supported: choose a common --utility"
            )
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
        case "uncoupled" if parameters["of"] != "reno":
            raise InputError(
                f"uncoupled {parameters['of']} is not known to maximise a utility, uncoupled reno"
                " is: choose a common --utility"
            )
        case "uncoupled":
            return Wutcp(1.0)
        case "reno":
            return Tcp() if subflows == 1 else Wutcp(1.0)
        case "fcc":
            alpha_total = parameters["alpha_total"]
            return DelayWeighted(1.0, "1/T" if alpha_total == "1/base-rtt" else alpha_total)
        case _:
            raise InputError(
                f"{name} is not known to maximise a utility; known are xmp, bos, amp, eutcp,"
                " semicoupled, wutcp, ewtcp, uncoupled, reno and fcc: choose a common --utility"
            )
