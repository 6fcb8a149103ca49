"""Published values: `expected.toml` beside a scenario file.

The file has a table per published figure or table, called a row. The numbers in it that a scenario
gives are entries of the row's list `number`:

    [tab1]
    scenario = "tab1.toml"     # if left out, the row's name with .toml

    [[tab1.number]]
    quantity = "goodput"       # see `quantities.QUANTITIES`, or check = and a name in `CHECKS`
    statistic = "mean"         # mean (default), median, p1 ... p99, min, max, range, std, sum,
                               # "over 3 ms"
    where = { group = "large" } # columns of the quantity's table, and their values
    unit = "Mbps"              # of the values below
    tolerance = 0.1            # relative
    source = "Table 1"
    axes = ["scheme", "pattern"] # how the values are nested; if left out, all axes in order
    [tab1.number.values]
    "XMP-4" = { Permutation = 735.6, Random = 542.9, Incast = 535.7 }

A scenario without variants gives `value = 735.6` in place of `axes` and `values`.

With `backends = ["simulate", "testbed"]` the values are also shown beside what the testbed gives,
and with `["testbed"]` only there. If left out they are of simulations.

With `relative_to = { scheme = "LIA" }` values are ratios: the statistic over that of the run with
the same seed and, on the axes named there, these names. With `over = { group = "dctcp" }` they are
ratios of two statistics of one run. Their unit is "%", or none. With `during = "two flows"` only
samples of a series in that phase count.

What else a row has is for `pathweave reproduce`; see `pathweave.reproducing.paper`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

from pathweave.errors import InputError
from pathweave.reading import read_toml
from pathweave.results.published_measure import (
    MEASURE_KEYS,
    PublishedMeasure,
    check_axes,
    check_name,
    parse_published,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from pathweave.results.runs import StoredScenario

FILE = "expected.toml"
NUMBER_KEYS = MEASURE_KEYS | {
    "name", "says", "kind", "tolerance", "within", "source", "axes", "values", "value", "backends",
}  # fmt: skip
_ROW_LISTS = ("number", "order", "shape", "because")
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

    measured: PublishedMeasure
    tolerance: float | None
    """Largest relative difference at which a number agrees; None where none is given."""
    source: str
    axes: tuple[str, ...]
    points: tuple[Point, ...]
    within: float | None = None
    """Largest absolute difference at which a number agrees, in the unit; goes before `tolerance`.
    """

    @property
    def unit(self) -> str:
        """The unit of the values."""
        return self.measured.unit

    @property
    def population(self) -> str:
        """Whom the values are over, in words: "all flows of the window"."""
        return self.measured.population

    @property
    def title(self) -> str:
        """A heading, as in "Goodput, mean, large, Mbps (Table 1)"."""
        text = self.measured.title
        return f"{text} ({self.source})" if self.source else text

    def to_json(self) -> dict[str, Any]:
        """As a JSON object; `from_json` reads it."""
        return {
            **self.measured.to_json(),
            "tolerance": self.tolerance,
            "within": self.within,
            "source": self.source,
            "axes": list(self.axes),
            "points": [{"at": dict(point.at), "value": point.value} for point in self.points],
        }

    @staticmethod
    def from_json(value: Mapping[str, Any]) -> Expected:
        """The inverse of `to_json`.

        Raises `TypeError`, `ValueError`, `KeyError` or `AttributeError` for what that did not
        write.
        """
        points = tuple(
            Point({str(axis): str(name) for axis, name in point["at"].items()}, point["value"])
            for point in value["points"]
        )
        if not all(_is_number(point.value) for point in points):
            raise ValueError("a published value is not a number")
        return Expected(
            measured=PublishedMeasure.from_json(value),
            tolerance=_positive(value, "tolerance"),
            within=_positive(value, "within"),  # results of earlier versions have none
            source=str(value["source"]),
            axes=tuple(map(str, value["axes"])),
            points=points,
        )


def expected_of(scenario: StoredScenario) -> tuple[Expected, ...]:
    """The published values that a stored scenario is compared with."""
    return tuple(map(Expected.from_json, scenario.published))


def read_rows(folder: Path) -> dict[str, dict[str, Any]]:
    """The rows of the file in `folder` as they stand there; none when there is no file.

    Raises `InputError` with the file's name where it is no list of rows.
    """
    path = folder / FILE
    try:
        content = read_toml(path)
    except FileNotFoundError:
        return {}
    for name, row in content.items():
        if not isinstance(row, dict):
            raise InputError(
                f"{path}: write [{name}], and its values as [[{name}.number]] below it"
            )
        for key in _ROW_LISTS:
            if not isinstance(row.get(key, []), list):
                raise InputError(f"{path}: write [[{name}.{key}]], with two brackets: it is a list")
    return content


def scenario_of(name: str, row: Mapping[str, Any]) -> str:
    """The scenario file of a row, relative to the folder of the file."""
    return str(row.get("scenario", f"{name}.toml"))


def read_expected(
    folder: Path, scenario: str, axes: Mapping[str, Sequence[str]], backend: str = "simulate"
) -> tuple[Expected, ...]:
    """Published values for `scenario` from the file in `folder`; none when there is no file.

    Only those that are of this backend.

    Raises `InputError` with the file's name for a mistake in it.
    """
    found: list[Expected] = []
    for name, row in read_rows(folder).items():
        if scenario_of(name, row) != f"{scenario}.toml":
            continue
        for number, entry in enumerate(row.get("number", []), start=1):
            try:
                parsed = parse_number(entry, axes)
                if backend in _backends(entry):
                    found.append(parsed)
            except InputError as error:
                where = f"{folder / FILE}: entry {number} of [[{name}.number]]"
                raise InputError(f"{where}: {error}") from error
    return tuple(found)


def parse_number(entry: Mapping[str, Any], axes: Mapping[str, Sequence[str]]) -> Expected:
    """Read published numbers. Raises `InputError` with what is wrong."""
    unknown = sorted(set(entry) - NUMBER_KEYS)
    if unknown:
        known = ", ".join(sorted(NUMBER_KEYS))
        raise InputError(f'unknown key "{unknown[0]}"; known are {known}')
    measured = parse_published(entry, axes)
    nesting = check_axes(entry.get("axes", list(axes) if "values" in entry else []), axes)
    if ("value" in entry) == ("values" in entry):
        raise InputError("give either value or values")
    tree = entry["value"] if "value" in entry else entry["values"]
    points = tuple(_points(tree, nesting, axes, {}))
    within = _positive(entry, "within")
    if within is None and any(point.value == 0 for point in points):
        raise InputError("a published 0 needs within, a difference in the unit, not a tolerance")
    return Expected(
        measured=measured,
        tolerance=_positive(entry, "tolerance"),
        within=within,
        source=str(entry.get("source", "")),
        axes=nesting,
        points=points,
    )


def _positive(entry: Mapping[str, Any], key: str) -> float | None:
    value = entry.get(key)
    if value is not None and not (_is_number(value) and value > 0):
        raise InputError(f"{key} must be a positive number, not {value!r}")
    return value


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
        check_name(axis, name, axes)
        yield from _points(below, nesting[1:], axes, {**at, axis: name})


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
