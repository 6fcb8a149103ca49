"""JSON files: sorted keys, no NaN, and on disk either whole or not at all."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from pathweave.errors import InputError
from pathweave.reading import read_json_value
from pathweave.results.wholefile import create_whole, write_whole

if TYPE_CHECKING:
    from pathlib import Path


def write_json(path: Path, value: Any) -> None:
    """Write `value` so that a reader sees the old file or the new one, never a part of it."""
    write_whole(path, json_text(value).encode())


def create_json(path: Path, value: Any) -> bool:
    """Write `value` as `write_json` does, unless there is such a file; whether there was none."""
    return create_whole(path, json_text(value).encode())


def json_text(value: Any) -> str:
    """What stands in the file of a value."""
    text = json.dumps(finite(value), sort_keys=True, indent=1, ensure_ascii=False, allow_nan=False)
    return f"{text}\n"


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object; raises `InputError` when the file is not one."""
    value = read_json_value(path)
    if not isinstance(value, dict):
        raise InputError(f"{path} does not hold a JSON object")
    return value


def finite(value: Any) -> Any:
    """NaN and infinities have no JSON: they become null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(item) for item in value]
    return value
