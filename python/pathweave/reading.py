"""Files from elsewhere: regular files only, up to a size, with values of a depth that is limited.

A pipe may never end, a device has no size, and a text can be made so that reading it takes all
memory or more stack than there is. Whatever a user or somebody else names is opened here.
"""

from __future__ import annotations

import json
import math
import os
import stat
import tomllib
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from pathweave.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MEBIBYTE: Final = 1 << 20
TEXT_LIMIT: Final = 16 * MEBIBYTE
"""Bytes of a file that people write: `expected.toml`, `survey.toml`, a README."""
SCENARIO_LIMIT: Final = 64 * MEBIBYTE
"""Bytes of a scenario on standard input."""
CONTROLLER_LIMIT: Final = 256 * MEBIBYTE
"""Bytes of a file with controllers."""
JSON_LIMIT: Final = 256 * MEBIBYTE
"""Bytes of a file of results in JSON: a manifest has the flows of a recording in it."""
TABLE_LIMIT: Final = 16 * 1024 * MEBIBYTE
"""Bytes of a table or of captured packets."""
DEPTH: Final = 64
"""Lists and tables within each other, at most: what Pathweave writes has about ten."""
_WHOLE: Final = 2**64
"""Whole numbers are less than this, and at least minus it."""


@contextmanager
def opened(path: Path, limit: int) -> Iterator[BinaryIO]:
    """The regular file `path` for reading, if it has `limit` bytes at most.

    Raises `InputError` for anything else, and `OSError` where it is not there or not readable.
    """
    require_regular(path, limit)
    # Should it be a pipe by now, opening does not wait for somebody who writes.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        _check(path, os.fstat(descriptor), limit)
        yield file


def require_regular(path: Path, limit: int) -> None:
    """Raise `InputError` unless `path` is a regular file of `limit` bytes at most."""
    _check(path, path.stat(), limit)


def require_utf8(path: Path) -> None:
    """Raise `InputError` unless the name of `path` is UTF-8, which some libraries need."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        shown = os.fsencode(path).decode(errors="backslashreplace")
        raise InputError(f"{shown} is not UTF-8, which names of files must be: rename it") from None


def _check(path: Path, found: os.stat_result, limit: int) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise InputError(f"{path} is {_kind(found.st_mode)}, not a file")
    if found.st_size > limit:
        raise InputError(f"{path} is too large: it may have {_size(limit)} at most")


def _kind(mode: int) -> str:
    if stat.S_ISDIR(mode):
        return "a folder"
    if stat.S_ISFIFO(mode):
        return "a pipe"
    return "a socket" if stat.S_ISSOCK(mode) else "a device"


def _size(limit: int) -> str:
    mebibytes = limit // MEBIBYTE
    return f"{mebibytes} MiB" if mebibytes < 1024 else f"{mebibytes // 1024} GiB"


def read_bytes(path: Path, limit: int) -> bytes:
    """The content of a file. Raises what `opened` does."""
    with opened(path, limit) as file:
        content = file.read(limit + 1)
    if len(content) > limit:  # it has grown
        raise InputError(f"{path} is too large: it may have {_size(limit)} at most")
    return content


def read_text(path: Path, limit: int = TEXT_LIMIT) -> str:
    """The text in a file. Raises what `opened` does, and `InputError` where it is not UTF-8."""
    return _decoded(str(path), read_bytes(path, limit))


def read_stream(file: BinaryIO, name: str, limit: int = SCENARIO_LIMIT) -> str:
    """The text in a stream, such as standard input. Raises `InputError` for a long one."""
    content = file.read(limit + 1)
    if len(content) > limit:
        raise InputError(f"{name} is too large: it may have {_size(limit)} at most")
    return _decoded(name, content)


def _decoded(name: str, content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise InputError(f"{name} is not a text in UTF-8: {error}") from None


def read_json_value(path: Path, limit: int = JSON_LIMIT) -> Any:
    """The value in a JSON file. Raises what `opened` does, and `InputError` for other files."""
    text = read_text(path, limit)
    try:
        value = json.loads(text, parse_constant=_refuse)
    except RecursionError:
        raise _too_deep(path) from None
    except ValueError as error:
        raise InputError(f"{path} is not a JSON file: {error}") from error
    _check_values(path, value)
    return value


def read_toml(path: Path, limit: int = TEXT_LIMIT) -> dict[str, Any]:
    """The tables in a TOML file. Raises what `opened` does, and `InputError` for other files."""
    text = read_text(path, limit)
    try:
        value = tomllib.loads(text)
    except RecursionError:
        raise _too_deep(path) from None
    except ValueError as error:
        raise InputError(f"{path}: {error}") from error
    _check_values(path, value)
    return value


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a number of JSON")


def _too_deep(path: Path) -> InputError:
    return InputError(f"{path} is nested too deeply: {DEPTH} levels are allowed")


def _check_values(path: Path, value: Any) -> None:
    """Refuse too deep a nesting, numbers that no column has, and texts that are not UTF-8."""
    level: list[Any] = [value]
    for _ in range(DEPTH + 1):
        below: list[Any] = []
        for each in level:
            if isinstance(each, dict):
                for key, item in each.items():
                    _check_text(path, key)
                    below.append(item)
            elif isinstance(each, list):
                below += each
            elif isinstance(each, str):
                _check_text(path, each)
            elif isinstance(each, int):
                if not -_WHOLE <= each < _WHOLE:
                    raise InputError(f"{path} has a whole number of more than 64 bits")
            elif isinstance(each, float) and math.isinf(each):
                raise InputError(f"{path} has a number that is too large")
        if not below:
            return
        level = below
    raise _too_deep(path)


def _check_text(path: Path, text: str) -> None:
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise InputError(f"{path} has a text with half of a character") from None
