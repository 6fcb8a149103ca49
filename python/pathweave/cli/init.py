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
        str | None,
        typer.Option(help='Rate of the hosts\' links, such as "10 Gbps".', metavar="RATE"),
    ] = None,
    uplink_rate: Annotated[
        str | None,
        typer.Option(
            help="Rate of a leaf-spine's uplinks; that of the hosts if not given.", metavar="RATE"
        ),
    ] = None,
    hosts: Annotated[
        int | None, typer.Option(help="Hosts of the fabric.", metavar="N", min=2, max=65536)
    ] = None,
    leaves: Annotated[
        int | None,
        typer.Option(help="Leaves of a leaf-spine; 4 if not given.", metavar="N", min=1, max=4096),
    ] = None,
    spines: Annotated[
        int | None,
        typer.Option(help="Spines of a leaf-spine; 4 if not given.", metavar="N", min=1, max=4096),
    ] = None,
    down: Annotated[
        str | None,
        typer.Option(
            help="A link that has failed and that routing knows of, such as leaf0-spine0.",
            metavar="LINK",
        ),
    ] = None,
    controllers: Annotated[
        str | None,
        typer.Option(
            help="Controllers to compare, such as dctcp,lia,xmp; spray stands for the first one"
            " with its packets spread over all paths.",
            metavar="NAME,...",
        ),
    ] = None,
    pattern: Annotated[
        str | None,
        typer.Option(
            help="permutation, random, incast, poisson or many-to-one.",
            metavar="NAME",
            autocompletion=completion.first_patterns,
        ),
    ] = None,
    workload: Annotated[
        str | None,
        typer.Option(
            help="Sizes of flows that arrive at random: web-search, data-mining, hadoop or"
            " cache-follower. Implies --pattern poisson.",
            metavar="NAME",
        ),
    ] = None,
    load: Annotated[
        float | None,
        typer.Option(
            help="Their load, as a share of what the hosts' links (or the bottleneck) carry; 0.5 if"
            " not given. Implies --pattern poisson.",
            metavar="SHARE",
        ),
    ] = None,
    title: Annotated[
        str | None, typer.Option(help="Title of the scenario.", metavar="TEXT")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
) -> None:
    """Create a commented starter scenario.

    K, queue limits, timeouts, packets, sizes of flows and the length of a run follow from the rate
    and the RTT. Next to multipath schemes stands a single path with as many initial packets.

    Prompts for fabric, rate, controllers and pattern on a terminal; otherwise uses defaults.

    Example: pathweave init first.toml --fabric leaf-spine --controllers dctcp,xmp

    A larger one: pathweave init web.toml --fabric leaf-spine --hosts 64 --leaves 8 --spines 4
    --rate "25 Gbps" --uplink-rate "100 Gbps" --workload web-search --load 0.6 --down leaf0-spine0
    --controllers dctcp,xmp,lia,amp,spray
    """
    from pathweave.cli.console import output
    from pathweave.cli.warned import print_warnings, warnings_of
    from pathweave.core import core
    from pathweave.errors import InputError, PathweaveError, ScenarioError
    from pathweave.starter import FABRICS, PATTERNS, Shape, scenario

    if file.exists() and not force:
        raise InputError(f"{file} is there already; --force replaces it")
    if workload is not None or load is not None:
        if pattern not in (None, "poisson"):
            raise InputError("--workload and --load are for --pattern poisson")
        pattern = "poisson"
    asked = {"fabric": fabric, "rate": rate, "controllers": controllers, "pattern": pattern}
    questions = {
        "fabric": f"Fabric ({', '.join(FABRICS)})",
        "rate": "Rate of the hosts' links",
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
        shape=Shape(values["rate"], uplink_rate, hosts, leaves, spines, down),
        workload=workload or "web-search",
        load=0.5 if load is None else load,
    )
    # A mistake in what was given is said now, not when the file is run.
    known = core()
    try:
        loaded = known.load_text(text, file.stem, str(file.parent), None, [], [], None)
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
    found = warnings_of(loaded, loaded.variants)
    print_warnings(found, variants=len(loaded.variants))


def _ask(question: str, default: str) -> str:
    return str(typer.prompt(question, default=default, err=True))
