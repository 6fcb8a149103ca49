"""`pathweave list` and `pathweave schema`."""

from __future__ import annotations

import enum
import sys
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from pathweave._core import ControllerInfo


class Kind(enum.StrEnum):
    """What can be listed."""

    CONTROLLERS = "controllers"
    ROUTINGS = "routings"
    FABRICS = "fabrics"
    PATTERNS = "patterns"
    PRESETS = "presets"


def list_(
    kind: Annotated[Kind, typer.Argument(help="What to list.")],
    json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """List the controllers, routings, fabrics, traffic patterns or transport presets."""
    from pathweave.cli.console import output
    from pathweave.core import core

    console = output()
    if kind is Kind.CONTROLLERS:
        entries = core().controllers()
        if not json:
            _controllers(console, entries)
            return
    else:
        entries = getattr(core(), kind.value)()
        if not json:
            table = _table("name", "what it is")
            for entry in entries:
                table.add_row(entry["name"], entry["help"])
            console.print(table)
            return
    import json as json_module

    sys.stdout.write(json_module.dumps(entries, indent=1, ensure_ascii=False) + "\n")


def schema() -> None:
    """Print the JSON Schema of scenario files, for editors."""
    from pathweave.core import core

    sys.stdout.write(core().schema().rstrip("\n") + "\n")


def _table(*heads: str) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for place, head in enumerate(heads):
        table.add_column(head, no_wrap=place == 0, overflow="fold")
    return table


def _controllers(console: Console, entries: list[ControllerInfo]) -> None:
    from rich.padding import Padding
    from rich.text import Text

    for entry in entries:
        kind = "couples subflows" if entry["coupled"] else "each subflow by itself"
        console.print(Text.assemble((entry["name"], "bold"), f"  {entry['summary']}"))
        console.print(Padding(Text(f"{entry['source']}; {kind}", style="dim"), (0, 0, 0, 2)))
        if entry["parameters"]:
            table = _table("parameter", "default", "range", "what it is")
            for parameter in entry["parameters"]:
                table.add_row(*(parameter[key] for key in ("name", "default", "range", "help")))
            console.print(Padding(table, (0, 0, 0, 2)))
        else:
            console.print()
