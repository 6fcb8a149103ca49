"""`pathweave export`."""

from __future__ import annotations

import enum
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from pathweave.errors import InputError
from pathweave.results import layout
from pathweave.shown import visible

if TYPE_CHECKING:
    from pathweave.results.export import Export


class Format(enum.StrEnum):
    """What a table can be written as."""

    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"


def export(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(help="Folders with results; results if not given.", metavar="[DIR]..."),
    ] = None,
    format: Annotated[  # noqa: A002 - the option's name
        Format | None,
        typer.Option(help="csv, json or parquet; what FILE ends with, or csv.", metavar="FORMAT"),
    ] = None,
    table: Annotated[
        str, typer.Option(help="Which table, or runs: one row per run.", metavar="TABLE")
    ] = "flows",
    quantity: Annotated[
        str | None,
        typer.Option(
            help="The value of a quantity in each run in place of a table, such as"
            ' "p99 slowdown of web under 100 KB".',
            metavar="QUANTITY",
        ),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(help="Only rows with this value in this column.", metavar="KEY=VALUE"),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="The file; standard output if not given.", metavar="FILE"),
    ] = None,
) -> None:
    """Write one table of all runs below the folders as CSV, JSON or Parquet.

    The first columns say what a run is of: scenario, settings, backend, variant, a column for each
    axis, seed. Runs that are damaged are named on standard error, and the others are written.

    Example: pathweave export results/tab1 --where scheme=XMP-4 --out flows.parquet
    """
    from pathweave.cli.console import messages, say
    from pathweave.results.collection import Results
    from pathweave.results.export import choose
    from pathweave.results.read import search

    if out is not None and out.is_dir():
        raise InputError(f"{out} is a folder; name a file")
    how = _format(format, out)
    found = search(folders or [layout.DEFAULT_ROOT])
    console = messages()
    for unusable in found.unusable:
        say(console, f"left out: {unusable.reason}")
    results = Results(found.scenarios)
    for run in results.stored:
        if run.invalid is not None:
            say(console, f"left out: {run.folder} is invalid: {run.invalid}")
    _write(choose(results, table, where or [], quantity), how, out)


class _Visible:
    """A terminal that is only written what may be shown."""

    def __init__(self, terminal: TextIO) -> None:
        self._terminal = terminal

    def write(self, text: str) -> int:
        """Write the text with escapes for what would act on the terminal."""
        return self._terminal.write(visible(text))


def _format(asked: Format | None, out: Path | None) -> Format:
    """The format that was asked for, or the one that the file's name ends with."""
    if asked is not None:
        how = asked
    elif out is None:
        how = Format.CSV
    else:
        ending = out.suffix.lower().removeprefix(".")
        if ending not in list(Format):
            raise InputError(f"{out} does not end with .csv, .json or .parquet; add --format")
        how = Format(ending)
    if how is Format.PARQUET and out is None:
        raise InputError("Parquet is not for a terminal or a pipe; name a file with --out")
    return how


def _write(export: Export, how: Format, out: Path | None) -> None:
    from pathweave.results.export import write, write_parquet
    from pathweave.results.wholefile import whole_file
    from pathweave.running.interrupt import Interrupt

    if out is None:
        write(export, how.value, _Visible(sys.stdout) if sys.stdout.isatty() else sys.stdout)
        return
    with Interrupt() as interrupt, whole_file(out, follow=True) as draft:

        def check() -> None:
            if interrupt.raised:
                raise KeyboardInterrupt

        if how is Format.PARQUET:
            write_parquet(export, draft)
        else:
            with draft.open("w", encoding="utf-8", newline="") as file:
                write(export, how.value, file, check)
        check()
