"""Published values: `expected.toml` beside a scenario file.

The file has one array of tables per scenario, named like the scenario file:

    [[tab1]]
    quantity = "goodput"       # see `quantities.QUANTITIES`
    statistic = "mean"         # mean (default), median, p1 ... p99, min, max, std, sum, "over 3 ms"
    where = { group = "large" } # columns of the quantity's table, and their values
    unit = "Mbps"              # of the values below
    tolerance = 0.1            # relative; only for reporting
    source = "Table 1"
    axes = ["scheme", "pattern"] # how the values are nested; if left out, all axes in order
    [tab1.values]
    "XMP-4" = { Permutation = 735.6, Random = 542.9, Incast = 535.7 }

A scenario without variants gives `value = 735.6` in place of `axes` and `values`.

With `backends = ["simulate", "testbed"]` the values are also shown beside what the testbed gives,
and with `["testbed"]` only there. If left out they are of simulations.

With `relative_to = { scheme = "LIA" }` values are ratios: the statistic over that of the run with
the same seed and, on the axes named there, these names. Their unit is "%", or none.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pathweave.errors import InputError
from pathweave.results.quantities import QUANTITIES, parse_statistic
from pathweave.results.units import scale

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

FILE = "expected.toml"
_KEYS = {
    "quantity", "statistic", "where", "unit", "tolerance", "source", "axes", "values", "value",
    "relative_to", "backends",
}  # fmt: skip
_BACKENDS = ("simulate", "testbed")


@dataclass(frozen=True)
class Point:
    """One published number and the variants that it is about."""

    at: Mapping[str, str]
    """Axis to name; axes that are not there are averaged over."""
    value: float
    """In the unit of its `Expected`."""


@dataclass(frozen=True)
class Expected:
    """Published numbers of one quantity."""

    quantity: str
    statistic: str
    where: Mapping[str, str | int | float | bool]
    unit: str
    tolerance: float | None
    source: str
    axes: tuple[str, ...]
    points: tuple[Point, ...]
    relative_to: Mapping[str, str] = field(default_factory=dict[str, str])
    """Axis to name of what values are ratios to; empty when they are not."""

    @property
    def title(self) -> str:
        """A heading, as in "Goodput, mean, large, Mbps (Table 1)"."""
        parts = [QUANTITIES[self.quantity].title, self.statistic]
        parts += [str(value) for value in self.where.values()]
        parts += [f"over that of {', '.join(self.relative_to.values())}"] * bool(self.relative_to)
        text = ", ".join([*parts, self.unit] if self.unit else parts)
        return f"{text} ({self.source})" if self.source else text

    def to_json(self) -> dict[str, Any]:
        """As a JSON object; `from_json` reads it."""
        return {
            "quantity": self.quantity,
            "statistic": self.statistic,
            "where": dict(self.where),
            "unit": self.unit,
            "tolerance": self.tolerance,
            "source": self.source,
            "axes": list(self.axes),
            "points": [{"at": dict(point.at), "value": point.value} for point in self.points],
            "relative_to": dict(self.relative_to),
        }

    @staticmethod
    def from_json(value: Mapping[str, Any]) -> Expected:
        """The inverse of `to_json`."""
        return Expected(
            quantity=value["quantity"],
            statistic=value["statistic"],
            where=value["where"],
            unit=value["unit"],
            tolerance=value["tolerance"],
            source=value["source"],
            axes=tuple(value["axes"]),
            points=tuple(Point(point["at"], point["value"]) for point in value["points"]),
            relative_to=value.get("relative_to", {}),  # results of earlier versions have none
        )


def read_expected(
    folder: Path, scenario: str, axes: Mapping[str, Sequence[str]], backend: str = "simulate"
) -> tuple[Expected, ...]:
    """Published values for `scenario` from the file in `folder`; none when there is no file.

    Only those that are of this backend.

    Raises `InputError` with the file's name for a mistake in it.
    """
    path = folder / FILE
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return ()
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: {error}") from error
    entries = content.get(scenario, [])
    if not isinstance(entries, list):
        raise InputError(f"{path}: write [[{scenario}]], with two brackets: it is a list")
    found: list[Expected] = []
    for number, entry in enumerate(entries, start=1):
        try:
            parsed = _parse(entry, axes)
            if backend in _backends(entry):
                found.append(parsed)
        except InputError as error:
            raise InputError(f"{path}: entry {number} of [[{scenario}]]: {error}") from error
    return tuple(found)


def _parse(entry: Mapping[str, Any], axes: Mapping[str, Sequence[str]]) -> Expected:
    unknown = sorted(set(entry) - _KEYS)
    if unknown:
        raise InputError(f'unknown key "{unknown[0]}"; known are {", ".join(sorted(_KEYS))}')
    quantity = entry.get("quantity")
    if quantity not in QUANTITIES:
        raise InputError(f"quantity must be one of {', '.join(QUANTITIES)}, not {quantity!r}")
    statistic = str(entry.get("statistic", "mean"))
    parse_statistic(statistic)
    unit = str(entry.get("unit", ""))
    scale(unit)
    tolerance = entry.get("tolerance")
    if tolerance is not None and not (_is_number(tolerance) and tolerance > 0):
        raise InputError(f"tolerance must be a positive number, not {tolerance!r}")
    where = entry.get("where", {})
    if not isinstance(where, dict):
        raise InputError("where must be a table of columns and values")
    relative_to = entry.get("relative_to", {})
    if not isinstance(relative_to, dict):
        raise InputError("relative_to must be a table of axes and names")
    for axis, name in relative_to.items():
        _check_name(axis, name, axes)
    if relative_to and unit not in ("", "%"):
        raise InputError(f'a ratio has the unit "%" or none, not "{unit}"')
    nesting = tuple(entry.get("axes", axes if "values" in entry else ()))
    for axis in nesting:
        _check_axis(axis, axes)
    if ("value" in entry) == ("values" in entry):
        raise InputError("give either value or values")
    tree = entry["value"] if "value" in entry else entry["values"]
    points = tuple(_points(tree, nesting, axes, {}))
    return Expected(
        quantity=str(quantity),
        statistic=statistic,
        where=where,
        unit=unit,
        tolerance=tolerance,
        source=str(entry.get("source", "")),
        axes=nesting,
        points=points,
        relative_to=relative_to,
    )


def _backends(entry: Mapping[str, Any]) -> list[str]:
    backends = entry.get("backends", ["simulate"])
    if not isinstance(backends, list) or not backends:
        raise InputError("backends must be a list of backends")
    for name in backends:
        if name not in _BACKENDS:
            raise InputError(f"a backend must be one of {', '.join(_BACKENDS)}, not {name!r}")
    return backends


def _points(
    tree: Any,
    nesting: Sequence[str],
    axes: Mapping[str, Sequence[str]],
    at: Mapping[str, str],
) -> Iterator[Point]:
    if not nesting:
        if not _is_number(tree):
            raise InputError(f"a published value must be a number, not {tree!r}")
        yield Point(at, float(tree))
        return
    axis = nesting[0]
    if not isinstance(tree, dict):
        raise InputError(f'values must be nested by "{axis}" here, not {tree!r}')
    for name, below in tree.items():
        _check_name(axis, name, axes)
        yield from _points(below, nesting[1:], axes, {**at, axis: name})


def _check_axis(axis: str, axes: Mapping[str, Sequence[str]]) -> None:
    if axis not in axes:
        known = ", ".join(axes) if axes else "none"
        raise InputError(f'the scenario has no axis "{axis}"; it has {known}')


def _check_name(axis: str, name: str, axes: Mapping[str, Sequence[str]]) -> None:
    _check_axis(axis, axes)
    if name not in axes[axis]:
        raise InputError(f'axis "{axis}" has no "{name}"; it has {", ".join(axes[axis])}')


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
