"""`pathweave list`, `pathweave explain` and `pathweave schema`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, cast

import typer

from pathweave.cli import completion
from pathweave.cli.options import Json  # noqa: TC001
from pathweave.errors import InputError
from pathweave.topics import Kind

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from pathweave._core import ControllerInfo, Entry


def list_(
    kind: Annotated[
        str,
        typer.Argument(
            # A choice would have all names on a line, which is too short for them.
            help=f"What to list: {', '.join(Kind)}.",
            metavar="KIND",
            autocompletion=completion.listed,
        ),
    ],
    json: Json = False,
) -> None:
    """List what a scenario can name, or the quantities that results have.

    Example: pathweave list controllers
    """
    from pathweave.cli.console import output, print_json
    from pathweave.core import core

    if kind not in list(Kind):
        raise InputError(f'nothing is listed as "{kind}"; there are {", ".join(Kind)}')
    console = output()
    if kind == Kind.CONTROLLERS:
        entries = core().controllers()
        if not json:
            _controllers(console, entries)
            return
    else:
        entries = _quantities() if kind == Kind.QUANTITIES else getattr(core(), kind)()
        if not json:
            table = _table("name", "what it is")
            for entry in entries:
                table.add_row(entry["name"], entry["help"])
            console.print(table)
            return
    print_json(entries)


def explain(
    name: Annotated[
        str,
        typer.Argument(
            help=(
                "A controller, routing, fabric, pattern, operation, distribution, preset, "
                'quantity or key of a scenario, such as "xmp" or "mark.k"; or a controller in a '
                'file, such as "mine.py:MyController".'
            ),
            metavar="NAME",
            autocompletion=completion.topics,
        ),
    ],
    json: Json = False,
) -> None:
    """Explain what a name in a scenario or in results stands for.

    Of a controller: formulas, parameters, source, rulings and deviations. Of a key of a scenario:
    type, range, default and the places where it may stand.

    Example: pathweave explain xmp
    """
    from rich.text import Text

    from pathweave.cli.console import output, print_json
    from pathweave.topics import explain as find

    found = find(name).topics
    if json:
        print_json([{"kind": topic.kind, **topic.about} for topic in found])
        return
    console = output()
    for topic in found:
        if topic.kind == "controller":
            _controllers(console, [cast("ControllerInfo", topic.about)])
        else:
            console.print(Text.assemble((topic.name, "bold"), f"  {topic.kind}"))
        console.print(topic.explanation, markup=False, highlight=False)


def schema() -> None:
    """Print the JSON Schema of scenario files, for editors.

    Example: pathweave schema > scenario.schema.json
    """
    from pathweave.core import core

    sys.stdout.write(core().schema().rstrip("\n") + "\n")


def _quantities() -> list[Entry]:
    from pathweave.results.quantities import QUANTITIES

    return [{"name": name, "help": quantity.title} for name, quantity in QUANTITIES.items()]


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
