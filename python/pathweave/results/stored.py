"""The tables of stored runs."""

from __future__ import annotations

import hashlib
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pathweave.errors import InputError
from pathweave.reading import TABLE_LIMIT, opened, require_regular, require_utf8

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import polars as pl


@contextmanager
def sound(path: Path) -> Iterator[None]:
    """Turn what Polars says of a damaged file into an `InputError` that names the file."""
    import polars as pl

    try:
        yield
    # A damaged file can make Polars panic, and a panic is no `Exception`.
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise InputError(f"{path} is damaged: {error}; `pathweave run` runs it again") from error


def scan_table(path: Path) -> pl.LazyFrame:
    """The table in the Parquet file `path`, not yet read."""
    import polars as pl

    require_regular(path, TABLE_LIMIT)
    require_utf8(path)
    # A name with a star or brackets is a name.
    return pl.scan_parquet(path, glob=False, hive_partitioning=False)


def read_table(path: Path, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """The table in the Parquet file `path`: these columns, or all.

    Raises `InputError` with the file when it is damaged.
    """
    frame = scan_table(path)
    with sound(path):
        return (frame if columns is None else frame.select(columns)).collect()


def digest(path: Path) -> str:
    """SHA-256 of a file's content, in hexadecimal."""
    with opened(path, TABLE_LIMIT) as file:
        found = hashlib.sha256()
        while part := file.read(1 << 20):
            found.update(part)
        return found.hexdigest()
