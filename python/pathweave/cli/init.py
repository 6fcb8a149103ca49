"""`pathweave init`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from pathweave.cli import completion

_DEFAULTS = {
    "fabric": "fat-tree",
    "rate": "1 Gbps",
    "controllers": "dctcp,xmp",
    "pattern": "permutation",
}


def init(
    file: Annotated[Path, typer.Argument(help="The file to write.", metavar="[FILE]")] = Path(
        "scenario.toml"
    ),
    fabric: Annotated[
        str | None,
        typer.Option(
            help="dumbbell, star, parallel-paths, fat-tree or leaf-spine.",
            metavar="KIND",
            autocompletion=completion.first_fabrics,
        ),
    ] = None,
    rate: Annotated[
        str | None, typer.Option(help='Rate of its links, such as "10 Gbps".', metavar="RATE")
    ] = None,
    controllers: Annotated[
        str | None,
        typer.Option(help="Controllers to compare, such as dctcp,lia,xmp.", metavar="NAME,..."),
    ] = None,
    pattern: Annotated[
        str | None,
        typer.Option(
            help="permutation, random, incast, poisson or many-to-one.",
            metavar="NAME",
            autocompletion=completion.first_patterns,
        ),
    ] = None,
    title: Annotated[
        str | None, typer.Option(help="Title of the scenario.", metavar="TEXT")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
) -> None:
    """Write a scenario to begin with, with comments.

    On a terminal, asks for what the options leave open; elsewhere takes defaults.

    Example: pathweave init first.toml --fabric leaf-spine --controllers dctcp,xmp
    """
    from pathweave.cli.console import output
    from pathweave.core import core
    from pathweave.errors import InputError, PathweaveError, ScenarioError
    from pathweave.starter import FABRICS, PATTERNS, scenario

    if file.exists() and not force:
        raise InputError(f"{file} is there already; --force replaces it")
    asked = {"fabric": fabric, "rate": rate, "controllers": controllers, "pattern": pattern}
    questions = {
        "fabric": f"Fabric ({', '.join(FABRICS)})",
        "rate": "Rate of its links",
        "controllers": "Controllers to compare (`pathweave list controllers`)",
        "pattern": f"Traffic ({', '.join(PATTERNS)})",
    }
    ask = sys.stdin.isatty() and sys.stderr.isatty()
    values = {
        key: value or (_ask(questions[key], _DEFAULTS[key]) if ask else _DEFAULTS[key])
        for key, value in asked.items()
    }
    names = [name.strip() for name in values["controllers"].split(",") if name.strip()]
    text = scenario(
        values["fabric"],
        values["rate"],
        names,
        values["pattern"],
        title or f"{', '.join(names)} on a {values['fabric']}",
    )
    # A mistake in what was given is said now, not when the file is run.
    known = core()
    try:
        known.load_text(text, file.stem, str(file.parent), None, [], [], None)
    except known.ScenarioError as error:
        raise ScenarioError(str(error)) from None
    try:
        with file.open("w" if force else "x", encoding="utf-8") as opened:
            opened.write(text)
    except OSError as error:
        raise PathweaveError(f"cannot write {file}: {error.strerror or error}") from None
    output().print(
        f"{file} is written; go on with: pathweave run {file}", soft_wrap=True, markup=False
    )


def _ask(question: str, default: str) -> str:
    return str(typer.prompt(question, default=default, err=True))
