"""Axes whose names are the values of a key: a scenario's sweeps."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pathweave._core import Scenario


@dataclass(frozen=True)
class Sweep:
    """One axis: what it sets, and what its names stand for."""

    axis: str
    keys: tuple[str, ...]
    """Keys of the scenario that it sets; the names are the values of the first."""
    values: Mapping[str, float] = field(default_factory=dict)
    """By name, in base units; empty where the names are no numbers."""
    unit: str = ""
    """Of the values: s, bit/s, B, or empty for plain numbers."""
    logarithmic: bool = False
    """Whether the values are spread over a logarithmic scale."""

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Sweep:
        """What `to_json` wrote; `TypeError`, `ValueError` or `KeyError` for what it did not."""
        keys = tuple(map(str, value["keys"]))
        values = {str(name): float(number) for name, number in value["values"]}
        if not keys or not all(map(math.isfinite, values.values())):
            raise ValueError("keys or values")
        return cls(str(value["axis"]), keys, values, str(value["unit"]), bool(value["log"]))

    def to_json(self) -> dict[str, Any]:
        """All of it, for a file."""
        return {
            "axis": self.axis,
            "keys": list(self.keys),
            # A list of pairs: the order is what it is for.
            "values": [[name, value] for name, value in self.values.items()],
            "unit": self.unit,
            "log": self.logarithmic,
        }

    def with_earlier(self, other: Sweep) -> Sweep:
        """With the values of an earlier sweep over the same key, of which there may be runs."""
        if other.keys != self.keys or other.unit != self.unit or not self.values:
            return self
        known = {**self.values, **other.values}
        ordered = dict(sorted(known.items(), key=lambda entry: entry[1]))
        values = self.values if set(known) == set(self.values) else ordered
        return Sweep(self.axis, self.keys, values, self.unit, self.logarithmic)


def sweeps_of(scenario: Scenario) -> tuple[Sweep, ...]:
    """The sweeps of a scenario that has been read."""
    found: list[Sweep] = []
    for each in scenario.sweeps:
        numbers = each["values"]
        values = {} if numbers is None else dict(zip(each["names"], numbers, strict=True))
        keys = tuple(each["keys"])
        unit = each["unit"] or ""
        found.append(Sweep(each["axis"], keys, values, unit, each["logarithmic"]))
    return tuple(found)


def label_of(axes: Mapping[str, str], sweeps: Iterable[Sweep], *, leave_out: str = "") -> str:
    """Names on axes as people read them: "XMP-4, k = 10".

    A value says little without its axis. `leave_out` is an axis that is said elsewhere.
    """
    swept = {sweep.axis for sweep in sweeps}
    return ", ".join(
        f"{axis} = {name}" if axis in swept else name
        for axis, name in axes.items()
        if axis != leave_out
    )


def with_earlier(sweeps: Sequence[Sweep], said: Iterable[Mapping[str, Any]]) -> list[Sweep]:
    """The sweeps with what earlier commands wrote into the same folder."""
    earlier: dict[str, Sweep] = {}
    for each in said:
        try:
            sweep = Sweep.from_json(each)
        except (TypeError, ValueError, KeyError):
            continue
        earlier[sweep.axis] = sweep
    found = [
        sweep.with_earlier(earlier.pop(sweep.axis)) if sweep.axis in earlier else sweep
        for sweep in sweeps
    ]
    return [*found, *earlier.values()]
