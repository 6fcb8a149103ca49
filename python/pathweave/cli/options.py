"""Arguments and options that several verbs have in common."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pathweave.cli import completion

ScenarioFile = Annotated[
    Path,
    typer.Argument(help="Scenario file.", metavar="SCENARIO", autocompletion=completion.scenarios),
]
Scenario = Annotated[
    Path,
    typer.Argument(
        help="Scenario file, or - for standard input.",
        metavar="SCENARIO",
        autocompletion=completion.scenarios,
    ),
]
Name = Annotated[
    str | None,
    typer.Option(
        help="What a scenario from standard input is called; stdin if not given.", metavar="NAME"
    ),
]
Size = Annotated[
    str | None,
    typer.Option(
        help="A size that the file defines, such as quick or paper.",
        metavar="NAME",
        autocompletion=completion.sizes,
    ),
]
Seeds = Annotated[
    int | None, typer.Option(help="Number of seeds.", metavar="N", min=1, max=100_000)
]
Sets = Annotated[
    list[str] | None,
    typer.Option("--set", help="Override a value of the file.", metavar="KEY=VALUE"),
]
Sweeps = Annotated[
    list[str] | None,
    typer.Option(
        "--sweep",
        help="Sweep a key: fabric.queue.mark.k=10,20,40, traffic.web.load=0.1..0.9:0.1 or"
        " fabric.queue.mark.k=10..160:x2.",
        metavar="KEY=VALUES",
    ),
]
Only = Annotated[
    list[str] | None,
    typer.Option(
        help="Only the variants with this name.",
        metavar="AXIS=NAME",
        autocompletion=completion.only,
    ),
]
Out = Annotated[Path, typer.Option(help="Folder for results.", metavar="DIR")]
Jobs = Annotated[
    int | None,
    typer.Option(help="Runs at a time; all cores if not given.", metavar="N", min=1),
]
Threads = Annotated[
    int | None,
    typer.Option(
        help="Threads for each run, as far as they make it faster. If not given, a run has one with"
        " --jobs, and runs share all cores without.",
        metavar="N",
        min=1,
        max=255,
    ),
]
Shard = Annotated[
    str | None,
    typer.Option(
        help="Only this share of the runs: 1/4 is the first of four. auto takes it from the task"
        " of a Slurm array or a parallel job of GitLab.",
        metavar="I/N",
    ),
]
Dask = Annotated[
    str | None,
    typer.Option(
        help="Run on the workers of a Dask cluster: local starts one here, of --jobs processes;"
        " else the address of a scheduler (tcp://node1:8786) or its scheduler file.",
        metavar="WHERE",
    ),
]
Divided = Annotated[
    str | None, typer.Option("--shard", "--dask", hidden=True, metavar="I/N or WHERE")
]
"""Ways to divide runs among machines, where a verb has a reason to refuse them."""
Elsewhere = Annotated[str | None, typer.Option("--dask", hidden=True, metavar="WHERE")]
"""The same where shares are possible."""
Baseline = Annotated[
    str | None,
    typer.Option(
        help="The variant that the others are compared with; the first if not given.",
        metavar="NAME",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="As JSON.")]
