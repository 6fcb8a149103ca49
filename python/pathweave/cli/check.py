"""`pathweave check`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from pathweave.cli.copies import say_copies
from pathweave.cli.exits import FAILED, WRONG_INPUT
from pathweave.cli.options import Json, Name, Only, Out, Scenario, Seeds, Sets, Size, Sweeps  # noqa: TC001
from pathweave.cli.warned import print_warnings, warnings_of
from pathweave.results import layout

if TYPE_CHECKING:
    from pathweave.running.session import Session


def check(
    scenario: Scenario,
    name: Name = None,
    size: Size = None,
    seeds: Seeds = None,
    sets: Sets = None,
    sweeps: Sweeps = None,
    only: Only = None,
    out: Out = layout.DEFAULT_ROOT,
    strict: Annotated[
        bool, typer.Option("--strict", help="Leave with exit code 1 if there are warnings.")
    ] = False,
    json: Json = False,
) -> None:
    """Read a scenario with all its variants, and print what `run` would do.

    Nothing is run or written. Warnings name settings that are likely to decide the results without
    being meant to, and `run` prints them, too. The exit code is 2 when the scenario has a mistake,
    and with --strict 1 when there are warnings.

    Example: pathweave check papers/xmp/tab1.toml --size paper
    """
    from pathweave.cli.console import print_json
    from pathweave.cli.source import open_scenario
    from pathweave.errors import InputError
    from pathweave.running.session import Request, check_baseline

    request = Request(
        path=scenario,
        size=size,
        seeds=seeds,
        sets=tuple(sets or ()),
        sweeps=tuple(sweeps or ()),
        only=tuple(only or ()),
        root=out,
    )
    try:
        session = open_scenario(request, name)
        check_baseline(session, None)
    except InputError as error:
        if not json:
            raise
        said = {"scenario": str(scenario), "valid": False, "error": str(error)}
        print_json({**said, "mistakes": list(getattr(error, "mistakes", ()))})
        raise typer.Exit(WRONG_INPUT) from None
    found = _about(session)
    if json:
        print_json(found)
    else:
        _print(found)
        say_copies(session)
        print_warnings(found["warnings"], variants=len(found["variants"]))
    if strict and found["warnings"]:
        raise typer.Exit(FAILED)


def _about(session: Session) -> dict[str, Any]:
    plan = session.plan
    scenario = plan.scenario
    return {
        "scenario": str(session.request.path),
        "valid": True,
        "name": scenario.name,
        "title": scenario.title,
        "size": scenario.size,
        "axes": {axis: list(names) for axis, names in scenario.axes.items()},
        "sweeps": [dict(sweep) for sweep in scenario.sweeps],
        "variants": [
            {"label": variant.label, "axes": dict(variant.axes)} for variant in scenario.variants
        ],
        "seeds": list(scenario.seeds),
        "runs": len(plan.tasks),
        "present": len(plan.present),
        "folder": str(plan.folder),
        "warnings": warnings_of(scenario, scenario.variants),
    }


def _print(found: dict[str, Any]) -> None:
    from rich.table import Table
    from rich.text import Text

    from pathweave.cli.console import output

    several = len(found["variants"]) > 1
    rows = {"size": found["size"]}
    keys = {sweep["axis"]: sweep["keys"] for sweep in found["sweeps"]}
    for axis, names in found["axes"].items():
        rows[axis] = ", ".join(names)
        if axis in keys and keys[axis] != [axis]:
            rows[axis] += f" ({' with '.join(keys[axis])})"
    rows |= {"variants": f"{len(found['variants']):,}"} if several else {}
    rows["seeds"] = _ranges(found["seeds"])
    there = f"{found['present']:,} of them are there already"
    rows["runs"] = f"{found['runs']:,}" + (f"; {there}" if found["present"] else "")
    rows["results"] = found["folder"]
    console = output()
    title = found["title"] or found["name"]
    console.print(Text(f"{found['scenario']} is valid: {title}"), soft_wrap=True)
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, style="dim")
    table.add_column(overflow="fold")
    for name, value in rows.items():
        table.add_row(Text(name), Text(value))
    console.print(table)


def _ranges(seeds: list[int]) -> str:
    """Seeds as people write them: "1 to 5, 9"."""
    parts: list[list[int]] = []
    for seed in seeds:
        if parts and seed == parts[-1][-1] + 1:
            parts[-1].append(seed)
        else:
            parts.append([seed])
    return ", ".join(
        f"{part[0]} to {part[-1]}" if len(part) > 2 else ", ".join(map(str, part)) for part in parts
    )
