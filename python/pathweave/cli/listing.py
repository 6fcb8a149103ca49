"""`pathweave list`, `pathweave explain` and `pathweave schema`."""

from __future__ import annotations

import enum
import re
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from pathweave.cli.options import Json  # noqa: TC001

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
    json: Json = False,
) -> None:
    """List the controllers, routings, fabrics, traffic patterns or transport presets."""
    from pathweave.cli.console import output, print_json
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
    print_json(entries)


def explain(
    name: Annotated[str, typer.Argument(help='A controller, such as "xmp".')],
) -> None:
    """Explain a controller: formulas, parameters, source, rulings and deviations.

    Example: pathweave explain xmp
    """
    from difflib import get_close_matches

    from pathweave.cli.console import output
    from pathweave.core import core
    from pathweave.errors import InputError

    entries = {entry["name"]: entry for entry in core().controllers()}
    if name not in entries:
        near = get_close_matches(name, entries, n=1)
        meant = f'did you mean "{near[0]}"? ' if near else ""
        raise InputError(f'no controller is called "{name}"; {meant}there are {", ".join(entries)}')
    console = output()
    entry = entries[name]
    _controllers(console, [entry])
    console.print(_as_plain_text(entry["explanation"]), markup=False, highlight=False)


def _as_plain_text(documentation: str) -> str:
    """Write the source's documentation for a terminal: 78 columns, no links, no code marks."""
    from textwrap import fill

    lines: list[str] = []
    for line in documentation.strip().splitlines():
        begins = not line or line.startswith(("- ", "> "))
        if begins or not lines or not lines[-1] or lines[-1].startswith("> "):
            lines.append(line)
        else:
            lines[-1] += " " + line.strip()
    text: list[str] = []
    for line in lines:
        plain = re.sub(r"\[`([^`]*)`\](?:\([^)]*\))?", r"\1", line).replace("`", "")
        if plain.startswith("> "):
            text.append(fill(plain[2:], 78, initial_indent="    ", subsequent_indent="      "))
        else:
            text.append(fill(plain, 78, subsequent_indent="  " if plain.startswith("- ") else ""))
    return "\n".join(text)


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
        kind = "for several subflows" if entry["coupled"] else "each subflow by itself"
        console.print(Text.assemble((entry["name"], "bold"), f"  {entry['summary']}"))
        console.print(Padding(Text(f"{entry['source']}; {kind}", style="dim"), (0, 0, 0, 2)))
        if entry["parameters"]:
            table = _table("parameter", "default", "range", "what it is")
            for parameter in entry["parameters"]:
                table.add_row(*(parameter[key] for key in ("name", "default", "range", "help")))
            console.print(Padding(table, (0, 0, 0, 2)))
        else:
            console.print()
