"""One table of many runs as CSV, JSON or Parquet, for other programs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Literal, Protocol

from pathweave.errors import InputError
from pathweave.results.axis_columns import axis_column
from pathweave.results.jsonfile import finite
from pathweave.results.write import ROW_GROUP, as_os_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    import polars as pl

    from pathweave.results.collection import Results

Format = Literal["csv", "json", "parquet"]

RUNS = "runs"
"""The table with one row per run, which is in no file of its own."""
_FIRST = ("scenario", "settings", "backend", "variant")
"""Columns that say what a run is of, before its axes and its seed."""
_MOST_NAMED = 20
"""Values that an error lists at most."""


@dataclass(frozen=True)
class Export:
    """The rows of one table, run by run."""

    table: str
    parts: tuple[pl.LazyFrame, ...]
    """All with the same columns of the same types, in this order: what the run is of (scenario,
    settings, backend, variant, the axes, seed), then the table's own."""

    def frames(self) -> Iterator[pl.DataFrame]:
        """The parts, each read when it is asked for."""
        for part in self.parts:
            yield part.collect()


def choose(
    results: Results, table: str, where: Sequence[str], quantity: str | None = None
) -> Export:
    """The rows of `table` that have the values of `where`, each "key=value".

    With `quantity`, such as "p99 slowdown of bg under 100 KB", its values have the place of a
    table: one row per run.

    Raises `InputError` with what there is for a table, a key or a value that is not there.
    """
    import polars as pl

    known = [*results.tables, RUNS]
    if quantity is not None:
        table, parts = quantity, [results.values(quantity).lazy()]
    elif table not in known:
        raise InputError(f'no run has a table "{table}"; {_instead(table, known)}')
    else:
        parts = [results.runs.lazy()] if table == RUNS else results.parts(table)
    schema = pl.concat([part.limit(0) for part in parts], how="diagonal_relaxed").collect_schema()
    of_run = _of_run(results, schema.names())
    order = [*of_run, *(name for name in schema.names() if name not in of_run)]
    aligned = [_aligned(part, schema, order) for part in parts]
    for text in where:
        key, given, value = text.partition("=")
        if not given:
            raise InputError(f'--where "{text}" is not KEY=VALUE; write scheme=XMP-4')
        if key not in schema:
            raise InputError(f'--where: "{table}" has no column "{key}"; {_instead(key, order)}')
        aligned = _chosen(aligned, key, value, schema[key], of_run=key in of_run)
    return Export(table, tuple(aligned))


class Stream(Protocol):
    """What texts are written to."""

    def write(self, text: str, /) -> object:
        """Write a text."""
        ...


def write(
    export: Export, how: Format, out: Stream, before_each: Callable[[], None] = lambda: None
) -> None:
    """Write to a text stream as CSV or JSON; `before_each` is called before each part is read."""
    first = True
    for frame in export.frames():
        before_each()
        if how == "csv":
            out.write(frame.write_csv(include_header=first))
            first = False
        else:
            for row in frame.iter_rows(named=True):
                out.write("[\n" if first else ",\n")
                out.write(json.dumps(finite(row), ensure_ascii=False, allow_nan=False))
                first = False
    if how == "json":
        out.write("[]\n" if first else "\n]\n")


def write_parquet(export: Export, path: Path) -> None:
    """Write to a Parquet file; equal rows give equal bytes. Raises `OSError` when it cannot."""
    import polars as pl

    try:
        pl.concat(export.parts).sink_parquet(
            path, compression="zstd", compression_level=3, row_group_size=ROW_GROUP
        )
    except (pl.exceptions.PolarsError, OSError) as error:
        raise as_os_error(error, path) from error


def _of_run(results: Results, names: Sequence[str]) -> list[str]:
    """Those of the columns that say what a run is of."""
    axes = dict.fromkeys(axis for scenario in results.scenarios for axis in scenario.axes)
    named = [axis_column(axis, names) for axis in axes]
    return [name for name in (*_FIRST, *named, "seed") if name in names]


def _aligned(part: pl.LazyFrame, schema: pl.Schema, order: Sequence[str]) -> pl.LazyFrame:
    """The part with all columns, nulls where it has none, in this order."""
    import polars as pl

    there = part.collect_schema()
    columns = [
        pl.col(name).cast(schema[name]) if name in there else pl.lit(None, schema[name]).alias(name)
        for name in order
    ]
    return part.select(columns)


def _chosen(
    parts: list[pl.LazyFrame], key: str, value: str, kind: pl.DataType, *, of_run: bool
) -> list[pl.LazyFrame]:
    """The parts with the rows that have this value alone; those of other runs are left out."""
    import polars as pl

    wanted = _typed(key, value, kind)
    if kind != pl.String and not of_run:
        return [part.filter(pl.col(key) == wanted) for part in parts]
    # Few values: what a run is of, names of traffic groups, links, phases.
    there = [part.select(pl.col(key).unique(maintain_order=True)).collect()[key] for part in parts]
    if not any(wanted in values.to_list() for values in there):
        known = [
            str(each)
            for each in dict.fromkeys(v for values in there for v in values)
            if each is not None
        ]
        raise InputError(f"--where: no row has {key}={value}; {_instead(value, known)}")
    return [
        part.filter(pl.col(key) == wanted)
        for part, values in zip(parts, there, strict=True)
        if wanted in values.to_list()
    ]


def _typed(key: str, value: str, kind: pl.DataType) -> str | float | bool:
    """The value as the column holds it."""
    import polars as pl

    if kind == pl.String:
        return value
    if kind == pl.Boolean:
        if value.lower() not in ("true", "false"):
            raise InputError(f'--where {key}={value}: "{key}" is true or false')
        return value.lower() == "true"
    try:
        return float(value)
    except ValueError:
        raise InputError(f'--where {key}={value}: "{key}" holds numbers') from None


def _instead(name: str, known: Sequence[str]) -> str:
    """What there is, and what may have been meant."""
    near = get_close_matches(name, known, n=3)
    if near:
        return "did you mean " + " or ".join(f'"{each}"' for each in near) + "?"
    shown = ", ".join(known[:_MOST_NAMED])
    more = f" and {len(known) - _MOST_NAMED} more" if len(known) > _MOST_NAMED else ""
    return f"there are {shown}{more}"
