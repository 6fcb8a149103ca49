"""What a paper published: the rows of `expected.toml`, and what each claims.

A row is one figure or table. It says which scenario gives it, in which set-up, and what was
published, as claims in four forms:

    [fig8]
    title = "Goodput by location"
    setup = "k = 8 fat-tree of 128 hosts, 1 Gbps, Incast with Random traffic behind it."
    scenario = "tab1.toml"        # if left out, the row's name with .toml
    only = ["pattern=Incast"]     # its variants; all if left out
    picture = "min, p10, p50, p90 and max of goodput by location"  # only a person can compare this

    [[fig8.number]]               # see `pathweave.results.expected`
    [[fig8.order]]                # who is above whom
    says = "DCTCP is best inside a rack"
    quantity = "goodput"
    where = { group = "large", location = "inner-rack" }
    axis = "scheme"               # if left out, "scheme"
    ascending = [["XMP-2", "XMP-4"], "DCTCP"]  # names of one level are not ordered
    at = { pattern = "Incast" }   # names on other axes; the others are averaged over

    [[fig8.shape]]                # a number that must lie above or below a bound
    says = "two jumps about RTOmin apart"
    check = "completion-jumps"
    above = 0.9
    below = 1.1
    at = { scheme = ["DCTCP", "XMP-2"] }  # each name of a list must satisfy it

    [[fig8.shape]]                # a trend: Kendall's tau of a quantity over the names of an axis
    says = "the round-trip time grows with the number of subflows"
    quantity = "rtt"
    trend = "subflows"
    above = 0.5

    [[fig8.because]]              # why a claim differs; see `pathweave.reproducing.reasons`
    claim = "goodput"             # the claim's name, or a list; may be left out where there is one
    reason = "LIA here recovers several losses of a window without a timeout"
    set = ['transport.recovery="reno"'] # or scenario, size; or proof = true for an arithmetic one

Each claim has a `kind`: "number" for one that the paper prints (what numbers are without it),
"sentence" for what it says in words (orders and shapes without it), "reading" for what we make of
it: a bound where the text gives none, or an inference. Readings inform, and decide no row.

A row without a scenario has `program = "fig4.py"`, which prints its numbers as JSON, or only a
picture.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from math import isfinite
from typing import TYPE_CHECKING, Any

from pathweave.errors import InputError
from pathweave.results.expected import FILE, Expected, parse_number, read_rows, scenario_of
from pathweave.results.published_measure import (
    MEASURE_KEYS,
    PublishedMeasure,
    check_axis,
    check_name,
    parse_published,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

TOLERANCE = 0.1
"""Largest relative difference, and half-width, of a number that agrees, where it has no own."""
SEEDS = 5
"""Seeds of each variant, where a row has no own number."""

_ABOUT = "about"
_ROW_KEYS = {
    "title", "setup", "scenario", "program", "only", "seeds", "picture", "figures",
    "number", "order", "shape", "because",
}  # fmt: skip
_CLAIM_KEYS = {"name", "says", "at", "kind"}
_BECAUSE_KEYS = {
    "claim", "reason", "proof", "set", "only", "scenario", "size", "at", "expects", "seeds",
    "other_seed",
}  # fmt: skip
EXPECTS = ("towards", "up", "down", "holds", "scatters", "fails")
"""What an ablation may do to a number: come nearer to the published one, rise, fall, or scatter so
much that the published one may be that of a run; or to a claim: make it hold, or make it fail,
which says why it agrees."""

Axes = dict[str, list[str]]


class Kind(StrEnum):
    """What a claim rests on."""

    NUMBER = "number"
    """A number that the paper prints."""
    SENTENCE = "sentence"
    """What it says in words."""
    READING = "reading"
    """What we make of it. Readings decide no row."""


@dataclass(frozen=True)
class Number:
    """Published numbers."""

    name: str
    says: str
    expected: Expected
    kind: Kind = Kind.NUMBER


@dataclass(frozen=True)
class Order:
    """Who is below whom by a quantity."""

    name: str
    says: str
    measured: PublishedMeasure
    axis: str
    levels: tuple[tuple[str, ...], ...]
    """Names on the axis, from the smallest value to the largest; those of one level in any order.
    """
    at: Mapping[str, str]
    """Names on other axes; axes that are not there are averaged over."""
    kind: Kind = Kind.SENTENCE


@dataclass(frozen=True)
class Shape:
    """A number that must lie above a bound, below one, or between two."""

    name: str
    says: str
    measured: PublishedMeasure
    above: float | None
    """In the unit of `measured`; a tau from -1 to 1 where there is a trend."""
    below: float | None
    at: tuple[Mapping[str, str], ...]
    """The variants that must satisfy it, each by names on axes; the others are averaged over."""
    trend: str = ""
    """The axis along which a trend is judged; empty for the number itself."""
    along: tuple[str, ...] = ()
    """The names on that axis in order."""
    kind: Kind = Kind.SENTENCE


Claim = Number | Order | Shape


@dataclass(frozen=True)
class Because:
    """An explanation of a difference: settings that should remove it."""

    claim: str
    """Name of the claim that it is about."""
    reason: str
    sets: tuple[str, ...]
    """Overrides of the scenario, each "key=value"."""
    only: tuple[str, ...]
    scenario: str
    """The scenario file; the row's own unless another is named."""
    size: str | None
    at: Mapping[str, str]
    """The variants that it is about; empty for all of the claim."""
    expects: str
    """One of `EXPECTS`."""
    seeds: int | None
    """Seeds that it takes; the row's if None."""
    proof: bool = False
    """Whether the reason is an arithmetic proof, with nothing to run."""
    other_seed: bool = False
    """Whether what a ratio is relative to has another seed, and so other arrivals."""

    @property
    def of_agreement(self) -> bool:
        """Whether it says why a claim agrees, not why it differs."""
        return self.expects == "fails"


@dataclass(frozen=True)
class Row:
    """A published figure or table."""

    paper: str
    name: str
    title: str
    setup: str
    scenario: Path | None
    """The scenario file that gives it; None where a program does, or nothing."""
    program: Path | None
    only: tuple[str, ...]
    seeds: int
    picture: str
    """What only a person can read off a picture; empty for nothing."""
    figures: tuple[str, ...]
    """Names of the report's figures that mirror the published one."""
    claims: tuple[Claim, ...]
    because: tuple[Because, ...]
    paper_setups: Mapping[str, str] = field(default_factory=dict[str, str])
    """By name of the claim: `paper_size.setups`. Empty where the quick set-up is the published one.
    """

    @property
    def id(self) -> str:
        """As the command line names it: "xmp/tab1"."""
        return f"{self.paper}/{self.name}"

    def claim(self, name: str) -> Claim | None:
        """The claim of this name."""
        return next((claim for claim in self.claims if claim.name == name), None)


@dataclass(frozen=True)
class Paper:
    """A published paper: a folder with `expected.toml`."""

    name: str
    folder: Path
    title: str
    rows: tuple[Row, ...]


@dataclass
class _Names:
    """Gives each claim of a row a name of its own."""

    taken: dict[str, int] = field(default_factory=dict)

    def of(self, entry: Mapping[str, Any], otherwise: str) -> str:
        given = entry.get("name")
        if given is not None:
            if given in self.taken:
                raise InputError(f'two claims of the row have the name "{given}"')
            self.taken[str(given)] = 1
            return str(given)
        count = self.taken.get(otherwise, 0) + 1
        self.taken[otherwise] = count
        return otherwise if count == 1 else f"{otherwise} {count}"


def find_papers(folder: Path) -> list[Path]:
    """The folders of papers in `folder`, or `folder` itself where it is one, in order of names."""
    if (folder / FILE).is_file():
        return [folder]
    return sorted(path.parent for path in folder.glob(f"*/{FILE}"))


def read_paper(folder: Path, axes_of: Callable[[Path], Axes]) -> Paper:
    """Read the rows of a paper; `axes_of` gives the axes and names of a scenario file.

    Raises `InputError` with the file, the row and the entry that has a mistake.
    """
    content = read_rows(folder)
    about = content.pop(_ABOUT, {})
    path = folder / FILE
    title = about.get("title", folder.name.upper())
    rows: list[Row] = []
    for name, row in content.items():
        try:
            rows.append(_row(folder, name, row, axes_of))
        except InputError as error:
            raise InputError(f"{path}: [{name}]: {error}") from error
    return Paper(folder.name, folder, str(title), tuple(rows))


def _row(folder: Path, name: str, row: Mapping[str, Any], axes_of: Callable[[Path], Axes]) -> Row:
    _known(row, _ROW_KEYS)
    has_scenario = "program" not in row and (
        "scenario" in row or any(row.get(kind) for kind in ("number", "order", "shape"))
    )
    scenario = folder / scenario_of(name, row) if has_scenario else None
    if scenario is not None and not scenario.is_file():
        raise InputError(f"there is no scenario file {scenario.name}")
    axes = {} if scenario is None else axes_of(scenario)
    names = _Names()
    claims: list[Claim] = []
    for kind, parse in (("number", _number), ("order", _order), ("shape", _shape)):
        for place, entry in enumerate(row.get(kind, []), start=1):
            if kind == "number" and "simulate" not in entry.get("backends", ["simulate"]):
                continue
            try:
                if "program" in row:
                    claims.append(_of_program(entry, names))
                else:
                    claims.append(parse(entry, axes, names))
            except InputError as error:
                raise InputError(f"entry {place} of {kind}: {error}") from error
    because: list[Because] = []
    for place, entry in enumerate(row.get("because", []), start=1):
        try:
            because += _because(entry, name, row, claims, axes)
        except InputError as error:
            raise InputError(f"entry {place} of because: {error}") from error
    return Row(
        paper=folder.name,
        name=name,
        title=str(row.get("title", name)),
        setup=" ".join(str(row.get("setup", "")).split()),
        scenario=scenario,
        program=folder / str(row["program"]) if "program" in row else None,
        only=_texts(row, "only"),
        seeds=_seeds(row) or SEEDS,
        picture=str(row.get("picture", "")),
        figures=_texts(row, "figures"),
        claims=tuple(claims),
        because=tuple(because),
    )


def _number(entry: Mapping[str, Any], axes: Axes, names: _Names) -> Number:
    expected = parse_number(entry, axes)
    name = names.of(entry, expected.measured.quantity)
    return Number(name, str(entry.get("says", "")), expected, _kind(entry, Kind.NUMBER))


def _of_program(entry: Mapping[str, Any], names: _Names) -> Number:
    """Published numbers that a program prints: its axes are those of the values."""
    axes = {
        axis: _names_at(entry.get("values"), depth)
        for depth, axis in enumerate(entry.get("axes", ()))
    }
    return _number({"quantity": "utilisation", **entry}, axes, names)


def _names_at(tree: Any, depth: int) -> list[str]:
    if not isinstance(tree, dict):
        return []
    if depth == 0:
        return list(tree)
    return [name for below in tree.values() for name in _names_at(below, depth - 1)]


def _order(entry: Mapping[str, Any], axes: Axes, names: _Names) -> Order:
    _known(entry, MEASURE_KEYS | _CLAIM_KEYS | {"axis", "ascending"})
    measured = parse_published(entry, axes)
    axis = str(entry.get("axis", "scheme"))
    check_axis(axis, axes)
    levels = tuple(
        tuple(level) if isinstance(level, list) else (str(level),)
        for level in entry.get("ascending", [])
    )
    if len(levels) < 2:
        raise InputError("ascending needs at least two levels, each a name or a list of names")
    for level in levels:
        for name in level:
            check_name(axis, name, axes)
    at = _at(entry, axes)
    if len(at) != 1:
        raise InputError("an order is about one name on each other axis, or their mean")
    name = names.of(entry, measured.quantity)
    kind = _kind(entry, Kind.SENTENCE)
    return Order(name, _says(entry), measured, axis, levels, at[0], kind)


def _shape(entry: Mapping[str, Any], axes: Axes, names: _Names) -> Shape:
    _known(entry, MEASURE_KEYS | _CLAIM_KEYS | {"above", "below", "trend", "along"})
    measured = parse_published(entry, axes)
    above, below = _bound(entry, "above"), _bound(entry, "below")
    if above is None and below is None:
        raise InputError("a shape needs above, below or both")
    if above is not None and below is not None and above >= below:
        raise InputError(f"above must be less than below, not {above:g} and {below:g}")
    trend = str(entry.get("trend", ""))
    along: tuple[str, ...] = ()
    if trend:
        check_axis(trend, axes)
        along = _texts({"along": axes[trend], **entry}, "along")
        for name in along:
            check_name(trend, name, axes)
        if len(along) < 3:
            raise InputError("a trend needs at least three names along its axis")
    return Shape(
        names.of(entry, measured.quantity),
        _says(entry),
        measured,
        above,
        below,
        _at(entry, axes),
        trend,
        along,
        _kind(entry, Kind.SENTENCE),
    )


def _because(
    entry: Mapping[str, Any],
    name: str,
    row: Mapping[str, Any],
    claims: Sequence[Claim],
    axes: Axes,
) -> list[Because]:
    """An explanation of each of the claims that it names."""
    _known(entry, _BECAUSE_KEYS)
    if "program" in row:
        raise InputError("a program has no settings that could be changed")
    names = sorted(claim.name for claim in claims)
    numbers = [claim.name for claim in claims if isinstance(claim, Number)]
    claim = entry.get("claim", names[0] if len(names) == 1 else "")
    about = _texts(entry, "claim") if isinstance(claim, list) else (str(claim),)
    if not about:
        raise InputError("claim lists none")
    for claim in about:
        if claim not in names:
            raise InputError(f"claim must be one of {', '.join(names)}, not {claim!r}")
    expects = entry.get("expects", "towards")
    if expects not in EXPECTS:
        raise InputError(f"expects must be one of {', '.join(EXPECTS)}, not {expects!r}")
    if not entry.get("reason"):
        raise InputError("reason is missing")
    changes = any(key in entry for key in ("set", "scenario", "size"))
    proof = _flag(entry, "proof")
    if changes == proof:
        raise InputError("give what is changed: set, scenario or size; or proof = true")
    _at(entry, axes)  # whose names must be there
    for claim in about:
        if expects == "scatters" and claim not in numbers:
            raise InputError(f"only a number scatters, and {claim!r} is none")
    return [
        Because(
            claim=claim,
            reason=" ".join(str(entry["reason"]).split()),
            sets=_texts(entry, "set"),
            only=_texts(entry, "only") or _texts(row, "only"),
            scenario=str(entry.get("scenario", scenario_of(name, row))),
            size=entry.get("size"),
            at=entry.get("at", {}),
            expects=str(expects),
            seeds=_seeds(entry),
            proof=proof,
            other_seed=_flag(entry, "other_seed"),
        )
        for claim in about
    ]


def _kind(entry: Mapping[str, Any], otherwise: Kind) -> Kind:
    value = entry.get("kind", otherwise)
    if value not in list(Kind):
        raise InputError(f"kind must be one of {', '.join(Kind)}, not {value!r}")
    return Kind(value)


def _flag(entry: Mapping[str, Any], key: str) -> bool:
    value = entry.get(key, False)
    if not isinstance(value, bool):
        raise InputError(f"{key} must be true or false, not {value!r}")
    return value


def _at(entry: Mapping[str, Any], axes: Axes) -> tuple[Mapping[str, str], ...]:
    """All combinations of the names in `at`, where each axis has one name or a list."""
    found: list[dict[str, str]] = [{}]
    at = entry.get("at", {})
    if not isinstance(at, dict):
        raise InputError("at must be a table of axes and names")
    for axis, value in at.items():
        several: Sequence[str] = value if isinstance(value, list) else [value]
        for name in several:
            check_name(axis, name, axes)
        found = [{**each, axis: name} for each in found for name in several]
    return tuple(found)


def _bound(entry: Mapping[str, Any], key: str) -> float | None:
    value = entry.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise InputError(f"{key} must be a number, not {value!r}")
    return float(value)


def _seeds(entry: Mapping[str, Any]) -> int | None:
    value = entry.get("seeds")
    if value is not None and (type(value) is not int or value < 1):
        raise InputError(f"seeds must be a whole number of at least 1, not {value!r}")
    return value


def _says(entry: Mapping[str, Any]) -> str:
    if not entry.get("says"):
        raise InputError("says is missing: what was published, in words")
    return " ".join(str(entry["says"]).split())


def _texts(entry: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = entry.get(key, [])
    if not isinstance(value, list):
        raise InputError(f"{key} must be a list")
    return tuple(map(str, value))


def _known(entry: Mapping[str, Any], keys: set[str]) -> None:
    unknown = sorted(set(entry) - keys)
    if unknown:
        raise InputError(f'unknown key "{unknown[0]}"; known are {", ".join(sorted(keys))}')
