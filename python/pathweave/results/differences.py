"""What differs between settings, key by key."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ABSENT = "–"
"""Stands for a value that one of the settings does not have."""
_LONGEST = 200
"""Characters of a value that are shown; recorded flows stand in settings with all their lines."""


def differences(settings: Sequence[Mapping[str, Any]]) -> list[tuple[str, list[str]]]:
    """The keys whose values are not the same everywhere, and the values in the order given.

    A key is called by the end of its path that tells it from the other keys: "bottleneck_rate"
    for `fabric.bottleneck_rate`.
    """
    flat = [flatten(each) for each in settings]
    paths = list(dict.fromkeys(path for each in flat for path in each))
    found = [
        (path, values)
        for path in paths
        if len(set(values := [each.get(path, ABSENT) for each in flat])) > 1
    ]
    names = _short([path for path, _ in found])
    return [
        (name, [_in_brief(value) for value in values])
        for name, (_, values) in zip(names, found, strict=True)
    ]


def _in_brief(value: str) -> str:
    """The value, or its length and hash where it is too long to be read."""
    if len(value) <= _LONGEST:
        return value
    digest = hashlib.sha256(value.encode()).hexdigest()[:8]
    return f"{len(value):,} characters (SHA-256 {digest}...)"


def sentences(found: Sequence[tuple[str, Sequence[str]]], most: int = 12) -> list[str]:
    """A line, "bottleneck_rate: 1 Gbps / 100 Mbps", for each of at most `most` differences."""
    lines = [f"{name}: {' / '.join(values)}" for name, values in found[:most]]
    if len(found) > most:
        lines.append(f"and {len(found) - most} more")
    return lines


def flatten(value: Mapping[str, Any]) -> dict[str, str]:
    """Texts of all values by their paths; elements of lists go by their names, if they have any."""
    flat: dict[str, str] = {}
    _flatten(value, "", flat)
    return flat


def _flatten(value: Any, path: str, flat: dict[str, str]) -> None:
    if isinstance(value, dict) and value:
        for key, item in value.items():
            _flatten(item, f"{path}.{key}" if path else str(key), flat)
    elif isinstance(value, list) and value and all(_name(item) for item in value):
        for item in value:
            for key, part in item.items():
                if key != "name":
                    _flatten(part, f"{path}.{_name(item)}.{key}", flat)
    else:
        flat[path] = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _name(item: Any) -> str:
    name = item.get("name") if isinstance(item, dict) else None
    return name if isinstance(name, str) else ""


def _short(paths: Sequence[str]) -> list[str]:
    """The shortest ends of the paths that are all different."""
    steps = [path.split(".") for path in paths]
    length = [1] * len(paths)
    while True:
        names = [".".join(each[-n:]) for each, n in zip(steps, length, strict=True)]
        often = Counter(names)
        longer = [
            n + 1 if often[name] > 1 and n < len(each) else n
            for name, each, n in zip(names, steps, length, strict=True)
        ]
        if longer == length:
            return names
        length = longer
