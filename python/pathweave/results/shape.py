"""What the files of results must look like before anything is made of them.

They may come from anybody. A message names the file, the key and what was expected there; names
that become names of files cannot lead out of a folder.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from pathweave.errors import InputError
from pathweave.results import layout
from pathweave.results.units import seconds
from pathweave.shown import cut

if TYPE_CHECKING:
    from pathlib import Path

Check = Callable[[Any, str], None]
"""Raises `ShapeError` where a value is not as it must be; the text is its key."""

_LONGEST_NAME: Final = 200
"""Characters of what becomes a part of a file's name."""
_SHOWN: Final = 60


class ShapeError(ValueError):
    """A value is not as it must be; the message begins with its key."""


def _wrong(key: str, wanted: str, value: Any) -> ShapeError:
    kind = {dict: "a table", list: "a list", type(None): "null"}.get(type(value))
    return ShapeError(f"{key} must be {wanted}, not {kind or cut(repr(value), _SHOWN)}")


def _of(kind: type | tuple[type, ...], wanted: str) -> Check:
    def check(value: Any, key: str) -> None:
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise _wrong(key, wanted, value)

    return check


text = _of(str, "a text")
flag = _of(bool, "true or false")
number = _of((int, float), "a number")
_whole = _of(int, "a whole number")
_any_table = _of(dict, "a table")
_any_list = _of(list, "a list")


def anything(_value: Any, _key: str) -> None:
    """Whatever it is."""


def whole(value: Any, key: str) -> None:
    """A whole number that a column has room for."""
    _whole(value, key)
    if not 0 <= value < 2**63:
        raise _wrong(key, "a whole number from 0 on", value)


def counted(value: Any, key: str) -> None:
    """A number that is not negative."""
    number(value, key)
    if value < 0:
        raise _wrong(key, "a number from 0 on", value)


def file_name(value: Any, key: str) -> None:
    """What may be a part of a file's name."""
    text(value, key)
    if "/" in value or "\0" in value or value.startswith(".") or len(value) > _LONGEST_NAME:
        raise _wrong(key, "a part of a file's name", value)


def _matching(pattern: str, wanted: str) -> Check:
    def check(value: Any, key: str) -> None:
        text(value, key)
        if not re.fullmatch(pattern, value):
            raise _wrong(key, wanted, value)

    return check


identifier = _matching(r"[A-Za-z0-9_-]{1,128}", "a hash")
_table_name = _matching(r"[a-z][a-z0-9_]{0,63}", "the name of a table")


def _time(value: Any, key: str) -> None:
    text(value, key)
    try:
        seconds(value)
    except (ValueError, KeyError):
        raise _wrong(key, "a time with a unit", value) from None


def maybe(check: Check) -> Check:
    """That, or null."""

    def either(value: Any, key: str) -> None:
        if value is not None:
            check(value, key)

    return either


def list_of(check: Check, length: int | None = None) -> Check:
    """A list of that."""

    def each(value: Any, key: str) -> None:
        _any_list(value, key)
        if length is not None and len(value) != length:
            raise _wrong(key, f"a list of {length}", value)
        for place, item in enumerate(value):
            check(item, f"{key}[{place}]")

    return each


def table_of(check: Check, names: Check = text) -> Check:
    """A table with any keys whose values are that."""

    def each(value: Any, key: str) -> None:
        _any_table(value, key)
        for name, item in value.items():
            names(name, f"a key of {key}" if key else "a key")
            check(item, f"{key}.{name}" if key else name)

    return each


def table(required: Mapping[str, Check], optional: Mapping[str, Check] | None = None) -> Check:
    """A table with these keys, and with those if they are there. Others are not looked at."""

    def each(value: Any, key: str) -> None:
        _any_table(value, key)
        for name, check in required.items():
            if name not in value:
                raise ShapeError(f"{key}.{name} is missing" if key else f"{name} is missing")
            check(value[name], f"{key}.{name}" if key else name)
        for name, check in (optional or {}).items():
            if name in value:
                check(value[name], f"{key}.{name}" if key else name)

    return each


def _counters(value: Any, key: str) -> None:
    """Numbers by name; what is not a number where it is measured is null."""
    table_of(maybe(number))(value, key)
    needed = {"ended_s": counted, "packet_hops": counted}
    table({}, needed)(value, key)


_worths = maybe(table_of(maybe(number)))
_OPTIMUM = table(
    {
        "utility": text,
        "solvers": table_of(whole),
        "worst_residual": number,
        "tolerance": number,
    },
    {
        "notes": list_of(text),
        "limit": whole,
        "truncated": flag,
        "statuses": table_of(whole),
        "routing": table(
            {
                "flows": whole,
                "candidates": whole,
                "given": _worths,
                "rounded": _worths,
                "best": _worths,
                "relaxed": _worths,
            }
        ),
    },
)
_TESTBED = table(
    {
        "valid": flag,
        "reason": maybe(text),
        "stretch": number,
        "base_rtt_s": maybe(number),
        "kernel": text,
        "controllers": table_of(text),
        "lateness_s": table_of(maybe(number)),
    },
    {"gso": flag, "quic": list_of(text), "packets": whole},
)
_PHASES = table_of(list_of(_time, 2))
_REPORT = table({}, {"quantity": text})


def _report(value: Any, key: str) -> None:
    """What a scenario asks its report."""
    _REPORT(value, key)
    baseline = value.get("baseline", [])
    if not isinstance(baseline, str):
        list_of(text)(baseline, f"{key}.baseline")


_RESOLVED = table(
    {},
    {
        "title": text,
        "measure": table({}, {"phases": _PHASES, "from": _time}),
        "record": table({}, {"rates": _time, "map": _time}),
        "report": _report,
        "events": list_of(table({}, {"at": _time})),
        "traffic": list_of(table({"name": text})),
    },
)
_MANIFEST = table(
    {
        "backend": _matching("simulate|testbed|solve", '"simulate", "testbed" or "solve"'),
        "pathweave": text,
        "hash": identifier,
        "settings": identifier,
        "results_hash": identifier,
        "scenario": table({"name": file_name, "title": text, "size": text, "set": list_of(text)}),
        "variant": table(
            {"label": text, "slug": file_name, "axes": table_of(text), "hash": identifier}
        ),
        "seed": whole,
        "verdict": text,
        "counters": _counters,
        "notes": list_of(text),
        "tables": table_of(table({"rows": whole, "sha256": identifier}), _table_name),
        "captures": table_of(
            table({"flow": whole, "packets": whole, "sha256": identifier}), file_name
        ),
        "resolved": _RESOLVED,
    },
    {"results_version": text, "optimum": _OPTIMUM, "testbed": _TESTBED},
)
_MANIFEST_KEYS = frozenset(
    (
        *("format", "backend", "pathweave", "results_version", "hash", "settings", "results_hash"),
        *("scenario", "variant", "seed", "verdict", "counters", "notes", "tables", "captures"),
        *("resolved", "optimum", "testbed"),
    )
)
_TIMING = table(
    {},
    {
        "machine": text,
        "wall_s": counted,
        "cpu_s": counted,
        "peak_rss_mb": counted,
        "packet_hops_per_cpu_s": counted,
    },
)
_TIMING_KEYS = ("machine", "wall_s", "cpu_s", "peak_rss_mb", "packet_hops_per_cpu_s")


def _optimum_table(name: str, key: str) -> None:
    if name not in layout.OPTIMUM_TABLES:
        raise _wrong(key, f"one of {', '.join(layout.OPTIMUM_TABLES)}", name)


_STORED_OPTIMUM = table(
    {
        "results_hash": identifier,
        "tables": table_of(table({"rows": whole, "sha256": identifier}), _optimum_table),
    }
)
_SETTINGS = table(
    {
        "hash": identifier,
        "scenario_hash": identifier,
        "scenario": _any_table,
        "size": text,
        "set": list_of(text),
        "backend": list_of(text),
    },
    {"results_version": text, "pathweave": text},
)
_ABOUT = table(
    {"settings": _SETTINGS},
    {
        "name": text,
        "title": text,
        "size": text,
        "path": maybe(text),
        "command": maybe(text),
        "axes": _any_list,
        "groups": list_of(text),
        "asked": table_of(list_of(whole)),
        "report": _report,
        "phases": table_of(_PHASES),
        "expected": _any_list,
        "sweeps": _any_list,
    },
)


def _axes(value: Any, key: str) -> None:
    for place, pair in enumerate(value):
        list_of(anything, 2)(pair, f"{key}[{place}]")
        text(pair[0], f"{key}[{place}][0]")
        list_of(text)(pair[1], f"{key}[{place}][1]")


def check_manifest(path: Path, manifest: Any) -> None:
    """Raise `InputError` where the manifest in the file `path` is not as one is written."""
    _checked(path, _MANIFEST, manifest)
    if (manifest["backend"] == "testbed") != ("testbed" in manifest):
        raise InputError(f"{path}: testbed goes with the backend of that name, and only with it")


def unknown_keys(manifest: Mapping[str, Any]) -> list[str]:
    """Keys of a manifest that no version of this layout writes."""
    return sorted(set(manifest) - _MANIFEST_KEYS)


def check_timing(path: Path, timing: Any) -> None:
    """Raise `InputError` where `timing.json` is not as it is written."""
    _checked(path, _TIMING, timing)
    for key in timing:
        if key not in _TIMING_KEYS:
            raise InputError(f"{path}: unknown key {cut(repr(key), _SHOWN)}")


def check_optimum(path: Path, optimum: Any) -> None:
    """Raise `InputError` where `optimum.json` is not as it is written."""
    _checked(path, _OPTIMUM, optimum)
    _checked(path, _STORED_OPTIMUM, optimum)


def check_about(path: Path, about: Any) -> None:
    """Raise `InputError` where a `scenario.json` is not as it is written.

    What it says of published values and sweeps is for those who read them.
    """
    _checked(path, _ABOUT, about)
    _checked(path, lambda value, _key: _axes(value.get("axes", []), "axes"), about)


def _checked(path: Path, check: Check, value: Any) -> None:
    try:
        check(value, "")
    except ShapeError as error:
        raise InputError(f"{path}: {error}") from None
